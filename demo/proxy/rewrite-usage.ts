import { countTokens } from './count-tokens.ts';
import type { JsonObject, WireFormat } from './wire-format.ts';

/** A whole JSON reply with real counts in its usage. */
export function rewriteJsonUsage(format: WireFormat, text: string, inputTokens: number): string {
  // The reply is the model server's own.
  const reply = JSON.parse(text) as JsonObject;
  format.setUsage(reply, inputTokens, () => countTokens(format.outputOf(reply)));
  return JSON.stringify(reply);
}

/** A stream of server-sent events with real counts wherever an event has usage; every other event passes as it came. */
export async function* rewriteStreamUsage(
  format: WireFormat,
  chunks: AsyncIterable<Uint8Array>,
  inputTokens: number,
): AsyncGenerator<string> {
  let output = '';
  for await (const line of linesOf(chunks)) {
    const data = line.startsWith('data: {') ? line.slice('data: '.length) : undefined;
    if (data === undefined) {
      yield `${line}\n`;
      continue;
    }
    // The event is the model server's own.
    const event = JSON.parse(data) as JsonObject;
    output += format.outputOf(event);
    format.setUsage(event, inputTokens, () => countTokens(output));
    yield `data: ${JSON.stringify(event)}\n`;
  }
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest) yield rest;
}

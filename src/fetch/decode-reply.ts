import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isBlank, isRecord } from '../adapters/fields.ts';

/** Whether a body is an object or a stream of events. */
export type BodyFormat = 'object' | 'events';

/** Some servers do not say that they send events: then the request tells whether it asked for them. */
export function formatOf({ headers }: Response, request: object): BodyFormat {
  const type = headers.get('content-type') ?? '';
  if (/\bevent-stream\b/i.test(type)) return 'events';
  return 'stream' in request && request.stream === true && !/\bjson\b/i.test(type) ? 'events' : 'object';
}

/**
 * What the official SDKs make of the body of a reply: an object, or the events of a stream.
 *
 * @throws SyntaxError where the body is not what its format says.
 */
export async function decodeReply(texts: AsyncIterable<string>, format: BodyFormat): Promise<unknown> {
  if (format === 'events') return readEvents(texts);
  let body = '';
  for await (const text of texts) body += text;
  const reply: unknown = JSON.parse(body);
  // Gemini, where it was not asked for events: the pieces of the reply, in one array.
  return Array.isArray(reply) ? iterate(reply) : reply;
}

async function* iterate(values: readonly unknown[]): AsyncGenerator<unknown, void> {
  yield* values;
}

async function* readEvents(texts: AsyncIterable<string>): AsyncGenerator<unknown, void> {
  let messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  for await (const text of texts) {
    parser.feed(text);
    for (const message of messages.filter(saysSomething)) yield readEvent(message);
    messages = [];
  }
}

function saysSomething({ data }: EventSourceMessage): boolean {
  return !isBlank(data) && !data.startsWith('[DONE]');
}

/** Errors come as objects of their own form, or as plain text: then they are made to look like the others. */
function readEvent({ event, data }: EventSourceMessage): unknown {
  if (event !== 'error') return JSON.parse(data);
  const error = parseJson(data);
  return isRecord(error) && ('error' in error || 'type' in error) ? error : { type: 'error', error };
}

/** What a text says as JSON; the text itself where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

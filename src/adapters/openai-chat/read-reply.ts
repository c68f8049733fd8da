import type { FinishReason, ReadReplyOptions, ReplySummary, Usage } from '../adapter.ts';
import { type Fields, fieldsOf, isNothing, isRecord, listOf, stringOf } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { providerError } from '../provider-error.ts';
import { isStream, readStream } from '../read-stream.ts';
import { readToolCall } from '../tool-call.ts';
import { assembleMessage } from './assemble-reply.ts';
import { readFunctionCall } from './function-call.ts';
import { readUsage } from './read-usage.ts';
import type { ChatMessage, ChatReply, WrittenMessage } from './shape.ts';

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  // What compatible servers say.
  ['tool_use', 'tool-calls'],
  ['end_turn', 'stop'],
  ['eos', 'stop'],
  ['STOP', 'stop'],
  ['content_filter', 'content-filter'],
]);

interface RawReply {
  message: Fields;
  /** As the provider says it. */
  finish: unknown;
  usage: Usage | undefined;
}

/** See `ProviderAdapter.readReply`. */
export async function readReply(reply: ChatReply, options: ReadReplyOptions = {}): Promise<ReplySummary<ChatMessage>> {
  const { signal, onText } = options;
  signal?.throwIfAborted();
  return summarize(isStream(reply) ? await readChunks(reply, signal, onText) : readObject(reply, onText));
}

function readObject(reply: unknown, onText: ReadReplyOptions['onText']): RawReply {
  const body = fieldsOf(reply);
  const choice = firstChoice(body);
  throwError(body);
  if (!Array.isArray(body.choices)) throw invalidReply('openai-chat', 'a completion with `choices` or a stream of chunks', reply);
  throwError(choice);
  const message = fieldsOf(choice.message);
  const text = textOf(message.content);
  if (text !== '') onText?.(text);
  return { message, finish: choice.finish_reason, usage: readUsage(body.usage) };
}

async function readChunks(
  stream: AsyncIterable<unknown>,
  signal: AbortSignal | undefined,
  onText: ReadReplyOptions['onText'],
): Promise<RawReply> {
  const assembly = assembleMessage();
  let finish: unknown;
  let usage: Usage | undefined;
  for await (const chunk of readStream(stream, signal)) {
    if (!isRecord(chunk)) continue;
    throwError(chunk);
    // The last chunk has usage and no choice.
    usage = readUsage(chunk.usage) ?? usage;
    const choice = firstChoice(chunk);
    throwError(choice);
    finish = choice.finish_reason ?? finish;
    const delta = choice.delta ?? choice.message;
    if (!isRecord(delta)) continue;
    const text = textOf(delta.content);
    assembly.add(Array.isArray(delta.content) ? { ...delta, content: text } : delta);
    if (text !== '') onText?.(text);
  }
  return { message: assembly.message(), finish, usage };
}

/** With `n` above 1 the choices come interleaved; the first is the conversation. */
function firstChoice(body: Fields): Fields {
  return (
    listOf(body.choices)
      .filter(isRecord)
      .find((choice) => (choice.index ?? 0) === 0) ?? {}
  );
}

/** Gateways report an error inside a reply that came with status 200. */
function throwError(body: Fields): void {
  if (!isNothing(body.error)) throw providerError(body.error);
}

function summarize({ message, finish, usage }: RawReply): ReplySummary<ChatMessage> {
  const native = writeReply(message);
  const calls = [...readFunctionCall(native.function_call), ...listOf(native.tool_calls).flatMap(readToolCall)];
  return {
    // Calls come after the text of a message: what was said before them is no answer.
    text: calls.length > 0 ? '' : textOf(message.content),
    finish: mapFinish(finish, message.refusal, calls.length > 0),
    calls,
    items: saysSomething(native) ? [native] : [],
    usage,
  };
}

/** Some servers say `stop` when they call tools. */
function mapFinish(finish: unknown, refusal: unknown, hasCalls: boolean): FinishReason {
  if (isNothing(finish)) return 'incomplete';
  if (!isNothing(refusal)) return 'refusal';
  const reason = finishReasons.get(finish) ?? 'other';
  return reason === 'stop' && hasCalls ? 'tool-calls' : reason;
}

/**
 * The assistant message as a request takes it: without fields that say nothing and without what the SDK adds. Arguments that were cut
 * stay as they came: whoever appends the reply has to leave such calls out, and to say so.
 */
function writeReply(message: Fields): WrittenMessage {
  const native: WrittenMessage = { role: 'assistant' };
  for (const [key, value] of Object.entries(message)) {
    if (key === 'role' || key === 'parsed' || isNothing(value)) continue;
    if (key === 'audio') native.audio = isRecord(value) ? { id: value.id } : value;
    else if (key === 'tool_calls') {
      const calls = listOf(value).filter((call) => readToolCall(call).length > 0);
      if (calls.length > 0) native.tool_calls = calls.map(writeCall);
    } else native[key] = value;
  }
  return native;
}

function writeCall(call: unknown): unknown {
  if (!isRecord(call)) return call;
  const { index: _index, ...kept } = call;
  if (!isRecord(kept.function)) return kept;
  const { parsed_arguments: _parsed, ...target } = kept.function;
  return { type: 'function', ...kept, function: target };
}

function saysSomething(message: Fields): boolean {
  return ['content', 'refusal', 'tool_calls', 'function_call', 'audio'].some((key) => !isNothing(message[key]));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => (isRecord(part) && part.type === 'text' ? stringOf(part.text) : ''))
    .join('');
}

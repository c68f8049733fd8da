import type { ToolCallPart } from '../../message.ts';
import type { ReadReplyOptions, ReplySummary, Usage } from '../adapter.ts';
import { type Fields, fieldsOf, isNothing, isRecord, listOf, stringOf } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { callsIn } from '../neutral-parts.ts';
import { providerError } from '../provider-error.ts';
import { isStream, readStream } from '../read-stream.ts';
import { assembleContents, isCallInPieces } from './assemble-contents.ts';
import { recordOf } from './field-names.ts';
import { mapFinish } from './finish-reason.ts';
import { matchAnswers, splitTurns } from './match-answers.ts';
import { readContent } from './read-content.ts';
import { readUsage } from './read-usage.ts';
import type { GeminiContent, GeminiReply } from './shape.ts';

interface RawReply {
  contents: readonly GeminiContent[];
  /** As the provider says it. */
  finish: unknown;
  /** The prompt was blocked: there is no reply. */
  blocked: boolean;
  usage: Usage | undefined;
}

/** See `ProviderAdapter.readReply`. */
export async function readReply(reply: GeminiReply, options: ReadReplyOptions = {}): Promise<ReplySummary<GeminiContent>> {
  const { signal, onText } = options;
  signal?.throwIfAborted();
  return summarize(isStream(reply) ? await readChunks(reply, signal, onText) : readObject(reply, onText));
}

/**
 * Usage of a reply object. Undefined where the SDK ran tools by itself: it counted a request that is longer than the one it was given.
 */
export function usageOf(reply: GeminiReply): Usage | undefined {
  if (isStream(reply) || !isRecord(reply)) return undefined;
  return listOf(reply.automaticFunctionCallingHistory).length > 0 ? undefined : readUsage(reply.usageMetadata);
}

function readObject(reply: unknown, onText: ReadReplyOptions['onText']): RawReply {
  const body = fieldsOf(reply);
  throwError(body);
  const blocked = isBlocked(body);
  if (!Array.isArray(body.candidates) && !blocked && isNothing(body.usageMetadata))
    throw invalidReply('google-genai', 'a response with `candidates` or a stream of them', reply);
  const candidate = firstCandidate(body);
  const { content } = candidate;
  const contents = isRecord(content) ? [(content.role ? content : { role: 'model', ...content }) as GeminiContent] : [];
  const text = contents.map(textOf).join('');
  if (text !== '') onText?.(text);
  return { contents, finish: candidate.finishReason, blocked, usage: usageOf(reply as GeminiReply) };
}

async function readChunks(
  stream: AsyncIterable<unknown>,
  signal: AbortSignal | undefined,
  onText: ReadReplyOptions['onText'],
): Promise<RawReply> {
  const assembly = assembleContents();
  let finish: unknown;
  let blocked = false;
  let usage: Usage | undefined;
  for await (const chunk of readStream(stream, signal)) {
    if (!isRecord(chunk)) continue;
    throwError(chunk);
    blocked ||= isBlocked(chunk);
    usage = readUsage(chunk.usageMetadata) ?? usage;
    const candidate = firstCandidate(chunk);
    finish = candidate.finishReason ?? finish;
    const { content } = candidate;
    assembly.add(content);
    const text = isRecord(content) ? textOf(content) : '';
    if (text !== '') onText?.(text);
  }
  const contents = assembly.contents();
  return { contents, finish, blocked, usage: contents.some(({ role }) => role === 'user') ? undefined : usage };
}

/** With several candidates the first is the conversation. */
function firstCandidate({ candidates }: Fields): Fields {
  return (
    listOf(candidates)
      .filter(isRecord)
      .find(({ index }) => (index ?? 0) === 0) ?? {}
  );
}

function isBlocked({ promptFeedback }: Fields): boolean {
  return isRecord(promptFeedback) && !isNothing(promptFeedback.blockReason);
}

/** A stream that the SDK did not read may hold an error. */
function throwError({ error }: Fields): void {
  if (!isNothing(error)) throw providerError(error);
}

function summarize({ contents, finish, blocked, usage }: RawReply): ReplySummary<GeminiContent> {
  const items = contents.filter(saysSomething);
  const calls = openCalls(items);
  const inPieces = items.some(({ parts }) => listOf(parts).some(isCallInPieces));
  return {
    text: lastText(items),
    finish: inPieces ? 'incomplete' : mapFinish(finish, blocked, calls.length > 0),
    calls,
    items,
    usage,
  };
}

/** The calls that wait for the caller: where the SDK runs tools by itself, their results are in the stream. */
function openCalls(items: readonly GeminiContent[]): ToolCallPart[] {
  return splitTurns(items).flatMap((turn) => {
    const answered = new Set(matchAnswers(turn).values());
    const calls = callsIn(turn.models.flatMap(readContent));
    return calls.filter((_, index) => {
      const call = turn.calls[index];
      return !call || !answered.has(call);
    });
  });
}

/** What the caller's own functions, or the provider's tools, leave in a reply. */
const toolActivity = ['functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'];

/** Visible text after the last tool activity. */
function lastText(items: readonly GeminiContent[]): string {
  const parts = items.flatMap((content) => listOf(content.parts)).filter(isRecord);
  const start = parts.findLastIndex((part) => toolActivity.some((name) => recordOf(part, name))) + 1;
  return textOf({ parts: parts.slice(start) });
}

function textOf({ parts }: { readonly parts?: unknown }): string {
  return listOf(parts)
    .map((part) => (isRecord(part) && part.thought !== true ? stringOf(part.text) : ''))
    .join('');
}

/** A content of thoughts alone is no turn. */
function saysSomething({ parts }: GeminiContent): boolean {
  return listOf(parts).some(
    (part) => isRecord(part) && part.thought !== true && Object.values(part).some((value) => !isNothing(value)),
  );
}

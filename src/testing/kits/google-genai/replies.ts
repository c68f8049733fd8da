import type { GeminiPart, GeminiReplyObject } from '../../../adapters/google-genai.ts';
import type { Ending, ReplyScript, ScriptedCall } from '../../provider-kit.ts';
import { halvesOf } from '../read-script.ts';

const finishReasons: Record<Ending, string | undefined> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  refusal: 'PROHIBITED_CONTENT',
  'content-filter': 'SAFETY',
  cut: undefined,
};

/** A whole response. */
export function replyObject(script: ReplyScript): GeminiReplyObject {
  return respond(writeReply(script), finishReasonOf(script), usageOf(script));
}

/** The same in pieces. Usage so far comes with each; the last has an empty text. */
export async function* replyStream(script: ReplyScript): AsyncGenerator<GeminiReplyObject> {
  for (const part of writeReply({ ...script, text: undefined, calls: [] })) yield respond([part]);
  for (const piece of halvesOf(script)) yield respond([{ text: piece }], undefined, usageOf(script));
  for (const part of writeReply({ calls: script.calls })) yield respond([part]);
  if (script.ending !== 'cut') yield respond([{ text: '' }], finishReasonOf(script), usageOf(script));
}

/** What the model says: its thoughts, a text, calls, of which the first is signed. */
export function writeReply({ text, reasoning, calls = [] }: ReplyScript): GeminiPart[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map((call, index) => ({ ...writeCall(call), ...(index === 0 && { thoughtSignature: 'c2lnbmVk' }) })),
  ];
}

function writeCall({ id, name, input }: ScriptedCall): GeminiPart {
  return { functionCall: { ...(id !== '' && { id }), name, args: input } };
}

function respond(parts: readonly GeminiPart[], finishReason?: string, usageMetadata?: object): GeminiReplyObject {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }],
    ...(usageMetadata && { usageMetadata }),
  };
}

function finishReasonOf({ ending = 'stop' }: ReplyScript): string | undefined {
  return finishReasons[ending];
}

/** Cached tokens are counted in the prompt, thoughts beside the candidates. */
function usageOf({ usage, reasoning }: ReplyScript): object | undefined {
  if (!usage) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  const thoughtsTokenCount = reasoning === undefined ? 0 : Math.min(10, outputTokens);
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens - thoughtsTokenCount,
    totalTokenCount: inputTokens + outputTokens,
    ...(thoughtsTokenCount > 0 && { thoughtsTokenCount }),
    ...(cachedInputTokens !== undefined && { cachedContentTokenCount: cachedInputTokens }),
  };
}

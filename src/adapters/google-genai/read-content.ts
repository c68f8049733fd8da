import type { MediaPart, Message, NativePart, Part, ToolResultPart } from '../../message.ts';
import { type Fields, isNothing, isRecord, listOf, stringOf } from '../fields.ts';
import { nativePart, reasoningParts, textParts, userMessages } from '../neutral-parts.ts';
import { recordOf } from './field-names.ts';
import { type Answer, answersIn, type Call, callIn, callsIn, isModel } from './function-parts.ts';
import { readPartFields } from './part-fields.ts';
import { callIdOf } from './read-items.ts';
import { readMedia } from './read-media.ts';
import type { GeminiContent } from './shape.ts';

/**
 * A content in neutral form. Results come with the user's role: a `tool` message, then a `user` message with what the host wrote beside
 * them. An empty text is no part.
 */
export function readContent(content: GeminiContent): Message[] {
  const parts = listOf(content.parts);
  if (isModel(content)) {
    const calls = callsIn(content);
    return [{ role: 'assistant', parts: parts.flatMap((part) => readModelPart(part, calls.get(part))) }];
  }
  const answers = new Map(answersIn(content).map((answer) => [answer.part, answer]));
  const rest = parts.filter((part) => !isRecord(part) || !answers.has(part)).flatMap(readPart);
  const results = [...answers.values()].flatMap((answer) => readAnswer(answer));
  return userMessages(results, rest);
}

function readModelPart(part: unknown, call: Call | undefined): Part[] {
  const fields = callIn(part);
  if (!call || !fields || !isRecord(part)) return readPart(part);
  const { id, name } = call;
  const input = fields.args ?? {}; // left out where there are none
  return [{ type: 'toolCall', id, name, input }, ...readPartFields(part, { call: id }, ['functionCall'])];
}

/** A result in neutral form. */
export function readAnswer(answer: Answer): [ToolResultPart, ...NativePart[]] {
  const { response, part } = answer;
  const { text, isError } = readResponse(response.response);
  const media = listOf(response.parts).map((entry) => (isRecord(entry) && readMedia(entry)) || nativePart(entry));
  const content = [...textParts(text), ...media];
  const result: ToolResultPart = { type: 'toolResult', callId: callIdOf(answer), content };
  if (answer.name !== '') result.name = answer.name;
  if (isError) result.isError = true;
  return [result, ...readPartFields(part, { call: result.callId }, ['functionResponse'])];
}

/** By the provider's rule: `output` is what the function returned, `error` why it failed; without them it is the whole object. */
function readResponse(response: unknown): { text: string; isError: boolean } {
  if (!isRecord(response)) return { text: textOf(response), isError: false };
  const [only, ...others] = Object.keys(response);
  const isError = !isNothing(response.error) && isNothing(response.output);
  const spoken = others.length === 0 && (only === 'output' || only === 'error') ? response[only] : response;
  return { text: only === undefined ? '' : textOf(spoken), isError };
}

function textOf(value: unknown): string {
  return isNothing(value) ? '' : typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function readPart(part: unknown): Part[] {
  if (!isRecord(part)) return isNothing(part) ? [] : [nativePart(part)];
  const text = stringOf(part.text);
  if (typeof part.text !== 'string') return [readWhole(part)];
  // A thought is never text. Signatures come with an empty text where a stream ends.
  if (part.thought === true) return [...reasoningParts(text), ...readPartFields(part, 'thought', ['text', 'thought'])];
  if (text === '') return readPartFields(part, 'text', ['text', 'thought']).length > 0 ? [nativePart(part)] : [];
  return [{ type: 'text', text }, ...readPartFields(part, 'text', ['text', 'thought'])];
}

function readWhole(part: Fields): MediaPart | NativePart {
  const media = recordOf(part, 'functionResponse') || part.thought === true ? undefined : readMedia(part);
  return media ?? nativePart(part);
}

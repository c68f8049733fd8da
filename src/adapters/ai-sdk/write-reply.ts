import type { FinishReason } from '../adapter.ts';
import { isNothing, isRecord } from '../fields.ts';
import { readArguments } from '../tool-call.ts';
import { isPart, type Part } from './parts.ts';
import { withoutOptions } from './provider-options.ts';
import type { AiSdkMessage } from './shape.ts';

/**
 * A reply as a message of the next prompt, as the SDK itself makes one of it. Of a reply that was cut the text stays, without the server's
 * ids, which the server may not know; thoughts stand at no message's end. B184, B186
 */
export function writeReply(content: readonly Part[], finish: FinishReason): AiSdkMessage[] {
  const wasCut = finish === 'incomplete';
  const answered = new Set(content.filter(({ type }) => type === 'tool-result').map(({ toolCallId }) => toolCallId));
  const parts = content.flatMap((part) => writePart(part)).filter((part) => !wasCut || isWhole(part, answered));
  const end = parts.findLastIndex(({ type }) => type !== 'reasoning') + 1;
  const kept = wasCut || finish === 'length' ? parts.slice(0, end) : parts;
  return kept.length > 0 ? [{ role: 'assistant', content: wasCut ? kept.map(withoutServerId) : kept }] : [];
}

/** Arguments as they were meant, or the text where they are no JSON. */
export function readInput(input: unknown): unknown {
  if (typeof input !== 'string') return input ?? {};
  return input === '' ? {} : readArguments(input);
}

/** What a prompt takes of a reply: neither sources nor requests for an approval, nor pictures that were drafts. */
function writePart({ providerMetadata, ...part }: Part): Part[] {
  const options = isNothing(providerMetadata) ? {} : { providerOptions: providerMetadata };
  switch (part.type) {
    case 'text':
      return part.text === '' && !('providerOptions' in options) ? [] : [{ ...part, ...options }];
    case 'reasoning':
    case 'file':
      return [{ ...part, ...options }];
    case 'tool-call':
      return [{ ...pick(part, ['toolCallId', 'toolName', 'providerExecuted']), input: inputObject(part.input), ...options }];
    case 'tool-result':
      if (part.preliminary === true) return [];
      return [{ ...pick(part, ['toolCallId', 'toolName']), output: writeResult(part), ...options }];
    default:
      return [];
  }
}

function pick(part: Part, keys: readonly string[]): Part {
  return { type: part.type, ...Object.fromEntries(keys.filter((key) => key in part).map((key) => [key, part[key]])) };
}

/** Providers take an object as input. */
function inputObject(input: unknown): unknown {
  const read = readInput(input);
  return typeof read === 'string' ? {} : read;
}

function writeResult({ result, isError }: Part): object {
  if (isError === true) return { type: 'error-json', value: result ?? null };
  return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result ?? null };
}

/** False for thoughts of a reply that was cut, and for a call of the provider's own tools that has no result. */
function isWhole(part: Part, answered: ReadonlySet<unknown>): boolean {
  if (part.type === 'tool-call' && part.providerExecuted === true) return answered.has(part.toolCallId);
  return part.type !== 'reasoning';
}

function withoutServerId(part: Part): Part {
  if (!isPart(part) || !isRecord(part.providerOptions)) return part;
  const { providerOptions, ...rest } = part;
  const kept = withoutOptions(providerOptions, (key) => key === 'itemId');
  return kept ? { ...rest, providerOptions: kept } : rest;
}

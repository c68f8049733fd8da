import type { FinishReason, ReadReplyOptions, ReplySummary } from '../adapter.ts';
import { type Fields, fieldsOf, isRecord, listOf } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { callsIn } from '../neutral-parts.ts';
import { isRedactedThinking, kindOf } from './parts.ts';
import { partsOf, readMessage } from './read-message.ts';
import { readUsage } from './read-usage.ts';
import { plainMessage, repairMessage } from './repair-message.ts';
import type { GenkitMessage, GenkitReply } from './shape.ts';

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['blocked', 'content-filter'],
  ['interrupted', 'pause'],
  ['aborted', 'incomplete'],
  // The plugin was told nothing.
  ['unknown', 'incomplete'],
  [undefined, 'incomplete'],
]);

/** See `ProviderAdapter.readReply`. A model's reply is an object: its chunks go another way. */
export async function readReply(reply: GenkitReply, options: ReadReplyOptions = {}): Promise<ReplySummary<GenkitMessage>> {
  options.signal?.throwIfAborted();
  const { message, finishReason } = readCandidate(reply);
  const item = message && repairMessage(plainMessage(message));
  const calls = item ? callsIn(readMessage(item)) : [];
  const text = message ? lastText(message) : '';
  if (text !== '') options.onText?.(text);
  return {
    text,
    finish: mapFinish(finishReason, calls.length > 0),
    calls,
    items: item ? [item] : [],
    usage: readUsage(reply),
  };
}

function readCandidate(reply: unknown): { message?: GenkitMessage; finishReason: unknown } {
  const { message, finishReason, candidates } = fieldsOf(reply);
  const [first] = listOf(candidates);
  if (isMessage(message)) return { message, finishReason };
  if (isRecord(first) && isMessage(first.message)) return { message: first.message, finishReason: first.finishReason };
  if (finishReason === undefined) throw invalidReply('genkit', 'a reply with a `message`', reply);
  return { finishReason };
}

function isMessage(value: unknown): value is GenkitMessage {
  return isRecord(value) && Array.isArray(value.content);
}

/** Plugins for OpenAI's wire and for Anthropic say `stop` when the model calls tools. */
function mapFinish(finishReason: unknown, hasCalls: boolean): FinishReason {
  const reason = finishReasons.get(finishReason) ?? 'other';
  return hasCalls && (reason === 'stop' || reason === 'pause') ? 'tool-calls' : reason;
}

/** Text after the last tool activity, in one piece as Genkit's own `text`. */
function lastText(message: GenkitMessage): string {
  const parts = partsOf(message).filter(isRecord);
  const start = parts.findLastIndex(isToolActivity) + 1;
  const texts = parts.slice(start).map((part) => (kindOf(part) === 'text' ? String(part.text) : ''));
  return texts.join('');
}

/** Plugins put what the provider's own tools did into `custom`. */
function isToolActivity(part: Fields): boolean {
  const kind = kindOf(part);
  if (kind === 'toolRequest' || kind === 'toolResponse') return true;
  return kind !== 'reasoning' && isRecord(part.custom) && !isRedactedThinking(part);
}

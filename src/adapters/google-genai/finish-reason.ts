import type { FinishReason } from '../adapter.ts';
import { isNothing } from '../fields.ts';

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The SDK goes on by itself unless it was told not to.
  ['CONTINUATION', 'pause'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
  ['MODEL_ARMOR', 'content-filter'],
  ['IMAGE_SAFETY', 'content-filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content-filter'],
  ['IMAGE_RECITATION', 'content-filter'],
]);

/** How a reply ended: the provider says `STOP` also where it calls functions. */
export function mapFinish(finish: unknown, blocked: boolean, hasCalls: boolean): FinishReason {
  if (blocked) return 'content-filter';
  if (isNothing(finish)) return 'incomplete';
  const reason = finishReasons.get(finish) ?? 'other';
  return reason === 'stop' && hasCalls ? 'tool-calls' : reason;
}

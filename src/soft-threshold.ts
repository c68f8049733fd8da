import type { Measurement } from './budget/meter.ts';
import { notify } from './events.ts';
import type { Inspection } from './inspection.ts';
import type { Track } from './overlay.ts';
import type { Settings } from './settings.ts';

/** Tells of each crossing of the soft threshold once, whatever keeps the history from being compacted. Asks no model. V17, V68 */
export async function watchSoftThreshold<Request, Item, Reply>(
  { meter, onEvent }: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  { view, budget, anchor }: Inspection<Request, Item>,
  measured: Measurement | undefined,
): Promise<void> {
  const { softThreshold, threshold } = budget;
  let tokens = measured?.tokens ?? meter.upperBound(view, anchor);
  if (!measured && tokens >= softThreshold) {
    await meter.load();
    tokens = meter.measure(view, anchor).tokens;
  }
  const isOver = tokens >= softThreshold;
  if (isOver === (track.trigger.softReported === true)) return;
  track.trigger = { ...track.trigger, softReported: isOver || undefined };
  if (!isOver) return;
  notify(onEvent, {
    type: 'notice',
    conversation: track.conversation,
    code: 'soft-threshold',
    message: `The request has ${tokens} tokens: history is compacted from ${threshold} on.`,
  });
}

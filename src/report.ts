import { type Notice, notify } from './events.ts';
import type { Track } from './overlay.ts';
import type { Settings } from './settings.ts';
import { call } from './until-aborted.ts';

/** A callback that hears nothing more once the compaction is over, and whose faults stay its own. */
export function shield<Arguments extends unknown[]>(
  callback: ((...args: Arguments) => void) | undefined,
  signal: AbortSignal,
): ((...args: Arguments) => void) | undefined {
  if (!callback) return undefined;
  return (...args) => {
    // As with observers: typed as returning nothing, it may still be an async function.
    if (!signal.aborted) call(() => callback(...args)).catch(() => undefined);
  };
}

/** A notice that stands until the user says something new. */
export function reportOnce<Request, Item, Reply>(
  { onEvent }: Pick<Settings<Request, Item, Reply>, 'onEvent'>,
  track: Track<Request, Item>,
  notice: Notice,
): void {
  if (track.trigger.reported.includes(notice.code)) return;
  track.trigger = { ...track.trigger, reported: [...track.trigger.reported, notice.code] };
  notify(onEvent, { type: 'notice', conversation: track.conversation, ...notice });
}

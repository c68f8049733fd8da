import { type Mark, startsWith } from './history/view.ts';
import { readRaw } from './inspection.ts';
import type { Send } from './options.ts';
import type { Overlay, Track } from './overlay.ts';
import type { Settings } from './settings.ts';

/** Whose conversation is looked at, and how it stands now: a loop may grow while a summary is written. */
export interface Subject<Request, Item, Reply> {
  track: Track<Request, Item>;
  current: () => Request;
  /** Sends this request, where that differs from call to call. Default: the compactor's own. */
  send?: Send<Request, Reply> | undefined;
  /** False once the caller started over: nothing may be installed any more. Default: always true. */
  isCurrent?: (() => boolean) | undefined;
  /** The caller's own history takes the replacement in: called right when it is installed. */
  fold?: ((overlay: Overlay<Item>) => void) | undefined;
}

/** True where the conversation still begins with what the mark stands for. What cannot be read any more has changed. */
export function beginsWith<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  { current, isCurrent }: Subject<Request, Item, Reply>,
  mark: Mark,
): boolean {
  try {
    return isCurrent?.() !== false && startsWith(readRaw(settings, current()), mark);
  } catch {
    return false;
  }
}

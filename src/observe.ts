import type { RequestView } from './history/view.ts';
import type { Track } from './overlay.ts';
import { inspect, readRaw, type Settings } from './settings.ts';

/** Takes what the provider says of a request that was sent: the next estimates of its conversation build on it. */
export function observeUsage<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: Request,
  inputTokens: number | undefined,
): void {
  observeView(settings, track, inspect(settings, track, readRaw(settings, request)).view, inputTokens);
}

/** The same for a request that was read when it was sent: its caller may have gone on with the very same array. */
export function observeView<Request, Item, Reply>(
  { meter }: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  view: RequestView<Request, Item>,
  inputTokens: number | undefined,
): void {
  if (inputTokens === undefined) return;
  const anchor = meter.anchor(view, inputTokens, track.anchor);
  if (anchor) track.anchor = anchor;
}

import type { Track } from './overlay.ts';
import { inspect, readRaw, type Settings } from './settings.ts';

/** Takes what the provider says of a request that was sent: the next estimates of its conversation build on it. */
export function observeUsage<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: Request,
  inputTokens: number | undefined,
): void {
  if (inputTokens === undefined) return;
  const { view } = inspect(settings, track, readRaw(settings, request));
  const anchor = settings.meter.anchor(view, inputTokens, track.anchor);
  if (anchor) track.anchor = anchor;
}

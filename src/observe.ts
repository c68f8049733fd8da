import { recognizeOf } from './decide.ts';
import { linkFingerprints } from './history/fingerprint.ts';
import type { HeldHistory } from './history/held.ts';
import { isSystem } from './history/reading.ts';
import { findLastUserMessage } from './history/replaced.ts';
import type { RequestView } from './history/view.ts';
import { cover, readRaw } from './inspection.ts';
import type { Track } from './overlay.ts';
import type { Settings } from './settings.ts';

/** A reply that the server may hold: requests can go on from its id. */
export interface HeldReply {
  responseId?: string | undefined;
  outputTokens?: number | undefined;
}

/**
 * Takes what the provider says of a request that was sent: the next estimates of its conversation build on it. Gives back what the server
 * holds now, where requests can go on from the reply.
 */
export function observeUsage<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: Request,
  inputTokens: number | undefined,
  reply?: HeldReply,
): HeldHistory | undefined {
  return observeView(settings, track, cover(settings, track, readRaw(settings, request)).view, inputTokens, reply);
}

/** The same for a request that was read when it was sent: its caller may have gone on with the very same array. */
export function observeView<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  view: RequestView<Request, Item>,
  inputTokens: number | undefined,
  { responseId, outputTokens }: HeldReply = {},
): HeldHistory | undefined {
  if (inputTokens === undefined) return undefined;
  const { meter, adapter, read } = settings;
  // How much of what the server holds it sends to the model is not known: that is no lesson.
  const anchor = meter.anchor(view, inputTokens, view.context.heldBefore === undefined ? track.anchor : undefined);
  const before = anchor?.tokens ?? meter.measure(view, track.anchor).tokens;
  if (anchor) track.anchor = anchor;
  const { provenWindow } = track.trigger;
  if (provenWindow && inputTokens > provenWindow.tokens) track.trigger = { ...track.trigger, provenWindow: undefined }; // it was not so
  if (responseId === undefined || !adapter.heldItem) return undefined;
  const said = findLastUserMessage(view.body, { isUserInput: settings.isUserInput, recognize: recognizeOf(track) });
  return {
    mark: { count: 1, hash: linkFingerprints('', read(adapter.heldItem(responseId)).fingerprint) },
    tokens: before + (Number.isFinite(outputTokens) ? Math.max(0, outputTokens ?? 0) : 0),
    replaceable: view.context.serverHeld === undefined && ![...view.leading, ...view.body].some(isSystem),
    lastUserMessage: said && { role: 'user', parts: said },
  };
}

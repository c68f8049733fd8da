import { dropCleared, type TurnScope } from '../drop-cleared.ts';
import { dropApprovals } from './drop-approvals.ts';
import { placeSystem } from './place-system.ts';
import { optionOf } from './provider-options.ts';
import type { AiSdkMessage, AiSdkRequest } from './shape.ts';

/** The request with these items, where its provider takes them. Items that the request had already stay as they are, however odd. */
export function arrangeItems<R extends AiSdkRequest>(request: R, items: readonly AiSdkMessage[]): R {
  const { prompt, model } = request;
  if (items === prompt) return request;
  const approved = dropApprovals(items, prompt);
  // Other providers do not hear of the marker, and show the text for good.
  const shown = /anthropic/i.test(model?.provider ?? '') ? dropCleared(approved, prompt, turnScope) : approved;
  return { ...request, prompt: placeSystem(shown, prompt, model) };
}

const turnScope: TurnScope<AiSdkMessage> = {
  isPassing: ({ role, providerOptions }) => role === 'system' && optionOf(providerOptions, 'clearAt') === 'next_user_message',
  endsTurn: ({ role }) => role === 'user' || role === 'tool',
};

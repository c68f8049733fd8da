import { describe, expect, it } from 'vitest';
import { type ChatRequest, openaiChat } from '../src/adapters/openai-chat.ts';
import { readRaw } from '../src/inspection.ts';
import { observeUsage, observeView } from '../src/observe.ts';
import { createTrack, type Track } from '../src/overlay.ts';
import { resolveOptions } from '../src/settings.ts';
import { countTokens, longConversation, toolTurn } from './support/scripted-model.ts';

const settings = resolveOptions({ adapter: openaiChat(), when: 'never', budget: { countTokens } });
const track = (): Track<ChatRequest, ReturnType<typeof longConversation>['messages'][number]> => createTrack();

describe('observeUsage', () => {
  it('anchors the conversation where the request ends', () => {
    const observed = track();
    observeUsage(settings, observed, longConversation(), 1500);
    expect(observed.anchor).toMatchObject({ tokens: 1500, mark: { count: longConversation().messages.length - 1 } });
  });

  it('leaves the anchor as it is where there is nothing to learn', () => {
    const observed = track();
    observeUsage(settings, observed, longConversation(), 1500);
    const { anchor } = observed;
    for (const tokens of [undefined, Number.NaN, 0, -1, 3]) observeUsage(settings, observed, longConversation(), tokens);
    expect(observed.anchor).toBe(anchor);
  });
});

describe('observeView', () => {
  it('is about the request as it was read, not as it is now', () => {
    const request = longConversation();
    const observed = track();
    const messages = [...request.messages];
    const view = readRaw(settings, { ...request, messages });
    messages.push(...toolTurn('later', 'x'));
    observeView(settings, observed, view, 1500);
    expect(observed.anchor?.mark.count).toBe(request.messages.length - 1);
  });
});

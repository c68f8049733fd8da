import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../src/adapters/openai-chat.ts';
import { createLoop, createWrapper, lifecycleOf, noticesOf, type WorldOptions } from './support/harness.ts';
import { countTokens, longConversation, toolTurn } from './support/scripted-model.ts';

const { messages } = longConversation();
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

/** The conversation has about 1,290 tokens: between the two thresholds, or over both. */
const between: WorldOptions = { contextWindow: 10_000, budget: { threshold: 1400, countTokens } };

const softReports = (events: Parameters<typeof noticesOf>[0]) => noticesOf(events).filter((code) => code === 'soft-threshold');

describe('V17: the soft threshold', () => {
  it('is a tenth below the threshold, and part of the estimate', () => {
    const estimate = createLoop(between).loop.estimate();
    expect(estimate).toMatchObject({ threshold: 1400, softThreshold: 1260 });
    expect(estimate.tokens).toBeGreaterThanOrEqual(1260);
    expect(estimate.overThreshold).toBe(false);
  });

  it('does nothing by default', async () => {
    const { loop, events } = createLoop(between);
    await loop.send();
    expect(events).toEqual([]);
  });
});

describe('V68: reported', () => {
  const reporting: WorldOptions = { ...between, budget: { ...between.budget, soft: 'report' } };

  it('once for a crossing, without asking the model', async () => {
    const { loop, events, model } = createLoop(reporting);
    await loop.send();
    await loop.send();
    loop.append([assistant('Read.'), user('Go on.')]);
    await loop.send();
    expect(softReports(events)).toHaveLength(1);
    expect(events).toHaveLength(1);
    expect(model.summaries).toEqual([]);
  });

  it('again where the size has been below it meanwhile', async () => {
    const { loop, events } = createLoop(reporting);
    await loop.send();
    await loop.compact();
    await loop.send();
    loop.append(toolTurn('call_3', 'c'.repeat(4800)));
    expect(loop.estimate().overThreshold).toBe(false);
    await loop.send();
    expect(softReports(events)).toHaveLength(2);
  });

  it('not below it', async () => {
    const { loop, events } = createLoop({ ...reporting, budget: { ...reporting.budget, threshold: 3000 } });
    await loop.send();
    expect(events).toEqual([]);
  });

  it('also where compaction is off, which it stays', async () => {
    const { create, events, model } = createWrapper({ ...reporting, when: 'never' });
    await create(longConversation());
    await create(longConversation({ messages: [...messages, ...toolTurn('call_3', 'c'.repeat(9000))] }));
    expect(softReports(events)).toHaveLength(1);
    expect(model.summaries).toEqual([]);
    expect(lifecycleOf(events)).toEqual([]);
  });

  it('once in two processes', async () => {
    const { loop } = createLoop(reporting);
    await loop.send();
    const resumed = createLoop({ ...reporting, request: loop.request, state: { snapshot: loop.snapshot() } });
    await resumed.loop.send();
    expect(resumed.events).toEqual([]);
  });
});

describe('V68: acted upon', () => {
  const acting: WorldOptions = { ...between, budget: { ...between.budget, soft: 'act' } };

  it('where the user says something new, and not in the middle of a task', async () => {
    const { loop, events, model } = createLoop(acting);
    await loop.send();
    expect(events).toEqual([]);
    loop.append([assistant('Read.')]);
    await loop.send();
    expect(events).toEqual([]);
    loop.append([user('Go on.')]);
    expect(loop.estimate().overThreshold).toBe(false);
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(softReports(events)).toEqual([]);
    expect(model.summaries).toHaveLength(1);
    // A tool turn later it is small: nothing more to do.
    loop.append(toolTurn('call_3', 'ok'));
    await loop.send();
    expect(model.summaries).toHaveLength(1);
  });

  it('at the threshold itself at any time', async () => {
    const { loop, events } = createLoop(acting);
    loop.append(toolTurn('call_3', 'c'.repeat(800)));
    expect(loop.estimate().overThreshold).toBe(true);
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('behind a reminder of the host, too', async () => {
    const isUserInput = (message: { parts: readonly object[] }) => !JSON.stringify(message.parts).includes('reminder');
    const { create, events } = createWrapper({ ...acting, retain: { isUserInput } });
    const request = longConversation({ messages: [...messages, assistant('Read.'), user('Go on.'), user('reminder: be brief')] });
    await create(request);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('never where compaction is off, or needs a tool turn', async () => {
    for (const when of ['never', 'tool-turn'] as const) {
      const { create, events } = createWrapper({ ...acting, when });
      await create(longConversation({ messages: [...messages, assistant('Read.'), user('Go on.')] }));
      expect(events).toEqual([]);
    }
  });
});

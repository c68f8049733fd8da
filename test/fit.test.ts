import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import type { ChatMessage, ChatRequest } from '../src/adapters/openai-chat.ts';
import { openaiResponses } from '../src/adapters/openai-responses.ts';
import { createCompactor } from '../src/compactor.ts';
import { deferred } from './support/deferred.ts';
import { createLoop, createWrapper, isCompacted, lifecycleOf, type WorldOptions } from './support/harness.ts';
import {
  countTokens,
  httpError,
  longConversation,
  says,
  summarizes,
  throws,
  toolCall,
  toolTurn,
} from './support/scripted-model.ts';

/** About 1,290 tokens: nothing for the large model, over the threshold of the small one, which is 1,061. */
const windows = (model: string | undefined): number => (model === 'small' ? 5275 : 200_000);
const switching: WorldOptions = { contextWindow: windows, budget: { countTokens } };
const small = (request = longConversation()): ChatRequest => ({ ...request, model: 'small' });
const withOpenCall = (): ChatRequest => ({
  ...small(),
  messages: [...longConversation().messages, { role: 'assistant', content: null, tool_calls: [toolCall('open')] } as ChatMessage],
});

describe('V73: a request to another model', () => {
  it('is compacted before it is sent where it is too large for the new window, though no turn has passed', async () => {
    const { create, events } = createWrapper(switching);
    const request = longConversation();
    await create(request);
    expect(events).toEqual([]);
    const { outcome, request: fitted, error } = await create.compactor.fit(small());
    expect([outcome, error]).toEqual(['compacted', undefined]);
    expect(isCompacted(fitted)).toBe(true);
    expect(fitted.model).toBe('small');
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(await create.compactor.prepare(small())).toEqual(fitted);
  });

  it('is compacted in a loop, too, whose history takes the replacement in', async () => {
    const { loop, stored } = createLoop(switching);
    await loop.send();
    loop.update({ params: { model: 'small' } });
    const { outcome, request } = await loop.fit();
    expect(outcome).toBe('compacted');
    expect(request).toEqual(loop.request);
    expect(isCompacted(request)).toBe(true);
    expect(stored).toHaveLength(1);
    const other = createLoop(switching).loop;
    const fitted = await other.fit({ params: { model: 'small' } });
    expect(fitted).toMatchObject({ outcome: 'compacted', request: { model: 'small' } });
    expect(other.request.model).toBe('gpt-5');
  });

  it('is unchanged, the very same object, where it fits', async () => {
    const { create, model } = createWrapper(switching);
    const request = longConversation();
    expect(await create.compactor.fit(request)).toEqual({ outcome: 'unchanged', request });
    expect((await create.compactor.fit(request)).request).toBe(request);
    expect(model.summaries).toEqual([]);
  });

  it('is disabled where compaction is off', async () => {
    const { create, model } = createWrapper({ ...switching, when: 'never' });
    const request = small();
    expect(await create.compactor.fit(request)).toEqual({ outcome: 'disabled', request });
    expect((await createLoop({ ...switching, when: 'never', request }).loop.fit()).outcome).toBe('disabled');
    expect(model.summaries).toEqual([]);
  });

  it('is skipped while a call waits, while it is pending, and where the server holds the history', async () => {
    const { create } = createWrapper(switching);
    const open = withOpenCall();
    expect(await create.compactor.fit(open)).toEqual({ outcome: 'skipped', request: open });
    const options = {
      contextWindow: 5275,
      budget: { countTokens },
      send: async (): Promise<never> => Promise.reject(new Error('asked')),
    };
    const messages = [
      { role: 'user' as const, content: 'a'.repeat(6000) },
      { role: 'assistant' as const, content: 'b' },
      { role: 'user' as const, content: 'c' },
      { role: 'assistant' as const, content: 'The answer is' },
    ];
    const prefilled = { model: 'claude', max_tokens: 100, messages };
    expect((await createCompactor({ adapter: anthropicMessages(), ...options }).fit(prefilled)).outcome).toBe('skipped');
    const held = { model: 'gpt-5', conversation: 'conv_1', input: 'c'.repeat(9000) };
    expect((await createCompactor({ adapter: openaiResponses(), ...options }).fit(held)).outcome).toBe('skipped');
  });

  it('is cleared where there is no conversation yet', async () => {
    const { create } = createWrapper(switching);
    const request: ChatRequest = { model: 'small', messages: [{ role: 'system', content: 'x'.repeat(9000) }] };
    expect(await create.compactor.fit(request)).toEqual({ outcome: 'cleared', request });
  });

  it('is as compact as it gets where what must stay is too large, and where a summary saves nothing', async () => {
    const lone = createWrapper(switching);
    const request: ChatRequest = { model: 'small', messages: [{ role: 'user', content: 'x'.repeat(9000) }] };
    expect(await lone.create.compactor.fit(request)).toEqual({ outcome: 'already-compact', request });
    expect(lone.model.summaries).toEqual([]);
    const wordy = createWrapper({ ...switching, steps: [summarizes('s'.repeat(8000))] });
    expect((await wordy.create.compactor.fit(small())).outcome).toBe('already-compact');
  });

  it('has failed where the summary did, and can be sent all the same', async () => {
    const fail = throws(httpError(500, 'no'));
    const { create } = createWrapper({ ...switching, summary: { retries: 0 }, steps: [fail] });
    const request = small();
    const { outcome, error, request: fitted } = await create.compactor.fit(request);
    expect([outcome, error?.code]).toEqual(['failed', 'summarizer-failed']);
    expect(fitted).toBe(request);
  });

  it('has failed where it cannot be read, or its window is no number, and comes back as it is', async () => {
    const { create } = createWrapper(switching);
    const odd = { messages: 7 } as never;
    expect(await create.compactor.fit(odd)).toMatchObject({
      outcome: 'failed',
      request: odd,
      error: { code: 'invalid-request' },
    });
    const broken = createWrapper({ ...switching, contextWindow: () => Number.NaN });
    const request = small();
    expect(await broken.create.compactor.fit(request)).toMatchObject({ outcome: 'failed', error: { code: 'invalid-options' } });
    const { loop } = createLoop({ ...switching, contextWindow: throwing });
    expect(await loop.fit()).toMatchObject({ outcome: 'failed', error: { code: 'invalid-request' } });
  });

  it('has failed where the compaction was cancelled', async () => {
    const { loop } = createLoop({
      ...switching,
      request: small(),
      onEvent: (event) => event.type === 'auto_compaction_started' && event.cancel(),
    });
    expect(await loop.fit()).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
  });

  it('rejects with the caller’s reason alone', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const { create } = createWrapper({
      ...switching,
      steps: [
        () => {
          controller.abort(reason);
          return new Promise(() => {});
        },
      ],
    });
    await expect(create.compactor.fit(small(), { signal: controller.signal })).rejects.toBe(reason);
    await expect(create.compactor.fit(small(), { signal: controller.signal })).rejects.toBe(reason);
    await expect(createLoop(switching).loop.fit({ signal: controller.signal })).rejects.toBe(reason);
  });

  it('is compacted whatever failed with the model before', async () => {
    const { loop, events } = createLoop({
      ...switching,
      budget: { countTokens, threshold: 500 },
      summary: { retries: 0 },
      steps: [throws(httpError(401, 'no'))],
    });
    await loop.send();
    loop.append(toolTurn('call_3', 'ok'));
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
    loop.update({ params: { model: 'small' } });
    expect((await loop.fit()).outcome).toBe('compacted');
  });

  it('is not measured by what the model before it counted', async () => {
    const counted = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
    const { loop } = createLoop({ ...switching, turn: () => ({ ...says('Done.'), usage: counted }) });
    await loop.send();
    loop.update({ params: { model: 'small' } });
    expect(loop.estimate()).toMatchObject({ overThreshold: true, sources: { tokens: 'estimate' } });
  });

  it('waits for a compaction under way', async () => {
    const gate = deferred<void>();
    const { loop, model } = createLoop({
      ...switching,
      steps: [
        async () => {
          await gate.promise;
          return says('## Goal\nShip it.');
        },
      ],
    });
    const manual = loop.compact();
    loop.update({ params: { model: 'small' } });
    const fitting = loop.fit();
    gate.resolve();
    await manual;
    expect((await fitting).outcome).toBe('unchanged');
    expect(model.summaries).toHaveLength(1);
  });
});

function throwing(): never {
  throw new Error('no window');
}

import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import type { ChatMessage } from '../src/adapters/openai-chat.ts';
import { createCompactor } from '../src/compactor.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { createLoop, createWrapper } from './support/harness.ts';
import { answers, callsTools, longConversation, says, toolCall, toolTurn } from './support/scripted-model.ts';

describe('what is handed out is the caller’s to change', () => {
  it('a prepared request and a manual result share nothing with the replacement that is remembered', async () => {
    const { create } = createWrapper();
    const request = longConversation();
    const first = await create.compactor.prepare(request);
    const before = structuredClone(first);
    Object.assign(first.messages[1]!, { content: 'changed' });
    expect(await create.compactor.prepare(request)).toEqual(before);

    const { request: compacted } = await create.compactor.compact({ ...request, messages: request.messages.slice(0, 4) });
    const kept = structuredClone(compacted);
    Object.assign(compacted.messages[1]!, { content: 'changed' });
    expect(await create.compactor.prepare({ ...request, messages: request.messages.slice(0, 4) })).toEqual(kept);
  });

  it('cache markers that a host sets in place do not pile up', async () => {
    const { create, model } = createWrapper();
    const messages = [...longConversation().messages];
    for (let step = 0; step < 4; step++) {
      const prepared = await create.compactor.prepare({ ...longConversation(), messages: structuredClone(messages) });
      const last = prepared.messages.at(-1)!;
      Object.assign(Array.isArray(last.content) ? last.content.at(-1)! : last, { cache_control: { type: 'ephemeral' } });
      expect(JSON.stringify(prepared.messages).split('"cache_control"')).toHaveLength(2);
      messages.push(...toolTurn(`more_${step}`, 'c'.repeat(40)));
    }
    expect(model.summaries).toHaveLength(1);
  });
});

describe('a loop', () => {
  it('keeps a result as a record whose call went into a manual summary before it came', async () => {
    const { loop } = createLoop({ when: 'never', turn: answers(callsTools(['late'])) });
    await loop.appendReply(await loop.send());
    await loop.compact();
    loop.append([{ role: 'tool', tool_call_id: 'late', content: 'the result' } as ChatMessage]);
    expect(validateOpenAiChat(await loop.prepare())).toEqual([]);
    expect(JSON.stringify(loop.request)).toContain('the result');
  });

  it('gives a tool that is interrupted by the user its real result when it comes, also after a compaction', async () => {
    const { loop } = createLoop({ when: 'never' });
    await loop.compact();
    const [call, result] = toolTurn('slow', 'the real result');
    loop.append([call!, { role: 'user', content: 'Also do that.' }]);
    loop.append([result!]);
    const sent = JSON.stringify(await loop.prepare());
    expect(validateOpenAiChat(await loop.prepare())).toEqual([]);
    expect(sent).toContain('the real result');
    expect(sent).not.toMatch(/interrupted|whose call is missing/);
  });

  it('runs no call of a reply without a natural end', async () => {
    for (const finish of ['length', 'content_filter', null]) {
      const { loop } = createLoop();
      const { calls } = await loop.appendReply(says(null, finish, { tool_calls: [toolCall('c')] }));
      expect(calls).toEqual([]);
    }
    const claude = new AutoCompactingLoop(
      { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'Go.' }] },
      { adapter: anthropicMessages(), when: 'never' },
    );
    const cut = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'wipe', input: {} }],
      stop_reason: 'max_tokens',
    };
    const { calls, finish } = await claude.appendReply(cut as never); // the fields of a reply that matter here
    expect([finish, calls]).toEqual(['length', []]);
    expect(JSON.stringify(claude.request)).not.toContain('wipe');
  });

  it('refuses what is no reply and what is no list of items', async () => {
    const { loop } = createLoop();
    await expect(loop.appendReply(undefined as never)).rejects.toMatchObject({ code: 'invalid-request' });
    expect(() => loop.append({ role: 'user', content: 'x' } as never)).toThrow('array of native items');
  });

  it('checks with the fields of this one request, and learns nothing from a one-shot', async () => {
    const { loop, model } = createLoop({ budget: { countTokens: (text) => text.length / 4, thresholdRatio: 0.5 } });
    await loop.send();
    expect(model.summaries).toEqual([]);
    await loop.send({ params: { max_completion_tokens: 9000 } });
    expect(model.summaries).toHaveLength(1);

    const other = createLoop({ when: 'never', turn: answers(says('Title.')) });
    const before = other.loop.estimate().sources.tokens;
    await other.loop.send({ oneShot: true });
    expect(other.loop.estimate().sources.tokens).toBe(before);
  });

  it('leaves an odd Anthropic request as it is while nothing is compacted', async () => {
    const messages = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Wait.' },
          { type: 'tool_result', tool_use_id: 't1', content: 'x' },
        ],
      },
      { role: 'assistant', content: [] },
      { role: 'user', content: 'More.' },
    ];
    const loop = new AutoCompactingLoop(
      { model: 'claude', max_tokens: 10, messages },
      { adapter: anthropicMessages(), when: 'never' },
    );
    expect(loop.request.messages).toEqual(messages);
    loop.append([
      { role: 'assistant', content: 'Ok.' },
      { role: 'user', content: 'On.' },
    ]);
    expect((await loop.prepare()).messages.slice(0, 5)).toEqual(messages);
  });
});

describe('thinking', () => {
  const request = {
    model: 'claude-sonnet-4-5',
    max_tokens: 12_000,
    thinking: { type: 'enabled' as const, budget_tokens: 10_000 },
    messages: [
      { role: 'user', content: 'Begin.' },
      { role: 'assistant', content: 'a'.repeat(139_000) },
      { role: 'user', content: 'Go on.' },
    ],
  };

  it.each([false, true])('fits the window together with the request and the summary (stream: %s)', async (stream) => {
    const sent: { max_tokens: number }[] = [];
    const compactor = createCompactor({
      adapter: anthropicMessages(),
      contextWindow: 50_000,
      budget: { countTokens: (text: string) => Math.ceil(text.length / 4) },
      send: async (summary: typeof request) => {
        sent.push(summary);
        return { role: 'assistant', content: [{ type: 'text', text: '## Goal\nShip it.' }], stop_reason: 'end_turn' } as never;
      },
    });
    const estimate = compactor.estimate(request).tokens;
    await compactor.prepare({ ...request, stream });
    expect(sent).toHaveLength(1);
    expect(sent[0]!.max_tokens).toBeGreaterThan(10_000);
    expect(sent[0]!.max_tokens + estimate).toBeLessThanOrEqual(50_000);
  });
});

import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChatRequest } from '../../src/adapters/openai-chat.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';
import type { ChatOptions } from '../support/harness.ts';
import { longConversation } from '../support/scripted-model.ts';

const state = vi.hoisted(() => ({ loads: 0, fails: false, counted: [] as string[] }));

vi.mock('../../src/budget/tokenizer.ts', () => ({
  async loadTokenCounter() {
    state.loads++;
    if (state.fails) throw new Error('no tables here');
    return (text: string) => {
      state.counted.push(text);
      return Math.ceil(text.length / 5);
    };
  },
}));

beforeEach(() => {
  vi.resetModules(); // the counter is loaded once in a process: each test is a process of its own
  Object.assign(state, { loads: 0, fails: false, counted: [] });
});

const summarizer: Summarizer = async () => ({ text: '## Goal\nShip it.' });
const text = (words: number): string => 'word '.repeat(words);
const answered = (words: number): ChatRequest => ({
  model: 'gpt-5',
  messages: [
    { role: 'user', content: text(words) },
    { role: 'assistant', content: 'Fine.' },
    { role: 'user', content: 'And?' },
  ],
});

async function start(options: Partial<ChatOptions> = {}) {
  const { createCompactor } = await import('../../src/compactor.ts');
  return createCompactor({ adapter: openaiChat(), contextWindow: 10_000, summary: { summarizer }, ...options });
}

describe('the default counter', () => {
  it('is not loaded while the bytes alone say that there is room', async () => {
    const compactor = await start();
    const request = answered(1000); // 5,000 bytes; the threshold is 5,314 tokens
    expect(await compactor.prepare(request)).toBe(request);
    await compactor.plan(request);
    expect(state.loads).toBe(0);
    expect(compactor.estimate(request)).toMatchObject({ counter: 'bytes', sources: { tokens: 'estimate' } });
  });

  it('is loaded once when the bytes cannot decide, and decides then', async () => {
    const compactor = await start();
    const request = answered(2000); // 10,000 bytes, 2,000 tokens
    expect(await compactor.prepare(request)).toBe(request);
    expect(state.loads).toBe(1);
    expect(compactor.estimate(request)).toMatchObject({ counter: 'tokenizer' });
    await compactor.prepare(answered(2500));
    const other = await start();
    await other.prepare(answered(2500));
    expect(state.loads).toBe(1);
  });

  it('compacts where the tokenizer says so', async () => {
    const compactor = await start();
    const request = answered(5500);
    expect(await compactor.prepare(request)).not.toBe(request);
    expect(state.loads).toBe(1);
  });

  it('is not asked for what the provider has counted', async () => {
    const compactor = await start();
    const request = answered(2000);
    compactor.observe(request, { usage: { inputTokens: 2100 } });
    await compactor.prepare(request);
    expect(state.loads).toBe(0);
  });

  it('gives way to the bytes where it cannot be loaded', async () => {
    state.fails = true;
    const compactor = await start();
    const request = answered(2000);
    expect(await compactor.prepare(request)).toBe(request); // 3,340 by bytes
    expect(compactor.estimate(request).counter).toBe('bytes');
    const large = answered(4000);
    expect(await compactor.prepare(large)).not.toBe(large); // 6,673 by bytes
  });

  it('gives way to the caller’s counter, and is never loaded then', async () => {
    const compactor = await start({ budget: { countTokens: (counted) => counted.length } });
    const request = answered(2000);
    expect(await compactor.prepare(request)).not.toBe(request);
    expect(compactor.estimate(request).counter).toBe('custom');
    expect(state.loads).toBe(0);
  });

  it('is loaded for a compaction that is asked for', async () => {
    const compactor = await start();
    await compactor.compact(longConversation());
    expect(state.loads).toBe(1);
  });

  it('is never loaded by synchronous calls', async () => {
    const { estimateBudget } = await import('../../src/budget/estimate.ts');
    expect(estimateBudget(answered(5500), { adapter: openaiChat(), contextWindow: 10_000 })).toMatchObject({
      counter: 'bytes',
      overThreshold: true,
    });
    expect((await start()).estimate(answered(5500)).counter).toBe('bytes');
    expect(state.loads).toBe(0);
  });

  it('counts each text once', async () => {
    const compactor = await start();
    const request = answered(2000);
    await compactor.prepare(request);
    await compactor.prepare(structuredClone(request));
    compactor.estimate(request);
    expect(state.counted).toEqual([text(2000), 'Fine.', 'And?']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { estimateBudget } from '../../src/budget/estimate.ts';
import { CompactionError } from '../../src/errors.ts';
import type { Message } from '../../src/message.ts';

const text = (role: Message['role'], content: string): Message => ({ role, parts: [{ type: 'text', text: content }] });

describe('estimateBudget', () => {
  it('counts a third of the bytes of neutral messages, by role', () => {
    const { tokens, breakdown, counter, sources } = estimateBudget([
      text('system', 'abc'),
      text('user', 'abcdef'),
      text('assistant', 'é'),
    ]);
    expect(breakdown).toEqual({ system: 5, tools: 0, user: 6, assistant: 5, tool: 0, media: 0, opaque: 0 });
    expect(tokens).toBe(16);
    expect(counter).toBe('bytes');
    expect(sources).toEqual({ contextWindow: 'default', inputBudget: 'default', threshold: 'default', tokens: 'estimate' });
  });

  it('tells where the threshold and the budget are passed', () => {
    const at = (length: number) => estimateBudget([text('user', 'x'.repeat(length * 3 - 12))], { contextWindow: 100_000 });
    expect(at(85_499)).toMatchObject({ tokens: 85_499, overThreshold: false, overBudget: false, remaining: 9501 });
    expect(at(85_500)).toMatchObject({ overThreshold: true, overBudget: false, fraction: 0.9 });
    expect(at(95_000)).toMatchObject({ overBudget: false, remaining: 0 });
    expect(at(95_001)).toMatchObject({ overBudget: true, remaining: 0 });
  });

  it('counts system, tools and messages of a native request, and makes room for its output cap', () => {
    const request = {
      model: 'gpt-5',
      max_completion_tokens: 50_000,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads a file.', parameters: { type: 'object' } } }],
    };
    const estimate = estimateBudget(request, { adapter: openaiChat(), contextWindow: 128_000 });
    expect(estimate.inputBudget).toBe(78_000);
    expect(estimate.breakdown.tools).toBeGreaterThan(20);
    expect(estimate.breakdown.system).toBeGreaterThan(0);
    expect(estimate.tokens).toBe(Object.values(estimate.breakdown).reduce((sum, tokens) => sum + tokens));
    const bare = estimateBudget({ ...request, tools: undefined }, { adapter: openaiChat(), contextWindow: 128_000 });
    expect(bare.breakdown.tools).toBe(0);
  });

  it('uses the counter of the caller for all text', () => {
    const estimate = estimateBudget([text('user', 'any text'), text('assistant', 'more')], { countTokens: () => 1000 });
    expect(estimate).toMatchObject({ tokens: 2008, counter: 'custom' });
  });

  it('names what is wrong with its input', () => {
    expect(() => estimateBudget({} as never)).toThrow(CompactionError);
    expect(() => estimateBudget({ messages: 'no' } as never, { adapter: openaiChat() })).toThrow(CompactionError);
    expect(() => estimateBudget([], { contextWindow: -1 })).toThrow('`contextWindow`');
  });

  it('grows with every part that is added, and never with the bytes of an image', () => {
    const image = (data: string): Message => ({
      role: 'user',
      parts: [{ type: 'media', kind: 'image', width: 800, height: 600, value: { type: 'image_url', image_url: { url: data } } }],
    });
    const one = estimateBudget([image('data:image/png;base64,AAAA')]).tokens;
    expect(one).toBeGreaterThan(80);
    expect(estimateBudget([image(`data:image/png;base64,${'A'.repeat(3_300_000)}`)]).tokens).toBe(one);
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 8 }), fc.string({ minLength: 1 }), (texts, added) => {
        const messages = texts.map((content) => text('user', content));
        expect(estimateBudget([...messages, text('tool', added)]).tokens).toBeGreaterThan(estimateBudget(messages).tokens);
      }),
    );
  });

  it('B132: structured results and opaque parts are counted', () => {
    const json = (value: unknown): Message => ({
      role: 'tool',
      parts: [{ type: 'toolResult', callId: 'c', content: [{ type: 'native', value }] }],
    });
    const rows = Array.from({ length: 200 }, (_, id) => ({ id, name: `row ${id}` }));
    expect(estimateBudget([json({ rows })]).tokens).toBeGreaterThan(1000);
  });
});

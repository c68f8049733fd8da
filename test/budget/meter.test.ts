import { beforeAll, describe, expect, it } from 'vitest';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { mediaTokens } from '../../src/budget/media-cost.ts';
import { createMeter } from '../../src/budget/meter.ts';
import { countBytesByThree, utf8Length } from '../../src/budget/token-counter.ts';
import { createItemReader } from '../../src/history/reading.ts';
import { readRequest } from '../../src/history/view.ts';
import { countTokens, longConversation, readTool, toolTurn } from '../support/scripted-model.ts';
import { chatView, claudeView } from '../support/views.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const answer = (content: string): ChatMessage => ({ role: 'assistant', content });
const messages = longConversation().messages;
const tools = [readTool];

/** A counter that remembers what it was asked. */
function spy(): { meter: ReturnType<typeof createMeter>; asked: string[]; asks: (work: () => unknown) => string[] } {
  const asked: string[] = [];
  const meter = createMeter('openai', (text) => {
    asked.push(text);
    return countTokens(text);
  });
  return {
    meter,
    asked,
    asks(work) {
      asked.length = 0;
      work();
      return [...asked];
    },
  };
}

describe('what is counted', () => {
  it('is each item once, and in a step what is new', () => {
    const { meter, asks } = spy();
    const view = () => chatView(messages, { tools });
    expect(asks(() => meter.measure(view())).length).toBeGreaterThan(messages.length);
    expect(asks(() => meter.measure(view()))).toEqual([]);
    expect(asks(() => meter.breakdown(view(), 1000))).toEqual([]);
    expect(asks(() => meter.countReadings(view().body, 'gpt-5'))).toEqual([]);
    const grown = chatView([...messages, answer('A new answer.'), user('A new question.')], { tools });
    expect(asks(() => meter.measure(grown))).toEqual(['A new answer.', 'A new question.']);
  });

  it('is not counted again in clones, nor under a new cache marker', () => {
    const { meter, asks } = spy();
    meter.measure(chatView(messages, { tools }));
    expect(asks(() => meter.measure(chatView(structuredClone(messages), { tools: structuredClone(tools) })))).toEqual([]);
    const marked = messages.map((message) =>
      typeof message.content === 'string' && message.role === 'user'
        ? { ...message, content: [{ type: 'text', text: message.content, cache_control: { type: 'ephemeral' } }] }
        : message,
    );
    expect(asks(() => meter.measure(chatView(marked, { tools })))).toEqual([]);
  });

  it('is counted again where an item or a tool was edited in place', () => {
    const { meter, asks } = spy();
    const message = { role: 'user', content: 'One.' };
    const edited = [{ ...readTool, function: { ...readTool.function } }];
    const read = createItemReader(openaiChat());
    const view = () => readRequest(openaiChat(), read, { model: 'gpt-5', messages: [message], tools: edited });
    const before = meter.measure(view()).tokens;
    message.content = 'Another text, which is longer.';
    expect(asks(() => meter.measure(view()))).toEqual(['Another text, which is longer.']);
    expect(meter.measure(view()).tokens).toBeGreaterThan(before);
    Object.assign(edited[0]!.function, { description: 'Reads a file, or a part of it.' });
    expect(asks(() => meter.measure(view()))).toEqual([expect.stringContaining('or a part of it')]);
  });

  it('is system, tools and messages, wherever the provider has them', () => {
    const { meter } = spy();
    const bare = meter.measure(chatView([user('Hi.')])).tokens;
    const withTools = meter.measure(chatView([user('Hi.')], { tools })).tokens;
    const withSystem = meter.measure(chatView([{ role: 'system', content: 's'.repeat(400) }, user('Hi.')])).tokens;
    expect(withTools - bare).toBe(countTokens(JSON.stringify(tools)));
    expect(withSystem - bare).toBe(100 + 4);
    expect(meter.measure(chatView([user('Hi.')], { tools: [] })).tokens).toBe(bare);
    const claude = meter.measure(claudeView([{ role: 'user', content: 'Hi.' }])).tokens;
    expect(meter.measure(claudeView([{ role: 'user', content: 'Hi.' }], { system: 's'.repeat(400) })).tokens - claude).toBe(100);
    expect(meter.measure(claudeView([{ role: 'user', content: 'Hi.' }], { system: [] })).tokens).toBe(claude);
  });

  it('B133: changes at once with the set of tools', () => {
    const { meter } = spy();
    const many = Array.from({ length: 60 }, (_, index) => ({
      ...readTool,
      function: { ...readTool.function, name: `tool_${index}`, description: 'd'.repeat(2000) },
    }));
    expect(meter.measure(chatView([user('Hi.')], { tools: many })).tokens).toBeGreaterThan(30_000);
    expect(meter.measure(chatView([user('Hi.')], { tools: many.slice(0, 30) })).tokens).toBeLessThan(20_000);
  });

  it('B125: is a price for an image, never its bytes', () => {
    const { meter, asks } = spy();
    const image = (data: string) =>
      chatView([{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] }]);
    const small = meter.measure(image('AAAA')).tokens;
    const texts = asks(() => expect(meter.measure(image('A'.repeat(3_300_000))).tokens).toBe(small));
    expect(texts.join('').length).toBeLessThan(100);
    expect(small).toBeGreaterThan(64);
    expect(small).toBeLessThan(5000);
    expect(meter.upperBound(image('A'.repeat(3_300_000)))).toBeLessThan(5000);
  });

  it('has the caller’s counter for all text, unscaled', () => {
    const meter = createMeter('anthropic', () => 1000);
    expect(meter.measure(claudeView([{ role: 'user', content: 'any' }], { model: 'claude-opus-4-7' }))).toEqual({
      tokens: 1004,
      estimated: 1004,
      source: 'estimate',
      counter: 'custom',
    });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, undefined, null, '5', Promise.resolve(5)])(
    'is refused where a counter says %s',
    (said) => {
      const meter = createMeter('openai', () => said as never); // a caller's mistake
      expect(() => meter.measure(chatView([user('Hi.')]))).toThrow('Expected `countTokens` to return a number of tokens');
    },
  );

  it('names surroundings that cannot be read', () => {
    const cyclic: Record<string, unknown> = { type: 'function' };
    cyclic.parameters = cyclic;
    const { meter } = spy();
    expect(() => meter.measure(chatView([user('Hi.')], { tools: [cyclic] }))).toThrow(
      'The list of tools cannot be read: Expected a value without cycles',
    );
    expect(() => meter.measure(claudeView([], { system: [cyclic as never] }))).toThrow('The system text cannot be read');
  });
});

describe('a provider’s count', () => {
  const view = chatView(messages, { tools });
  const { meter } = spy();
  const anchor = meter.anchor(view, 5000);

  it('stands for the request it was said of', () => {
    expect(meter.measure(view, anchor)).toEqual({ tokens: 5000, estimated: 0, source: 'usage', counter: 'custom' });
    expect(meter.measure(chatView(structuredClone(messages), { tools: structuredClone(tools) }), anchor).tokens).toBe(5000);
  });

  it('B134: is the base, and what came later is added', () => {
    const more = [...messages, ...toolTurn('next', 'x'.repeat(30_000))];
    const { tokens, estimated, source } = meter.measure(chatView(more, { tools }), anchor);
    expect(source).toBe('usage');
    expect(estimated).toBeGreaterThan(7500);
    expect(tokens).toBe(5000 + estimated);
    expect(meter.upperBound(chatView(more, { tools }), anchor)).toBeGreaterThanOrEqual(tokens);
  });

  const other = { model: 'gpt-4o', tools };
  const edited = messages.map((message, index) => (index === 1 ? user('Edited.') : message));
  const rule = { role: 'system', content: 'Another rule.' };
  it.each([
    ['the model', chatView(messages, other)],
    ['the tools', chatView(messages, { tools: [...tools, readTool] })],
    ['the system prompt', chatView([rule, ...messages.slice(1)], { tools })],
    ['an item of the prefix', chatView(edited, { tools })],
    ['the length: the caller went back', chatView(messages.slice(0, -1), { tools })],
  ])('is void when %s changes', (_what, changed) => {
    expect(meter.measure(changed, anchor)).toMatchObject({ source: 'estimate' });
    expect(meter.measure(changed, anchor).tokens).toBe(meter.measure(changed).tokens);
  });

  it('B147: is not taken where it cannot be about the request', () => {
    for (const tokens of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -5, 0])
      expect(meter.anchor(view, tokens)).toBeUndefined();
    const bytes = meter.upperBound(view);
    expect(meter.anchor(view, Math.floor(bytes / 64) - 1)).toBeUndefined(); // some servers count the uncached part alone
    expect(meter.anchor(view, Math.ceil(bytes / 8))).toBeDefined();
  });

  it('is plain data', () => {
    expect(meter.measure(view, JSON.parse(JSON.stringify(anchor)))).toMatchObject({ tokens: 5000, source: 'usage' });
  });

  it('B131: teaches how far the counter is off, from what was added between two requests', () => {
    const learning = createMeter('openai');
    let conversation: ChatMessage[] = [user('Start.')];
    let reported = 2000; // with 2,000 tokens that nobody sees
    let known = learning.anchor(chatView(conversation), reported);
    const estimates: number[] = [];
    const text = 'x'.repeat(3000);
    for (let round = 0; round < 12; round++) {
      conversation = [...conversation, answer(text), user('On.')];
      estimates.push(learning.measure(chatView(conversation), known).estimated);
      const added = 2 * (countBytesByThree(text) + 1 + 8); // the model has twice as many tokens
      reported += added;
      known = learning.anchor(chatView(conversation), reported, known);
      expect(known).toBeDefined();
    }
    const truth = 2 * (countBytesByThree(text) + 10);
    expect(estimates[0]).toBeLessThan(truth * 0.6);
    expect(estimates.at(-1)! / truth).toBeGreaterThan(0.9);
    expect(estimates.at(-1)! / truth).toBeLessThan(1.1);
  });

  it('learns how far a counter of the caller is off, from 1 on', () => {
    const given = createMeter('openai', countTokens);
    const view = chatView([user('x'.repeat(400))]);
    expect(given.measure(view).tokens).toBe(104);
    let known = given.anchor(chatView([user('Start.')]), 10);
    for (let round = 1; round < 50; round++) {
      const conversation = Array.from({ length: round + 1 }, () => user('x'.repeat(400)));
      known = given.anchor(chatView(conversation), 10 + round * 208, known) ?? known;
    }
    expect(given.measure(view).tokens).toBeGreaterThan(180);
    expect(given.measure(view).tokens).toBeLessThanOrEqual(208);
  });
});

describe('the upper bound', () => {
  it('is at least every estimate, and needs no counter', () => {
    const { meter, asks } = spy();
    const view = chatView([...messages, user('漢字 and emoji 😀'), answer(' '.repeat(1000))], { tools });
    expect(asks(() => meter.upperBound(view))).toEqual([]);
    expect(meter.upperBound(view)).toBeGreaterThanOrEqual(meter.measure(view).tokens);
    expect(createMeter('openai').upperBound(view)).toBe(meter.upperBound(view));
    const text = 'é'.repeat(100);
    expect(meter.upperBound(chatView([user(text)]))).toBe(utf8Length(text) + 4);
  });
});

describe('the breakdown', () => {
  it('sums to the total it is scaled to', () => {
    const { meter } = spy();
    const view = chatView(messages, { tools });
    for (const total of [0, 1, 17, 1000, 123_456]) {
      const breakdown = meter.breakdown(view, total);
      expect(Object.values(breakdown).reduce((sum, tokens) => sum + tokens)).toBe(total);
    }
    const { tool, assistant, user: ofUser } = meter.breakdown(view, 10_000);
    expect(tool).toBeGreaterThan(assistant);
    expect(assistant).toBeGreaterThan(ofUser);
  });
});

describe('with the tokenizer', () => {
  const meter = createMeter('anthropic');
  beforeAll(() => meter.load());

  it('counts with o200k, scaled for the provider', () => {
    const hello = (model: string) =>
      meter.measure(claudeView([{ role: 'user', content: 'hello world '.repeat(500) }], { model }));
    expect(hello('claude-sonnet-4-5')).toMatchObject({ counter: 'tokenizer' });
    expect(hello('claude-sonnet-4-5').tokens).toBeGreaterThan(1100);
    expect(hello('claude-opus-4-7').tokens / hello('claude-sonnet-4-5').tokens).toBeCloseTo(1.5 / 1.15, 2);
    expect(meter.count('hello world')).toBe(2);
  });

  it('prices images by the provider’s rules, unscaled', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const view = claudeView([{ role: 'user', content: [image] }]);
    const price = mediaTokens({ type: 'media', kind: 'image', value: image }, 'anthropic', 'claude-sonnet-4-5');
    expect(price).toBeGreaterThan(1000);
    expect(meter.measure(view).tokens - price).toBeLessThan(10);
    expect(meter.breakdown(view, meter.measure(view).tokens).media).toBe(price);
  });
});

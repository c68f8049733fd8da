import fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateBudget } from '../../src/budget/estimate.ts';
import { loadTokenCounter } from '../../src/budget/tokenizer.ts';
import { createCompactor } from '../../src/compactor.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { validHistory, writeEvents } from '../support/report-histories.ts';
import { imagePart } from '../support/report-items.ts';
import { countTokens, longItems, reportModel, smallOptions, told } from '../support/report-model.ts';
import { onAllShapes, withoutConversation } from '../support/report-shapes.ts';

/** Texts whose tokens are far from a fixed number of characters. */
const corpus: Record<string, string> = {
  prose: 'The build fails on Windows only, because the path of the cache holds a backslash that nobody escapes. ',
  code: 'export function pick<T>(list: readonly T[], index: number): T | undefined {\n  return list.at(index);\n}\n',
  chinese: '自动压缩会把较早的对话替换成摘要，这样请求就不会超过模型的上下文窗口，也不会丢失用户最新的要求。',
  japanese: 'ビルドが失敗する原因は、キャッシュのパスに含まれるバックスラッシュが正しくエスケープされていないことです。',
  korean: '자동 압축은 이전 대화를 요약으로 바꾸어 요청이 모델의 컨텍스트 창을 넘지 않도록 합니다.',
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈👍🏽🚀📦✅❌🔥',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg',
  json: '{"id":4711,"rows":[{"a":1,"b":null},{"a":2,"b":"x"}],"ok":true,"next":"/v2/items?page=3"}',
};

/** The request with descriptions of its tools that are so long. */
function withLongTools<Request extends object>(request: Request, characters: number): Request {
  const lengthen = (value: unknown): unknown => {
    if (typeof value === 'string') return /^(?:Tool|Function) \w+\.$/.test(value) ? 'd'.repeat(characters) : value;
    if (Array.isArray(value)) return value.map(lengthen);
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, lengthen(entry)]));
  };
  const tools = lengthen(withoutConversation(request)) as Partial<Request>; // the same fields, of the same kinds
  return { ...request, ...tools };
}

onAllShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;
  const image = (data: string) => adapter.writeMessage({ role: 'user', parts: [imagePart(shape.name, data)] });
  const sizeOf = (request: Parameters<typeof adapter.items>[0]): number =>
    estimateBudget(request, { adapter, contextWindow: 200_000 }).tokens;

  it('the property: every part that is added counts, everywhere in a request', () => {
    fc.assert(
      fc.property(validHistory, fc.nat(20), (events, at) => {
        const items = writeEvents(shape, events);
        const sizes = items.map((_, index) => sizeOf(shape.request(items.slice(0, index))));
        expect(sizes).toEqual([...sizes].sort((left, right) => left - right));
        expect(new Set(sizes).size).toBe(sizes.length);
        const added = items.toSpliced(at % items.length, 0, user('and one thing more'));
        expect(sizeOf(shape.request(added))).toBeGreaterThan(sizeOf(shape.request(items)));
        expect(sizeOf(shape.request(items))).toBeGreaterThan(sizeOf(shape.request(items, { system: '' })));
        expect(sizeOf(shape.request(items))).toBeGreaterThan(sizeOf(shape.request(items, { tools: false })));
      }),
      { numRuns: 60 },
    );
  });

  it('the property: what triggers is within a fixed band of the real count, whatever the script', async () => {
    const tokensOf = await loadTokenCounter();
    for (const text of Object.values(corpus)) {
      const long = text.repeat(Math.ceil(40_000 / text.length));
      const compactor = createCompactor({
        adapter,
        contextWindow: 1_000_000,
        budget: { threshold: 1 },
        summary: { summarizer: async () => ({ text: '' }) },
      });
      const request = shape.request([user(long), assistant('Ok.'), user('Go on.')], { model: 'unknown-model' });
      const { estimate } = await compactor.plan(request);
      expect(estimate.counter).toBe('tokenizer');
      const ratio = estimate.tokens / tokensOf(long);
      expect(ratio).toBeGreaterThanOrEqual(0.95);
      expect(ratio).toBeLessThan(1.6);
    }
  });

  it('B127: a new conversation with a large image is not compacted, and the image stays', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, {
      ...options,
      contextWindow: 128_000,
      budget: { countTokens },
      when: 'every-request',
    });
    const request = shape.request([...image('A'.repeat(3_300_000))]);
    await create(request);
    expect(model.turns[0]!.request).toBe(request);
    expect(events).toEqual([]);
    expect(create.compactor.estimate(request).breakdown.media).toBeLessThan(6000);
    const later = shape.request([...image('A'.repeat(3_300_000)), assistant('A cat.'), user('Sure?')]);
    await create(later);
    expect(model.turns[1]!.request).toBe(later);
  });

  it('B129: dense scripts are counted in the trigger as in the replacement, by tokens and not by characters', async () => {
    const tokensOf = await loadTokenCounter();
    for (const script of ['chinese', 'japanese', 'korean']) {
      const text = corpus[script]!.repeat(300);
      const request = shape.request([user(text)], { system: '', tools: false });
      expect(tokensOf(text)).toBeGreaterThan(text.length / 4 + 1000); // characters would not do
      expect(sizeOf(request)).toBeGreaterThan(tokensOf(text) / 1.4); // also before the tokenizer is loaded
    }
    // The same number decides when, and whether it was worth it.
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, contextWindow: 40_000, budget: {} });
    const text = corpus.chinese!.repeat(600); // some 30,000 characters, over 24,000 tokens
    await create(shape.request([user('开始。'), ...calls(['c']), ...results([['c', text]])]));
    expect(told(events)).toEqual([]);
    await create(shape.request([user('开始。'), ...calls(['c']), ...results([['c', text + text]])]));
    expect(told(events)[0]).toBe('started');
  });

  it('B133: tools and system text count, and a change of the tools counts at once', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape, [], () => shape.reply({ text: 'Ok.', inputTokens: 1000 }));
    const create = withAutoCompaction(model.send, {
      ...options,
      contextWindow: 40_000,
      budget: { threshold: 25_000, countTokens },
    });
    const items = [...longItems(shape), assistant('Ok.'), user('More.')];
    await create(shape.request(items));
    expect(events).toEqual([]);
    const request = withLongTools(shape.request([...items, assistant('Ok.'), user('More.')]), 60_000);
    expect(create.compactor.estimate(request).breakdown.tools).toBeGreaterThan(20_000);
    expect(create.compactor.estimate(request).overThreshold).toBe(true);
    await create(request);
    expect(told(events)[0]).toBe('started');
  });

  it('B134: results that came after the last usage count before the next request', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape, [], () => shape.reply({ text: 'Ok.', inputTokens: 9000 }));
    const create = withAutoCompaction(model.send, {
      ...options,
      contextWindow: 40_000,
      budget: { threshold: 10_000, countTokens },
    });
    const items = [user('Begin.'), assistant('Ok.'), user(`More. ${'e'.repeat(30_000)}`)];
    await create(shape.request(items));
    expect(create.compactor.estimate(shape.request(items))).toMatchObject({ tokens: 9000, sources: { tokens: 'usage' } });
    const next = [...items, ...calls(['c']), ...results([['c', 'f'.repeat(12_000)]])];
    expect(create.compactor.estimate(shape.request(next)).tokens).toBeGreaterThan(12_000);
    await create(shape.request(next));
    expect(told(events)).toEqual(['started', 'applied']);
  });
});

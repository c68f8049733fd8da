import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { type ProviderName, providerKits } from '../../src/testing/provider-kits.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { countTokens, longItems, reportModel, smallOptions, told } from '../support/report-model.ts';
import { onAllShapes } from '../support/report-shapes.ts';

/** Tokens of one request: what the cache did not have, what it had, what it was given, and the answer. */
interface Counted {
  fresh: number;
  read: number;
  written: number;
  output: number;
}

/** The usage of such a request as each provider, or a plugin for it, reports it. */
const reported: [from: string, name: ProviderName, usage: (counted: Counted) => object, told: 'all' | 'read' | 'none'][] = [
  [
    'OpenAI Chat',
    'openai-chat',
    ({ fresh, read, written, output }) => ({
      usage: {
        prompt_tokens: fresh + read + written,
        completion_tokens: output,
        total_tokens: fresh + read + written + output,
        prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written, audio_tokens: 0 },
      },
    }),
    'all',
  ],
  ...(['openai-responses', 'openai-codex'] as const).map((name): (typeof reported)[number] => [
    name,
    name,
    ({ fresh, read, written, output }) => ({
      usage: {
        input_tokens: fresh + read + written,
        input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
        output_tokens: output,
        total_tokens: fresh + read + written + output,
      },
    }),
    'all',
  ]),
  [
    'Anthropic',
    'anthropic',
    ({ fresh, read, written, output }) => ({
      usage: {
        input_tokens: fresh,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        output_tokens: output,
      },
    }),
    'all',
  ],
  [
    'Anthropic, compacting by itself',
    'anthropic',
    ({ fresh, read, written, output }) => ({
      usage: {
        input_tokens: 7,
        output_tokens: 7,
        iterations: [
          { type: 'message', input_tokens: 180_000, output_tokens: 3 },
          { type: 'compaction', input_tokens: 190_000, output_tokens: 900 },
          {
            type: 'message',
            input_tokens: fresh,
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
            output_tokens: output,
          },
        ],
      },
    }),
    'all',
  ],
  [
    'Bedrock',
    'bedrock',
    ({ fresh, read, written, output }) => ({
      usage: {
        inputTokens: fresh,
        outputTokens: output,
        totalTokens: fresh + read + written + output,
        cacheReadInputTokens: read,
        cacheWriteInputTokens: written,
      },
    }),
    'all',
  ],
  [
    'Genkit over OpenAI',
    'genkit',
    ({ fresh, read, written, output }) => ({
      usage: {
        inputTokens: fresh + read + written,
        outputTokens: output,
        totalTokens: fresh + read + written + output,
      },
    }),
    'none',
  ],
  [
    'Genkit over Gemini',
    'genkit',
    ({ fresh, read, written, output }) => ({
      usage: {
        inputTokens: fresh + read + written,
        outputTokens: output,
        totalTokens: fresh + read + written + output,
        cachedContentTokens: read,
      },
    }),
    'read',
  ],
  [
    'Genkit over Anthropic',
    'genkit',
    ({ fresh, read, written, output }) => ({
      usage: {
        inputTokens: fresh,
        outputTokens: output,
        custom: { cache_read_input_tokens: read, cache_creation_input_tokens: written },
      },
    }),
    'all',
  ],
  [
    'Gemini',
    'google-genai',
    ({ fresh, read, written, output }) => ({
      usageMetadata: {
        promptTokenCount: fresh + read + written,
        cachedContentTokenCount: read,
        candidatesTokenCount: output,
        totalTokenCount: fresh + read + written + output,
      },
    }),
    'read',
  ],
  [
    'AI SDK',
    'ai-sdk',
    ({ fresh, read, written, output }) => ({
      usage: {
        inputTokens: { total: fresh + read + written, noCache: fresh, cacheRead: read, cacheWrite: written },
        outputTokens: { total: output, text: output, reasoning: 0 },
      },
    }),
    'all',
  ],
  [
    'LangChain',
    'langchain',
    ({ fresh, read, written, output }) => ({
      usage_metadata: {
        input_tokens: fresh + read + written,
        output_tokens: output,
        total_tokens: fresh + read + written + output,
        input_token_details: { cache_read: read, cache_creation: written },
      },
    }),
    'all',
  ],
];

it.each(reported)(
  'the property: the same conversation has the same size in the usage of %s, cached or not',
  (_from, name, report, told) => {
    // Each kit is sound in itself; a list of them has no common type.
    const kit = providerKits[name] as ProviderKit<object, object, object>;
    const tokens = fc.nat(500_000);
    const counted = fc.record({ fresh: tokens, read: tokens, written: tokens, output: fc.nat(10_000) });
    fc.assert(
      fc.property(counted, (one) => {
        const total = one.fresh + one.read + one.written;
        fc.pre(total > 0);
        const usage = kit.adapter.usage(Object.assign(kit.reply({ text: 'Ok.' }), report(one)));
        expect(usage).toMatchObject({ inputTokens: total, outputTokens: one.output });
        expect(usage?.cachedInputTokens ?? 0).toBe(told === 'none' ? 0 : one.read);
        expect(usage?.cacheWriteTokens ?? 0).toBe(told === 'all' ? one.written : 0);
      }),
    );
  },
);

it('B141: what was read from the cache is counted once', () => {
  const one = { fresh: 184_704 - 183_936, read: 183_936, written: 0, output: 49 };
  for (const [, name, report] of reported) {
    const kit = providerKits[name] as ProviderKit<object, object, object>; // see above
    const usage = kit.adapter.usage(Object.assign(kit.reply({ text: 'Ok.' }), report(one)));
    expect((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)).toBe(184_753);
  }
});

it('B148: a total that is not the sum of its parts is not believed', () => {
  const one = { fresh: 30_000, read: 8000, written: 1000, output: 1000 };
  for (const [, name, report] of reported) {
    const kit = providerKits[name] as ProviderKit<object, object, object>; // see above
    const odd = JSON.parse(JSON.stringify(report(one), (key, value) => (/^total_?token/i.test(key) ? 210_000 : value)));
    const usage = kit.adapter.usage(Object.assign(kit.reply({ text: 'Ok.' }), odd));
    expect(usage).toMatchObject({ inputTokens: 39_000, outputTokens: 1000 });
  }
});

/** The value with other things in the place of its numbers, one after the other. */
function withNumbers(value: object, others: unknown[]): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      if (typeof entry === 'number') return [key, others.shift()];
      if (Array.isArray(entry)) return [key, entry.map((one) => withNumbers(one, others))];
      return [key, typeof entry === 'object' && entry !== null ? withNumbers(entry, others) : entry];
    }),
  );
}

onAllShapes((shape) => {
  const { user, assistant, calls, results } = shape;

  it('the property: usage of any kind neither stops nor forces a compaction', async () => {
    const field = fc.constantFrom(undefined, null, 0, Number.NaN, -5, 'many', {}, Number.POSITIVE_INFINITY, 1e300, 7);
    const forms = reported.flatMap(([, name, report]) => (name === shape.name ? [report] : []));
    const anyUsage = fc.tuple(fc.constantFrom(...forms), fc.array(field, { minLength: 12, maxLength: 12 }));
    await fc.assert(
      fc.asyncProperty(anyUsage, async ([report, values]) => {
        const usage = withNumbers(report({ fresh: 1, read: 1, written: 1, output: 1 }), [...values]);
        const { options, events } = smallOptions(shape);
        const model = reportModel(shape, [], () => ({ ...shape.reply({ text: 'Ok.' }), ...usage }));
        const create = withAutoCompaction(model.send, options);
        const small = [user('Begin.'), assistant('Ok.'), user('More.')];
        await create(shape.request(small));
        const { tokens } = create.compactor.estimate(shape.request(small));
        expect(Number.isFinite(tokens) && tokens >= 1).toBe(true);
        const items = [...small, ...calls(['c']), ...results([['c', 'a'.repeat(4000)]])];
        expect(create.compactor.estimate(shape.request(items)).tokens).toBeGreaterThan(1000);
        await create(shape.request(items));
        expect(told(events)).toEqual(['started', 'applied']);
      }),
      { numRuns: 60 },
    );
  });

  it('the property: what a host observes of a stream is believed only where it can be', async () => {
    const { options } = smallOptions(shape);
    const { compactor } = withAutoCompaction(reportModel(shape).send, options);
    const request = shape.request([user('Begin.'), assistant('a'.repeat(4000)), user('More.')]);
    const { tokens } = compactor.estimate(request);
    for (const inputTokens of [0, -1, 3, Number.NaN, Number.POSITIVE_INFINITY]) {
      compactor.observe(request, { usage: { inputTokens } });
      expect(compactor.estimate(request)).toMatchObject({ tokens, sources: { tokens: 'estimate' } });
    }
    compactor.observe(request, { usage: { inputTokens: 900 } });
    expect(compactor.estimate(request)).toMatchObject({ tokens: 900, sources: { tokens: 'usage' } });
  });

  it('B145: without any usage the estimate triggers', async () => {
    for (const inputTokens of [null, 0]) {
      const { options, events } = smallOptions(shape);
      const model = reportModel(shape, [], () => shape.reply({ text: 'Ok.', inputTokens }));
      const create = withAutoCompaction(model.send, options);
      const items = [user('Begin.'), assistant('Ok.'), user('More.')];
      await create(shape.request(items));
      await create(shape.request([...items, ...longItems(shape).slice(1)]));
      expect(told(events)).toEqual(['started', 'applied']);
    }
  });

  it('B147: after an overflow the size is not taken from the error, nor from anything but the meter', async () => {
    const { options, events } = smallOptions(shape);
    const overflow = Object.assign(new Error('prompt is too long: 10001 tokens > 10000 maximum'), { status: 400 });
    const model = reportModel(shape, [], () => {
      throw overflow;
    });
    const create = withAutoCompaction(model.send, { ...options, budget: { threshold: 5000, countTokens } });
    const request = shape.request(longItems(shape));
    const { tokens } = create.compactor.estimate(request);
    await expect(create(request)).rejects.toBe(overflow);
    expect(create.compactor.estimate(request)).toMatchObject({ tokens, sources: { tokens: 'estimate' } });
    await create.compactor.compact(request);
    const after = create.compactor.estimate(request);
    expect(after.tokens).toBeLessThan(tokens / 3);
    expect(after.sources.tokens).toBe('estimate');
    expect(events).toEqual([]);
  });
});

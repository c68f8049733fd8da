import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { countTokens, longItems, reportModel, smallOptions, told } from '../support/report-model.ts';
import { onBothShapes } from '../support/report-shapes.ts';

it('the property: the same conversation has the same size in the usage of both providers, cached or not', () => {
  fc.assert(
    fc.property(fc.nat(500_000), fc.nat(500_000), fc.nat(500_000), fc.nat(10_000), (fresh, read, written, output) => {
      const total = fresh + read + written;
      fc.pre(total > 0);
      const chat = openaiChat().usage({
        choices: [],
        usage: { prompt_tokens: total, completion_tokens: output, prompt_tokens_details: { cached_tokens: read } },
      });
      const anthropic = anthropicMessages().usage({
        content: [],
        stop_reason: 'end_turn',
        usage: {
          input_tokens: fresh,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: written,
          output_tokens: output,
        },
      });
      expect(chat?.inputTokens).toBe(total);
      expect(anthropic?.inputTokens).toBe(total);
      expect(chat?.cachedInputTokens ?? 0).toBe(anthropic?.cachedInputTokens ?? 0);
      expect(chat?.outputTokens).toBe(anthropic?.outputTokens);
    }),
  );
});

onBothShapes((shape) => {
  const { user, assistant, calls, results } = shape;

  it('the property: usage of any kind neither stops nor forces a compaction', async () => {
    const field = fc.constantFrom(undefined, null, 0, Number.NaN, -5, 'many', {}, Number.POSITIVE_INFINITY, 1e300, 7);
    const anyUsage = fc.record(
      Object.fromEntries(
        ['prompt_tokens', 'completion_tokens', 'total_tokens', 'input_tokens', 'output_tokens', 'cache_read_input_tokens'].map(
          (name) => [name, field],
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(anyUsage, async (usage) => {
        const { options, events } = smallOptions(shape);
        const model = reportModel(shape, [], () => ({ ...shape.reply({ text: 'Ok.' }), usage }));
        const create = withAutoCompaction(model.send, options);
        const small = [user('Begin.'), assistant('Ok.'), user('More.')];
        await create(shape.request(small));
        const { tokens } = create.compactor.estimate(shape.request(small));
        expect(Number.isFinite(tokens) && tokens >= 1).toBe(true);
        const items = [...small, calls(['c']), ...results([['c', 'a'.repeat(4000)]])];
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

import { describe, expect, it } from 'vitest';
import { createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import type { ProviderKit } from '../src/testing/provider-kit.ts';
import { providerKits } from '../src/testing/provider-kits.ts';
import { scriptedModel } from '../src/testing/scripted-model.ts';
import { lifecycleOf } from './support/harness.ts';

describe.each(Object.keys(providerKits) as (keyof typeof providerKits)[])('%s', (name) => {
  // Each kit is sound in itself; a list of them has no common type.
  const kit = providerKits[name] as unknown as ProviderKit<object, object, unknown>;

  /** Everything would be compacted, if there were something: the instructions alone are over the threshold. */
  function start() {
    const events: CompactionEvent[] = [];
    const model = scriptedModel(kit);
    const compactor = createCompactor({
      adapter: kit.adapter,
      contextWindow: 16_000,
      budget: { threshold: 10 },
      when: 'every-request',
      send: model.send,
      onEvent: (event) => void events.push(event),
    });
    return { compactor, model, events, request: kit.request([], { system: 'Be exact. '.repeat(50) }) };
  }

  it('V44: an empty conversation stays empty, and no model is asked', async () => {
    const { compactor, model, events, request } = start();
    expect(compactor.estimate(request).overThreshold).toBe(true);
    expect(await compactor.prepare(request)).toBe(request);
    expect(await compactor.fit(request)).toEqual({ outcome: 'cleared', request });
    expect(await compactor.plan(request)).toMatchObject({ wouldCompact: false, summarized: { items: 0, tokens: 0 } });
    const loop = compactor.loop(request);
    const { length } = kit.adapter.items(loop.request);
    await loop.prepare();
    expect(kit.adapter.items(loop.request)).toHaveLength(length);
    expect([model.summaries, lifecycleOf(events)]).toEqual([[], []]);
  });

  it('V44: nor is one by hand: a typed error says that there is nothing', async () => {
    const { compactor, model, request } = start();
    const before = structuredClone(kit.adapter.items(request));
    await expect(compactor.compact(request)).rejects.toMatchObject({ code: 'nothing-to-compact' });
    expect(kit.adapter.items(request)).toEqual(before);
    expect(model.summaries).toEqual([]);
  });
});

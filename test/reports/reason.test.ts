import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { deferred } from '../support/deferred.ts';
import { goodSummary, occurrences, reportModel, smallOptions, told } from '../support/report-model.ts';
import { anthropicResult, anthropicShape, block } from '../support/report-shapes.ts';

const { user, assistant } = anthropicShape;

const thinking = (text: string): { type: string } => block({ type: 'thinking', thinking: text, signature: `signed_${text}` });
const redacted = (text: string): { type: string } => block({ type: 'redacted_thinking', data: `sealed_${text}` });
const called = (id: string): { type: string } => block({ type: 'tool_use', id, name: 'read', input: {} });
const result = (id: string, text: string) => ({ role: 'user', content: [anthropicResult(id, text)] });

/** One question and so many rounds of tools, each with thinking of its own. */
function rounds(count: number, characters = 1000) {
  const items = Array.from({ length: count }, (_, number) => [
    { role: 'assistant', content: [thinking(`t${number}`), redacted(`r${number}`), called(`c${number}`)] },
    result(`c${number}`, 'a'.repeat(characters)),
  ]);
  return [user('Do all of it.'), ...items.flat()];
}

const request = (items: Parameters<typeof anthropicShape.request>[0], model = 'claude-sonnet-4-5') => ({
  ...anthropicShape.request(items, { model, cap: 4000 }),
  thinking: { type: 'enabled', budget_tokens: 1024 },
});

describe('thinking', () => {
  it('the property: wherever the cut, sealed blocks are the same, in their own message, or gone', async () => {
    const items = [...rounds(4), assistant('Done.'), user('Thanks.')];
    const known = new Map(
      items.flatMap(({ content }, index) => (Array.isArray(content) ? content.map((entry) => [entry, index] as const) : [])),
    );
    for (let cut = 2; cut < items.length; cut++) {
      const { options } = smallOptions(anthropicShape);
      const compactor = createCompactor({ ...options, when: 'never', send: reportModel(anthropicShape).send });
      await compactor.compact(request(items.slice(0, cut)), { conversation: 'a' });
      for (const model of ['claude-sonnet-4-5', 'claude-opus-4-1']) {
        const sent = await compactor.prepare(request(items, model), { conversation: 'a' });
        for (const { content } of sent.messages) {
          const sealed = Array.isArray(content) ? content.filter(({ type }) => type.endsWith('thinking')) : [];
          for (const entry of sealed) expect(items[known.get(entry) ?? -1]?.content).toBe(content);
        }
        for (let number = 0; number < 4; number++) {
          const count = occurrences(sent, `signed_t${number}`);
          expect(count).toBeLessThanOrEqual(1);
          expect(occurrences(sent, `sealed_r${number}`)).toBe(count);
        }
      }
    }
  });

  it('B023: the newest message of the assistant is in the summary request as it came', async () => {
    const { options, events } = smallOptions(anthropicShape);
    const model = reportModel(anthropicShape);
    const items = rounds(2, 3000);
    await withAutoCompaction(model.send, options)(request(items));
    expect(told(events)).toEqual(['started', 'applied']);
    const [asked] = model.summaries;
    for (const [index, item] of items.entries()) expect(asked!.request.messages[index]).toBe(item);
    expect(asked!.request.thinking).toEqual({ type: 'enabled', budget_tokens: 1024 });
  });

  it('B024: what was appended while a summary was written follows it in order, once, also after a restart', async () => {
    const { options } = smallOptions(anthropicShape);
    const summary = deferred();
    const model = reportModel(anthropicShape, [() => summary.promise.then(() => anthropicShape.reply({ text: goodSummary }))]);
    const loop = new AutoCompactingLoop(request(rounds(2, 3000)), { ...options, send: model.send });
    const compacting = loop.compact();
    const later = rounds(2).slice(1);
    loop.append(later.slice(0, 2));
    loop.append(later.slice(2));
    summary.resolve();
    await compacting;
    const restored = new AutoCompactingLoop(loop.request, { ...options, when: 'never' }, { snapshot: loop.snapshot() });
    for (const { messages } of [loop.request, restored.request, await restored.prepare()]) {
      expect(messages).toHaveLength(1 + later.length);
      for (const [index, item] of later.entries()) expect(messages[index + 1]).toBe(item);
    }
  });

  it('B026: after a change of the model a thinking block has its signature, or is gone', async () => {
    const { options } = smallOptions(anthropicShape);
    const model = reportModel(anthropicShape); // refuses unsigned thinking
    const loop = new AutoCompactingLoop(request(rounds(2, 3000)), { ...options, send: model.send });
    loop.update({ params: { model: 'claude-opus-4-1' } });
    await loop.compact();
    const asked = model.summaries[0]!.request;
    expect(asked.model).toBe('claude-opus-4-1');
    for (const number of [0, 1]) expect(occurrences(asked, `signed_t${number}`)).toBe(1);
    loop.append(rounds(1));
    await loop.send();
    expect(occurrences(model.turns[0]!.request, 'signed_t0')).toBe(1);
  });

  it('B027: one long turn with thinking is compacted between its rounds', async () => {
    const { options, events } = smallOptions(anthropicShape);
    const model = reportModel(anthropicShape); // wants an open tool loop to begin with thinking
    const create = withAutoCompaction(model.send, options);
    const items = rounds(60);
    for (let end = 3; end <= items.length; end += 2) await create(request(items.slice(0, end)));
    const applied = told(events).filter((end) => end === 'applied');
    expect(applied.length).toBeGreaterThan(5);
    expect(model.turns).toHaveLength(60);
    const sizes = model.turns.map((turn) => JSON.stringify(turn.request).length);
    expect(Math.max(...sizes)).toBeLessThan(8000);
  });
});

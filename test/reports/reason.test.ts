import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { isCompactionError } from '../../src/errors.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { chooseFromList } from '../../src/testing/choose.ts';
import { randomConversation } from '../../src/testing/conversation.ts';
import { openaiResponsesKit } from '../../src/testing/kits/openai-responses.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { deferred } from '../support/deferred.ts';
import { goodSummary, occurrences, reportModel, smallBudget, smallOptions, told } from '../support/report-model.ts';
import { holdersIn, tagSeals } from '../support/report-seals.ts';
import { anthropicResult, anthropicShape, block, onAllShapes } from '../support/report-shapes.ts';

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

/** Other models of the same providers, which read what was sealed for the first. */
const otherModels: Record<string, string> = {
  'openai-chat': 'gpt-5.1',
  'openai-responses': 'gpt-5.1',
  'openai-codex': 'gpt-5.1-codex',
  anthropic: 'claude-opus-4-1',
  bedrock: 'us.anthropic.claude-opus-4-1-20250805-v1:0',
  genkit: 'gemini-2.5-pro',
  'google-genai': 'gemini-3-pro-preview',
  'ai-sdk': 'gpt-5.1',
  langchain: 'gpt-5.1',
};

describe.each(Object.values(providerKits))('$name', (one) => {
  // Each kit is sound in itself; a list of them has no common type.
  const kit = one as ProviderKit<object, object, unknown>;
  const { adapter } = kit;

  it('the property: what is sealed is the same wherever it is kept, once, with all that belongs to it, also for another model', async () => {
    let kept = 0;
    const choices = fc.array(fc.nat(9999), { maxLength: 150, size: 'max' });
    await fc.assert(
      fc.asyncProperty(choices, fc.nat(), fc.boolean(), async (numbers, at, isOther) => {
        const { tagged: items, seals } = tagSeals([
          ...randomConversation(kit, chooseFromList(numbers)),
          ...adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: 'And now?' }] }),
        ]);
        const model = scriptedModel(kit);
        const compactor = createCompactor({ ...smallBudget, adapter, when: 'never', contextWindow: 1_000_000, send: model.send });
        const covered = items.slice(0, 2 + (at % (items.length - 1)));
        const error = await compactor.compact(kit.request(covered), { conversation: 'one' }).catch((reason: unknown) => reason);
        // A question and a thought about it are no conversation yet.
        fc.pre(!isCompactionError(error) || error.code !== 'nothing-to-compact');
        if (error instanceof Error) throw error;
        const rebuilt = await compactor.prepare(kit.request(items, isOther ? { model: otherModels[kit.name] } : {}), {
          conversation: 'one',
        });
        expect(kit.validate(rebuilt)).toEqual([]);
        const sent = adapter.items(rebuilt);
        for (const request of [rebuilt, ...model.summaries.map((summary) => summary.request)]) {
          // The very same objects, each once.
          for (const [seal, holders] of holdersIn(adapter.items(request), seals)) {
            expect(holders).toEqual([seals.get(seal)?.holder]);
            expect(holders[0]).toBe(seals.get(seal)?.holder);
          }
        }
        const found = holdersIn(sent, seals);
        for (const [seal, { index }] of seals) {
          expect(found.has(seal)).toBe(sent.some((item) => item === items[index]));
          kept += found.has(seal) ? 1 : 0;
        }
      }),
      { numRuns: 150 },
    );
    if (kit.name !== 'openai-chat') expect(kept).toBeGreaterThan(0);
  });
});

onAllShapes((shape) => {
  it('B023, B027: one long turn with thinking is compacted between its rounds, and each summary request has it as it came', async () => {
    const { options, events } = smallOptions(shape);
    let round = 0;
    const model = reportModel(shape, [], () =>
      shape.reply({ thinking: `Where is number ${round}?`, text: 'I will look.', calls: [`c${round}`] }),
    );
    const loop = new AutoCompactingLoop(shape.request([shape.user('Do all of it.')]), { ...options, send: model.send });
    const sizes: number[] = [];
    for (; round < 60; round++) {
      const before = shape.adapter.items(loop.request);
      const reply = await loop.send();
      const asked = model.summaries.at(-1)?.request;
      if (asked && told(events).at(-1) === 'applied' && shape.adapter.items(loop.request).length < before.length) {
        const sent = shape.adapter.items(asked);
        // Where turns alternate the instruction stands in the last message.
        for (const [index, item] of before.slice(0, -1).entries()) expect(sent[index]).toBe(item);
      }
      await loop.appendReply(reply);
      loop.append(shape.results([[`c${round}`, 'a'.repeat(1000)]]));
      sizes.push(loop.estimate().tokens);
    }
    expect(told(events).filter((end) => end === 'applied').length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(2000);
  });
});

it('B021: what reasoning led to is kept without the id of the server where the reasoning is gone', async () => {
  const { adapter, request: requestOf, validate } = openaiResponsesKit;
  const thought = (id: string) => ({ type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: 'gAAA' });
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'read', arguments: '{}', status: 'completed' };
  const found = { type: 'function_call_output', call_id: 'c1', output: 'found' };
  const searched = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } };
  const begun = { role: 'user', content: 'Look it up. '.repeat(300) };
  const on = { role: 'user', content: 'Go on.' };
  const { id: _id, status: _status, ...free } = call;
  for (const [reasoning, led, kept] of [
    [[thought('1')], [call, found], [free, found]],
    [[thought('1')], [thought('2'), call, found], [free, found]], // several in a row are one
    [[thought('1')], [searched, thought('2'), call, found], [thought('2'), call, found]],
    [
      [thought('1'), searched],
      [thought('2'), call, found],
      [thought('2'), call, found],
    ],
  ] as const) {
    const compactor = createCompactor({ ...smallBudget, adapter, when: 'never', send: scriptedModel(openaiResponsesKit).send });
    const covered = [begun, ...reasoning];
    await compactor.compact(requestOf(covered), { conversation: 'one' });
    const sent = await compactor.prepare(requestOf([...covered, ...led, on]), { conversation: 'one' });
    expect(adapter.items(sent).slice(1)).toEqual([...kept, on]);
    expect(validate(sent)).toEqual([]);
  }
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

import { expect } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { textOf } from '../../src/message.ts';
import { readReplacement } from '../../src/prompt/replacement.ts';
import { type Choose, sometimes } from '../../src/testing/choose.ts';
import { randomConversation } from '../../src/testing/conversation.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { freezeDeep } from './freeze.ts';

/**
 * One random conversation of a kit whose shape has an item for each message: compacted once, gone on with, compacted once more. What is
 * sent is valid, summary requests repeat the items of their parent, what comes behind a replacement are the caller's own objects.
 */
export async function runConversation<Request extends object, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  choose: Choose,
): Promise<void> {
  const { adapter } = kit;
  const say = (text: string) => adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text }] });
  const events: CompactionEvent[] = [];
  const attempt = { reasoning: 'Hm.', calls: [{ id: 'call_denied', name: 'read', input: { path: 'a.ts' } }] };
  const model = scriptedModel(kit, { summaries: sometimes(choose, 3) ? [attempt] : [], streamed: sometimes(choose, 2) });
  const compactor = createCompactor({
    adapter,
    contextWindow: 1_000_000,
    budget: { threshold: 100, countTokens: (text) => Math.ceil(text.length / 4) },
    send: model.send,
    onEvent: (event) => void events.push(event),
  });
  const compacted = () => events.filter(({ type }) => type === 'auto_compaction_applied').length;

  const history = freezeDeep([...randomConversation(kit, choose), ...say('The newest question 📦.')]);
  const parent = kit.request(history);
  const rebuilt = await compactor.prepare(parent);
  expect(events.filter(({ type }) => type === 'auto_compaction_failed')).toEqual([]);
  expect(compacted()).toBe(1);
  expectForksOf(adapter.items(parent), 0);
  expect(kit.validate(rebuilt)).toEqual([]);
  expect(readAll(rebuilt).filter((message) => readReplacement(message))).toHaveLength(1);
  expect(readAll(rebuilt).map(textOf).join('').split('The newest question 📦.')).toHaveLength(2);

  const asked = model.summaries.length;
  const tail = freezeDeep([
    ...adapter.writeMessage({ role: 'assistant', parts: [{ type: 'text', text: 'Fine.' }] }),
    ...say('And now?'),
  ]);
  const next = kit.request([...history, ...tail]);
  const prepared = await compactor.prepare(next);
  expect(kit.validate(prepared)).toEqual([]);
  if (compacted() > 1) expectForksOf(adapter.items(rebuilt), asked);
  else {
    const items = adapter.items(prepared);
    expect(items.slice(0, -tail.length)).toEqual(adapter.items(rebuilt));
    tail.forEach((item, index) => {
      expect(items[items.length - tail.length + index]).toBe(item);
    });
  }

  function readAll(request: Request) {
    return adapter.items(request).flatMap((item) => adapter.readItem(item));
  }

  /** The very same items, then the instruction, then attempts to call tools and their denials. */
  function expectForksOf(items: readonly Item[], from: number): void {
    for (const { request, violations } of model.summaries.slice(from)) {
      expect(violations).toEqual([]);
      const sent = adapter.items(request);
      items.forEach((item, index) => {
        if (from === 0) expect(sent[index]).toBe(item);
        else expect(sent[index]).toEqual(item); // a copy of the replacement was handed out
      });
    }
  }
}

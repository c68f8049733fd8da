import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import type { Message, Part, TextPart } from '../../src/message.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { noticesOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const text = (value: string): TextPart => ({ type: 'text', text: value });
const call = (id: string, path: string): Part => ({ type: 'toolCall', id, name: 'read', input: { path } });
const result = (callId: string, value: string): Part => ({ type: 'toolResult', callId, name: 'read', content: [text(value)] });

function conversation(id: string): Message[] {
  return [
    { role: 'user', parts: [text('Long history. '.repeat(200))] },
    { role: 'assistant', parts: [call(id, 'one'), call(id, 'two')] },
    { role: 'tool', parts: [result(id, 'first'), result(id, 'second')] },
    { role: 'assistant', parts: [call(id, 'three')] },
    { role: 'tool', parts: [result(id, 'third')] },
    { role: 'assistant', parts: [text('Fine.')] },
    { role: 'user', parts: [text('Go on.')] },
  ];
}

/** What the summary request answers which call with, by the path that was read. */
async function summarize<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, id: string) {
  const { adapter } = kit;
  const summaries: Request[] = [];
  const events: Parameters<typeof noticesOf>[0][number][] = [];
  const compactor = createCompactor({
    adapter,
    onEvent: (event) => void events.push(event),
    send: async (request: Request) => {
      summaries.push(request);
      return kit.reply({ text: goodSummary });
    },
  });
  const request = kit.request(conversation(id).flatMap((message) => adapter.writeMessage(message)));
  await compactor.compact(request);
  const [summary] = summaries;
  if (summary === undefined) throw new Error('Expected a summary request.');
  const parts = adapter.items(summary).flatMap((item) => adapter.readItem(item).flatMap((message) => message.parts));
  return { wasBroken: kit.validate(request).length > 0, violations: kit.validate(summary), notices: noticesOf(events), parts };
}

// The types of the kits differ: each is whole by itself.
const kits = Object.entries(providerKits) as [string, ProviderKit<unknown, unknown, unknown>][];

describe('calls without an id of their own', () => {
  it.each(kits.flatMap(([name, kit]) => [['no id', name, '', kit] as const, ['the same id', name, 'a', kit] as const]))(
    'with %s get one in a summary request of %s, and their results with them',
    async (_what, _name, id, kit) => {
      const { wasBroken, violations, notices, parts } = await summarize(kit, id);
      expect(violations).toEqual([]);
      expect(notices.includes('repaired')).toBe(wasBroken);
      const texts = parts.flatMap((part) =>
        part.type === 'toolResult' ? part.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : [])) : [],
      );
      expect(texts.join()).toMatch(/first.*second.*third/);
    },
  );
});

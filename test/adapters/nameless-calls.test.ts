import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import type { Message, Part, TextPart } from '../../src/message.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { noticesOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const long = 'lorem ipsum '.repeat(1000);
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

/** Calls that have no text for an id: the first has a result that is cut where it is kept, beside words of the user; the second none. */
const strayIds = [undefined, null, '', 7];
const native: [keyof typeof providerKits, (id: unknown) => object[]][] = [
  [
    'anthropic',
    (id) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: long }, text('And?')] },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
    ],
  ],
  [
    'bedrock',
    (id) => [
      { role: 'assistant', content: [{ toolUse: { toolUseId: id, name: 'read', input: {} } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: id, content: [{ text: long }] } }, { text: 'And?' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: id, name: 'read', input: {} } }] },
    ],
  ],
  [
    'openai-chat',
    (id) => [
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: id, content: long },
      { role: 'user', content: 'And?' },
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }] },
    ],
  ],
  [
    'openai-responses',
    (id) => [
      { type: 'function_call', call_id: id, name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: id, output: long },
      { role: 'user', content: 'And?' },
      { type: 'function_call', call_id: id, name: 'read', arguments: '{}' },
    ],
  ],
  [
    'genkit',
    (ref) => [
      { role: 'model', content: [{ toolRequest: { name: 'read', ref, input: {} } }] },
      { role: 'tool', content: [{ toolResponse: { name: 'read', ref, output: long } }] },
      { role: 'user', content: [{ text: 'And?' }] },
      { role: 'model', content: [{ toolRequest: { name: 'read', ref, input: {} } }] },
    ],
  ],
];
const nativeCases = native.flatMap(([name, write]) => strayIds.map((id) => [name, id, write] as const));

/** Compacts what begins like this and keeps its newest turns; what is then sent, and how the provider takes it. */
async function sendCompacted<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, items: readonly Item[]) {
  const model = scriptedModel(kit);
  const send = withAutoCompaction(model.send, {
    adapter: kit.adapter,
    contextWindow: 60_000,
    budget: { threshold: 2500 },
    retain: { tail: {} },
    when: 'every-request',
  });
  const user = (words: string): Item[] => kit.adapter.writeMessage({ role: 'user', parts: [text(words)] });
  await send(kit.request([...user(long), ...items, ...user('Go on.')]));
  return {
    summaries: model.summaries.length,
    violations: [...model.summaries, ...model.turns].flatMap((sent) => sent.violations),
  };
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

  it.each(nativeCases)('of %s with the id %j stay with their results, cut or lost', async (name, id, write) => {
    const kit = kits.find(([known]) => known === name)?.[1];
    if (!kit) throw new Error(`Expected a kit of ${name}.`);
    expect(await sendCompacted(kit, write(id))).toEqual({ summaries: 1, violations: [] });
  });
});

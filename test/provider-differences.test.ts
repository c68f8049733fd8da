import { describe, expect, it } from 'vitest';
import { openaiCodex } from '../src/adapters/openai-codex.ts';
import { createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import type { Message } from '../src/message.ts';
import type { ProviderKit } from '../src/testing/provider-kit.ts';
import { providerKits } from '../src/testing/provider-kits.ts';
import { scriptedModel } from '../src/testing/scripted-model.ts';
import { withoutConversation } from './support/report-shapes.ts';
import { countTokens } from './support/scripted-model.ts';

const say = (role: 'user' | 'assistant', text: string): Message => ({ role, parts: [{ type: 'text', text }] });
const history = [say('user', 'Begin. '.repeat(300)), say('assistant', 'Noted.'), say('user', 'And now?')];
const half = [say('user', 'Go.'), say('assistant', 'Half')];
const asked: Message[] = [
  say('user', 'Go.'),
  { role: 'assistant', parts: [{ type: 'toolCall', id: 'a', name: 'read', input: {} }] },
];
const small = { contextWindow: 60_000, budget: { threshold: 100, countTokens } };

/** Where each shape has its system text, and what a conversation looks like that must not be touched now. */
const rows = [
  { name: 'openai-chat', system: 'message', pending: asked },
  { name: 'openai-responses', system: 'field', pending: asked },
  { name: 'openai-codex', system: 'field', pending: asked },
  { name: 'anthropic', system: 'field', pending: half },
  { name: 'bedrock', system: 'field', pending: half },
  { name: 'google-genai', system: 'field', pending: half },
  { name: 'genkit', system: 'message', pending: asked },
  { name: 'ai-sdk', system: 'message', pending: half },
  { name: 'langchain', system: 'field', pending: asked },
] as const;

describe.each(rows)('$name', ({ name, system }) => {
  // Each kit is sound in itself; a list of them has no common type.
  const kit = providerKits[name] as unknown as ProviderKit<object, object, unknown>;
  const { adapter } = kit;
  const write = (messages: readonly Message[]) => messages.flatMap((message) => adapter.writeMessage(message));

  it('rebuilds the conversation alone; its system text stays where it was', async () => {
    const request = kit.request(write(history));
    const prepared = await createCompactor({ adapter, ...small, send: scriptedModel(kit).send }).prepare(request);
    expect(prepared).not.toBe(request);
    expect(JSON.stringify(withoutConversation(prepared))).toBe(JSON.stringify(withoutConversation(request)));
    const [first] = adapter.items(prepared).flatMap((item) => adapter.readItem(item));
    expect(first?.role).toBe(system === 'message' ? 'system' : 'user');
    expect(adapter.context(prepared).system).toEqual(adapter.context(request).system);
    if (system === 'message') expect(adapter.items(prepared)[0]).toBe(adapter.items(request)[0]);
  });

  it('tells of the compaction when it is in place', async () => {
    const seen: number[] = [];
    const loop: AutoCompactingLoop<object, object, unknown> = new AutoCompactingLoop<object, object, unknown>(
      kit.request(write(history)) as never, // a kit of any shape
      {
        adapter,
        ...small,
        send: scriptedModel(kit).send,
        onEvent: ({ type }: CompactionEvent) => {
          if (type === 'auto_compaction_applied') seen.push(adapter.items(loop.request).length);
        },
      },
    );
    const before = adapter.items(loop.request).length;
    await loop.prepare();
    expect(seen).toEqual([before - 2]);
  });
});

describe('a conversation that must not be touched now', () => {
  it.each(rows)('$name: is silently left alone, and planned so', async ({ name, pending }) => {
    const kit = providerKits[name] as unknown as ProviderKit<object, object, unknown>;
    const { adapter } = kit;
    const events: CompactionEvent[] = [];
    const model = scriptedModel(kit);
    const compactor = createCompactor({ adapter, ...small, send: model.send, onEvent: (event) => void events.push(event) });
    const request = kit.request([...history, ...pending].flatMap((message) => adapter.writeMessage(message)));
    const plan = await compactor.plan(request);
    expect(plan).toMatchObject({ wouldCompact: false });
    expect(plan.pending ?? plan.gate).toBeDefined();
    expect(await compactor.prepare(request)).toBe(request);
    expect(model.summaries).toEqual([]);
    expect(events).toEqual([]);
  });
});

describe('openai-codex', () => {
  it('joins the system texts of a rebuilt request in its instructions, trimmed, with a blank line between', () => {
    const adapter = openaiCodex();
    const request = {
      model: 'gpt-5-codex',
      instructions: 'Be exact.  ',
      input: [{ role: 'developer', content: ' Be quick.\n' }],
    };
    const rebuilt = adapter.withItems(request, [...request.input, { role: 'user', content: 'Go.' }]);
    expect(rebuilt).toMatchObject({ instructions: 'Be exact.\n\nBe quick.', input: [{ role: 'user', content: 'Go.' }] });
  });
});

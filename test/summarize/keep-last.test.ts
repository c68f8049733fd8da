import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { hasUserContent } from '../../src/history/turns.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import { keepLast } from '../../src/summarize/keep-last.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { waitingConversation } from '../../src/testing/conversation.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { goodSummary, longConversation, says, toolTurn } from '../support/scripted-model.ts';
import { runTask, sizeIn } from '../support/summary-task.ts';

const adapter = openaiChat();
const size = sizeIn(adapter);
const system = { role: 'system', content: 'Be exact.' } as ChatMessage;
const four: ChatMessage[] = [
  { role: 'user', content: `Read it. ${'u'.repeat(800)}` },
  ...toolTurn('c', 'r'.repeat(40_000)),
  { role: 'assistant', content: 'Short answer.' },
];

const run = (
  summarize: ReturnType<typeof keepLast>,
  messages: readonly ChatMessage[],
  fields: { target?: number; trigger?: 'automatic' | 'manual' } = {},
) =>
  runTask(summarize, {
    adapter,
    request: longConversation({ messages: [system, ...messages] }),
    contextWindow: 50_000,
    reply: () => says(goodSummary),
    ...fields,
  });

describe('keepLast', () => {
  it('V44: at most so many messages are kept without a model, system messages not counted', async () => {
    const { result, sent } = await run(keepLast(4, forkSummarizer()), four, { target: 50_000 });
    expect(sent).toEqual([]);
    expect(result).toEqual({ items: four });
    result?.items?.forEach((item, index) => void expect(item).toBe(four[index]));
  });

  it('V44: they are cut where they are over the target, but for what the user said', async () => {
    const { result, sent } = await run(keepLast(4, forkSummarizer()), four, { target: 2000 });
    expect(sent).toEqual([]);
    const items = result?.items ?? [];
    expect(items).toHaveLength(4);
    expect(items[0]).toBe(four[0]);
    expect(items[1]).toBe(four[1]);
    expect(items[3]).toBe(four[3]);
    expect(items[2]).toMatchObject({
      role: 'tool',
      tool_call_id: 'c',
      content: expect.stringContaining('The rest was left out.'),
    });
    expect(size(items)).toBeLessThanOrEqual(2000);
    expect(size(items)).toBeGreaterThan(1500); // what the short ones leave is for the long one
    expect(result?.omitted).toEqual({ items: 0, tokens: size(four) - size(items) });
    expect(validateOpenAiChat(longConversation({ messages: [system, ...items] })).map(({ rule }) => rule)).toEqual([
      'last-message',
    ]);
  });

  it.each([
    ['there are more messages', 3, four, { target: 50_000 }],
    ['the compaction is by hand', 4, four, { target: 50_000, trigger: 'manual' as const }],
    ['the target is not known', 4, four, {}],
    ['what the user said alone is over the target', 4, four, { target: 150 }],
    ['nothing may be kept', 0, four, { target: 50_000 }],
  ])('the summarizer is asked where %s', async (_name, count, messages, fields) => {
    const { result, sent } = await run(keepLast(count, forkSummarizer()), messages, fields);
    expect([result?.text, sent.length]).toEqual([goodSummary, 1]);
  });

  it('V44: `always` asks the summarizer, however few messages there are', async () => {
    const { result } = await run(keepLast(4, forkSummarizer(), { always: true }), four, { target: 50_000 });
    expect(result?.text).toBe(goodSummary);
  });

  it('what could only be kept as another kind of item is summarized', async () => {
    const { adapter: responses, ...kit } = providerKits['openai-responses'];
    const said = (text: string) => responses.writeMessage({ role: 'user', parts: [{ type: 'text', text }] });
    const shell = [
      { type: 'shell_call', call_id: 's', action: { commands: ['ls'] }, status: 'completed' },
      {
        type: 'shell_call_output',
        call_id: 's',
        output: [{ stdout: 'o'.repeat(40_000), stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ];
    const request = kit.request([...said('List them.'), ...shell, ...said('And now?')], { system: '' });
    const { result, sent } = await runTask(keepLast(8, forkSummarizer()), {
      adapter: responses,
      request,
      contextWindow: 50_000,
      target: 2000,
      reply: () => kit.reply({ text: goodSummary }),
    });
    expect([result?.text, sent.length]).toEqual([goodSummary, 1]);
  });

  it('wrong options are named at once', () => {
    for (const count of [-1, 1.5, Number.NaN])
      expect(() => keepLast(count, forkSummarizer())).toThrow(
        `Expected \`count\` to be a whole number of messages, 0 or more, got ${count}.`,
      );
    expect(() => keepLast(1, 'fork' as never)).toThrow('Expected `summarizer` to be a summarizer, got "fork".');
    expect(() => keepLast(1, forkSummarizer(), { allways: true } as object)).toThrow('there is no option `options.allways`');
  });

  for (const each of Object.values(providerKits))
    it(`${each.name}: the property: what is kept is legal, under its target, and has every word of the user`, async () => {
      // Each kit is sound in itself; a list of them has no common type.
      const kit = each as ProviderKit<object, object, unknown>;
      const words = (items: readonly object[]): string =>
        JSON.stringify(items.flatMap((item) => kit.adapter.readItem(item)).filter(hasUserContent));
      let cut = 0;
      await fc.assert(
        fc.asyncProperty(fc.nat(1_000_000), fc.integer({ min: 100, max: 5000 }), async (seed, target) => {
          const request = kit.request(waitingConversation(kit, chooseFrom(seed)), { system: '' });
          const { result, sent } = await runTask(keepLast(1000, forkSummarizer()), {
            adapter: kit.adapter,
            request,
            contextWindow: 1_000_000,
            target,
            reply: () => kit.reply({ text: goodSummary }),
          });
          if (!result?.items) return void expect([result?.text, sent.length]).toEqual([goodSummary, 1]);
          expect(sizeIn(kit.adapter)(result.items)).toBeLessThanOrEqual(target);
          expect(words(result.items)).toBe(words(kit.adapter.items(request)));
          expect(kit.validate(kit.adapter.withItems(request, result.items))).toEqual([]);
          if (result.omitted) cut++;
        }),
        { numRuns: 100 },
      );
      expect(cut).toBeGreaterThan(0);
    });
});

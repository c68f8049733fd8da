import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BedrockInput, type BedrockMessage, type BedrockReply, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { CompactionCommit, SendContext } from '../../src/options.ts';
import { chooseFromList, sometimes } from '../../src/testing/choose.ts';
import { waitingConversation } from '../../src/testing/conversation.ts';
import { bedrockKit } from '../../src/testing/kits/bedrock.ts';
import { validateBedrock } from '../../src/testing/wire/bedrock.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const adapter = bedrockConverse();
const user = (text: string): BedrockMessage => ({ role: 'user', content: [{ text }] });
const said = (text: string): BedrockMessage => ({ role: 'assistant', content: [{ text }] });
const call = (...ids: string[]): BedrockMessage => ({
  role: 'assistant',
  content: ids.map((toolUseId) => ({ toolUse: { toolUseId, name: 'read', input: { path: 'a.ts' } } })),
});
const results = (...ids: string[]): BedrockMessage => ({
  role: 'user',
  content: ids.map((toolUseId) => ({ toolResult: { toolUseId, content: [{ text: 'x'.repeat(4000) }] } })),
});
const says = (text: string): BedrockReply => bedrockKit.reply({ text });
const work = [user('Read it.'), call('a'), results('a'), said('It is long.')];

const request = (messages: readonly BedrockMessage[], fields: Partial<BedrockInput> = {}): BedrockInput => ({
  ...bedrockKit.request(messages),
  ...fields,
});

/** A model that refuses what the provider would refuse. */
function start(summaries: readonly string[] = [], contextWindow = 20_000) {
  const texts = [...summaries];
  const events: CompactionEvent[] = [];
  const asked: BedrockInput[] = [];
  const commits: CompactionCommit<BedrockInput>[] = [];
  const options = {
    adapter,
    contextWindow,
    budget: { threshold: 500, countTokens: (text: string) => Math.ceil(text.length / 4) },
    onEvent: (event: CompactionEvent) => void events.push(event),
    commit: (commit: CompactionCommit<BedrockInput>) => void commits.push(commit),
    send: async (input: BedrockInput, { purpose }: SendContext): Promise<BedrockReply> => {
      expect(validateBedrock(input)).toEqual([]);
      if (purpose !== 'summary') return says('Done.');
      asked.push(input);
      return says(texts.shift() ?? goodSummary);
    },
  };
  return { options, events, asked, commits };
}

const textsOf = (input: BedrockInput): string[] =>
  adapter
    .items(input)
    .flatMap((item) => adapter.readItem(item))
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));

describe('compaction of a Converse history', () => {
  it('repeats the prefix of the parent, and what the provider takes comes out', async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 30, maxLength: 200 }), async (numbers) => {
        const choose = chooseFromList(numbers);
        const { options, events, asked } = start([], 200_000);
        const compactor = createCompactor(options);
        const messages = waitingConversation(bedrockKit, choose);
        const parent = request(messages);
        const prepared = await compactor.prepare(parent);
        expect(validateBedrock(prepared)).toEqual([]);
        expect(parent).toEqual(request(messages));
        if (!lifecycleOf(events).includes('applied')) return;
        applied++;
        const [fork] = asked;
        const last = messages.length - 1;
        expect(fork).toEqual({ ...parent, messages: fork?.messages, inferenceConfig: { maxTokens: expect.any(Number) } });
        messages.slice(0, -1).forEach((message, index) => {
          expect(fork?.messages?.[index]).toBe(message);
        });
        expect(fork?.messages).toHaveLength(messages.length);
        const before = messages[last]?.content ?? [];
        expect(fork?.messages?.[last]?.content?.slice(0, -1)).toEqual(before);
        before.forEach((block, index) => {
          expect(fork?.messages?.[last]?.content?.[index]).toBe(block);
        });

        const tail = [said('So far.'), user('Go on.'), call('tail'), results('tail')].slice(0, sometimes(choose, 2) ? 4 : 2);
        const next = await compactor.prepare(request([...messages, ...tail]), { oneShot: true });
        expect(validateBedrock(next)).toEqual([]);
        expect(next.messages?.slice(-tail.length).every((message, index) => message === tail[index])).toBe(true);
        const steered = await compactor.prepare(request([...messages, user('Faster.'), ...tail]), { oneShot: true });
        expect(validateBedrock(steered)).toEqual([]);
        expect(textsOf(steered).filter((text) => text === 'Faster.')).toHaveLength(1);
      }),
      { numRuns: 1000 },
    );
    expect(applied).toBeGreaterThan(500);
  });

  it('merges what the user says after a replacement, and knows the replacement again', async () => {
    const { options, asked, events } = start(['## Goal\nFirst.', '## Goal\nSecond.', '## Goal\nThird.']);
    const compactor = createCompactor(options);
    const history = [...work];
    await compactor.compact(request(history));
    history.push(user('And now b.ts.'));
    const second = await compactor.prepare(request(history), { oneShot: true });
    expect(second.messages).toEqual([{ role: 'user', content: [{ text: '## Goal\nFirst.' }, { text: 'And now b.ts.' }] }]);
    history.push(call('b'), results('b'));
    const third = await compactor.prepare(request(history));
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(asked[1]?.messages?.[0]).toEqual(second.messages?.[0]);
    // Neither the summary nor its wrapper is taken for what the user said.
    expect(textsOf(third).join('')).toContain('Second.');
    expect(textsOf(third).join('')).not.toContain('First.');
    expect(textsOf(third).filter((text) => text === 'And now b.ts.')).toHaveLength(1);
    history.push(user('Quick.'), call('c'), results('c'));
    const fourth = await compactor.prepare(request(history));
    expect(validateBedrock(fourth)).toEqual([]);
    expect(
      textsOf(fourth)
        .join('')
        .match(/<compacted_context/g),
    ).toHaveLength(1);
    expect(textsOf(fourth)).toContain('Quick.');
    expect(textsOf(fourth)).not.toContain('And now b.ts.');
  });

  it('a loop merges them too, and takes them apart again', async () => {
    const { options, events } = start(['## Goal\nFirst.']);
    const loop = new AutoCompactingLoop(request(work), options);
    await loop.compact();
    loop.append([user('And now b.ts.')]);
    expect(loop.request.messages).toHaveLength(1);
    expect(loop.history).toHaveLength(2);
    await loop.appendReply(await loop.send());
    loop.append([user('Thanks.'), user('Really.')]);
    expect(validateBedrock(loop.request)).toEqual([]);
    await loop.appendReply(bedrockKit.reply({ calls: [{ id: 'c', name: 'read', input: {} }] }));
    loop.append([results('c')]);
    const prepared = await loop.prepare();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(textsOf(prepared)).toContain('Really.');
    expect(textsOf(prepared).join('')).not.toContain('First.');
  });

  it('a host may add cache points to what it gets, and nothing is mistaken for another', async () => {
    const { options } = start(['## Goal\nFirst.']);
    const loop = new AutoCompactingLoop(request(work), options);
    await loop.compact();
    loop.append([user('And now b.ts.')]);
    const prepared = await loop.prepare();
    const content = (prepared.messages?.[0]?.content ?? []) as object[]; // hosts may write into it
    content.push({ cachePoint: { type: 'default' } });
    loop.append([call('b'), results('b')]);
    const next = await loop.prepare();
    expect(textsOf(next).join('')).not.toContain('First.');
    expect(textsOf(next)).toContain('And now b.ts.');
  });

  it('reminders of the host stay behind the replacement, in one turn with it', async () => {
    const { options, events } = start();
    const reminder = user('Reminder: be quick.');
    const compactor = createCompactor({
      ...options,
      retain: { isUserInput: (message) => !JSON.stringify(message).includes('Reminder') },
    });
    const turn = [...work.slice(0, 3)];
    const prepared = await compactor.prepare(request([...turn, reminder]));
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(prepared.messages).toHaveLength(1);
    expect(textsOf(prepared).at(-1)).toBe('Reminder: be quick.');
    const later = [...turn, said('Fine.'), user('And c.ts?'), call('c'), results('c'), reminder];
    const again = await compactor.prepare(request(later));
    expect(validateBedrock(again)).toEqual([]);
    expect(textsOf(again).filter((text) => text.includes('Reminder'))).toHaveLength(1);
    expect(textsOf(again)).toContain('And c.ts?');
  });

  it('keeps bytes as bytes: in the request, in the replacement and in what is stored', async () => {
    const { options, asked, commits } = start();
    const bytes = Uint8Array.from([1, 2, 3]);
    const image = { image: { format: 'png', source: { bytes } } };
    const shown = [{ role: 'user', content: [{ text: 'What is it?' }, image] }, call('a'), results('a')];
    const prepared = await createCompactor(options).prepare(request(shown));
    expect(asked[0]?.messages?.[0]).toBe(shown[0]);
    expect(prepared.messages?.[0]?.content).toContainEqual(image);
    const stored = commits[0]?.request.messages?.[0]?.content ?? [];
    expect(stored).toContainEqual(image);
    expect(stored).not.toContain(image);
    const other = createCompactor(start().options);
    other.restore(JSON.parse(JSON.stringify(commits[0]?.snapshot)));
    const next = await other.prepare(request([...shown, said('A cat.'), user('Sure?')]));
    expect(validateBedrock(next)).toEqual([]);
    expect(next.messages?.[0]?.content).toContainEqual(image);
  });

  it('B070: a history with tool blocks is summarized with the tools that it names', async () => {
    const { options, asked, events } = start();
    const compactor = createCompactor(options);
    const parent = request(work, { toolConfig: undefined });
    const { because } = await compactor.compact(parent);
    expect(because).toEqual(['toolConfig']);
    expect(noticesOf(events)).toEqual(['prefix-changed']);
    expect(asked[0]?.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'read', inputSchema: { json: { type: 'object' } } } }],
    });
    // Nothing but the summary is left: no tools are needed. Then again they are.
    const next = [...work, user('And b.ts?')];
    expect((await compactor.prepare(request(next, { toolConfig: undefined }))).toolConfig).toBeUndefined();
    const prepared = await compactor.prepare(request([...next, call('b'), results('b')], { toolConfig: undefined }), {
      oneShot: true,
    });
    expect(validateBedrock(prepared)).toEqual([]);
  });

  it('B017: a history that is broken both ways comes out legal, and the repair is reported', async () => {
    const { options, events } = start();
    const broken = [
      user('Go.'),
      call('a', 'b'),
      results('b', 'lost'),
      user('Go on.'),
      user('Please.'),
      call('c'),
      said('Hm.'),
      user('So?'),
    ];
    const { request: compacted, because } = await createCompactor(options).compact(request(broken));
    expect(because).toContain('repaired history');
    expect(noticesOf(events)).toContain('repaired');
    expect(validateBedrock(compacted)).toEqual([]);
  });

  it('B030, B035: where everything was compacted, one user message carries the summary, and leads with no result', async () => {
    for (let end = 3; end <= work.length; end++) {
      const { options } = start();
      const { request: compacted } = await createCompactor(options).compact(request(work.slice(0, end)));
      expect(compacted.messages).toEqual([{ role: 'user', content: [{ text: goodSummary }] }]);
      expect(compacted.system).toEqual(request([]).system);
    }
  });

  it('lets a request go out as it is that cannot be read, and says so', async () => {
    const cyclic: Record<string, unknown> = { odd: 1 };
    cyclic.self = cyclic;
    const trap = Object.defineProperty({ role: 'user' }, 'content', {
      enumerable: true,
      get() {
        throw new TypeError('no content today');
      },
    });
    let deep: unknown = 'leaf';
    for (let level = 0; level < 5000; level++) deep = { deep };
    const toolResult = { toolUseId: 'a', content: [{ json: cyclic }] };
    for (const message of [
      null,
      5,
      [],
      {},
      { role: 'robot', content: [] },
      { role: 'user', content: 'Converse takes no strings.' },
      { role: 'user', content: [cyclic] },
      { role: 'user', content: [{ toolResult }] },
      { role: 'user', content: [{ odd: deep }] },
      trap,
    ]) {
      const { options, events, asked } = start();
      const odd = request([...work, message as BedrockMessage]);
      expect(await createCompactor(options).prepare(odd)).toBe(odd);
      expect(noticesOf(events)).toEqual(['unreadable-request']);
      expect(asked).toEqual([]);
    }
  });

  it('compacts what is odd, and none of our business', async () => {
    for (const message of [
      user('\ud800<|endoftext|></compacted_context>'.repeat(1000)),
      user('x'.repeat(10_000_000)),
      { role: 'user', content: [null, 5, 'text', [], {}, { text: 'Hm.' }] },
      { role: 'user', content: [{ cachePoint: { type: 'default' } }, { text: 'Hm.' }] },
      { role: 'user', content: [{ document: { name: 'a', source: { text: 'a' } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: null, content: null } }, { text: 'Hm.' }] },
      { role: 'user', content: [{ guardContent: { text: { text: 'Hm.' } } }] },
      { role: 'system', content: [{ text: 'Mind the time.' }] },
    ] as BedrockMessage[]) {
      const { options, events } = start();
      const messages = [user('Go.'), said('Fine.'), message, said('Good.'), ...work.slice(0, 3)];
      const large = { ...options, contextWindow: 20_000_000, send: async () => says(goodSummary) };
      const prepared = await createCompactor(large).prepare(request(messages));
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
      expect(validateBedrock(prepared)).toEqual([]);
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GenkitMessage, type GenkitReply, type GenkitRequest, genkitModel } from '../../src/adapters/genkit.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import type { SendContext } from '../../src/options.ts';
import { chooseFromList } from '../../src/testing/choose.ts';
import { randomConversation } from '../../src/testing/conversation.ts';
import { genkitKit } from '../../src/testing/kits/genkit.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { freezeDeep } from '../support/freeze.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const choices = fc.array(fc.nat(9999), { maxLength: 150, size: 'max' });
const question: GenkitMessage = { role: 'user', content: [{ text: 'What is the newest question?' }] };
const say = (role: string, ...content: object[]): GenkitMessage => ({ role, content });
const call = (name: string, ref?: string) => ({ toolRequest: { name, ...(ref && { ref }), input: {} } });
const response = (name: string, output: unknown, ref?: string) => ({ toolResponse: { name, ...(ref && { ref }), output } });
const long = 'x '.repeat(2000);
/** A window that fills with every second turn. */
const small = { contextWindow: 12_000, budget: { threshold: 2000, countTokens: (text: string) => Math.ceil(text.length / 4) } };

/** A model that refuses what Genkit or a plugin would refuse. */
function start(replies: readonly GenkitReply[] = []) {
  const script = [...replies];
  const events: CompactionEvent[] = [];
  const summaries: GenkitRequest[] = [];
  const turns: GenkitRequest[] = [];
  const options = {
    adapter: genkitModel(),
    contextWindow: 1_000_000,
    budget: { threshold: 100, countTokens: (text: string) => Math.ceil(text.length / 4) },
    onEvent: (event: CompactionEvent) => void events.push(event),
  };
  const send = async (request: GenkitRequest, { purpose }: SendContext): Promise<GenkitReply> => {
    expect(genkitKit.validate(request)).toEqual([]);
    (purpose === 'summary' ? summaries : turns).push(request);
    return (purpose === 'summary' && script.shift()) || genkitKit.reply({ text: purpose === 'summary' ? goodSummary : 'Done.' });
  };
  return { options, send, events, summaries, turns };
}

describe('compaction of a Genkit conversation', () => {
  it('asks with the prefix of the parent and keeps what comes after it, whatever the conversation', async () => {
    let compacted = 0;
    await fc.assert(
      fc.asyncProperty(choices, async (numbers) => {
        const choose = chooseFromList(numbers);
        const { options, send, events, summaries, turns } = start();
        const create = withAutoCompaction(send, options);
        const step = [say('model', call('read', 'w')), say('tool', response('read', 'It is short.', 'w'))];
        const conversation = [...randomConversation(genkitKit, choose), question, ...(choose(2) === 1 ? step : [])];
        const parent = freezeDeep(genkitKit.request(conversation));
        await create(parent);
        expect(lifecycleOf(events)).toEqual(['started', 'applied']);
        expect(noticesOf(events).filter((code) => code !== 'still-over-threshold')).toEqual([]);
        const [fork] = summaries;
        const asked = fork?.messages.slice(0, -1) ?? [];
        expect(asked.length === parent.messages.length && asked.every((item, index) => item === parent.messages[index])).toBe(
          true,
        );
        expect(fork?.tools).toBe(parent.tools);

        const tail = [say('model', { text: 'Done.' }), say('user', { text: 'Go on.' })];
        const grown = freezeDeep(genkitKit.request([...conversation, ...tail]));
        await create(grown);
        if (summaries.length === 1) expect(turns[1]?.messages.slice(-2).every((item, index) => item === tail[index])).toBe(true);
        expect(turns[1]?.messages[0]).toBe(grown.messages[0]);
        compacted += summaries.length;
      }),
      { numRuns: 1000 },
    );
    expect(compacted).toBeGreaterThanOrEqual(1000);
  });

  it('denies parallel calls without references, each by its tool', async () => {
    const { options, send, events, summaries } = start([
      { message: say('model', call('read'), call('read'), call('write')), finishReason: 'stop' },
    ]);
    await createCompactor({ ...options, send }).prepare(
      genkitKit.request([say('user', { text: long }), say('model', { text: 'ok' }), question]),
    );
    expect(lifecycleOf(events)).toContain('applied');
    const denied = 'Tool calls are disabled during compaction; use the history.';
    expect(summaries[1]?.messages.slice(-2)).toEqual([
      say('model', call('read'), call('read'), call('write')),
      say('tool', response('read', denied), response('read', denied), response('write', denied)),
    ]);
  });

  it('denies calls with references by their references, and names their tools', async () => {
    const { options, send, summaries } = start([
      { message: say('model', call('read', 'c1'), call('write', 'c2')), finishReason: 'stop' },
    ]);
    await createCompactor({ ...options, send }).prepare(
      genkitKit.request([say('user', { text: long }), say('model', { text: 'ok' }), question]),
    );
    expect(summaries[1]?.messages.at(-1)?.content).toMatchObject([
      { toolResponse: { name: 'read', ref: 'c1' } },
      { toolResponse: { name: 'write', ref: 'c2' } },
    ]);
  });

  it('keeps parallel results without references beside their calls, in their order', async () => {
    const steps = [say('model', call('read'), call('read')), say('tool', response('read', 'first'), response('read', 'second'))];
    const { options, send, summaries, events } = start();
    const compactor = createCompactor({ ...options, send });
    const history = [say('user', { text: long }), say('model', { text: 'ok' }), question];
    await compactor.prepare(genkitKit.request(history));
    const prepared = await compactor.prepare(genkitKit.request([...history, ...steps]));
    expect(summaries).toHaveLength(1);
    expect(prepared.messages.slice(-2)).toEqual(steps);
    expect(prepared.messages.at(-1)).toBe(steps[1]);
    expect(noticesOf(events)).not.toContain('repaired');
  });

  it('waits for calls that are open, with references and without', async () => {
    for (const ref of ['c1', undefined]) {
      const open = genkitKit.request([
        say('user', { text: long }),
        say('model', { text: 'ok' }),
        question,
        say('model', call('read', ref)),
      ]);
      const { options, send, events } = start();
      const compactor = createCompactor({ ...options, send });
      expect(await compactor.plan(open)).toMatchObject({ wouldCompact: false, gate: 'open-call' });
      expect(await compactor.prepare(open)).toBe(open);
      expect(events).toEqual([]);
    }
  });

  it('B002, B019: closes calls that were never answered, in the summary request alone', async () => {
    const { options, send, events, summaries } = start();
    const history = [
      say('user', { text: long }),
      say('model', call('read', 'S')),
      say('user', { text: 'Go on.' }),
      say('model', call('read'), call('write', 'S2')),
      say('user', { text: 'Really.' }),
    ];
    const { because } = await createCompactor({ ...options, send }).compact(genkitKit.request(history));
    expect(because).toEqual(['repaired history']);
    expect(noticesOf(events)).toContain('repaired');
    expect(summaries[0]?.messages.flatMap(({ content }) => content)).toMatchObject(
      expect.arrayContaining([
        { toolResponse: expect.objectContaining({ name: 'read', ref: 'S' }) },
        { toolResponse: expect.objectContaining({ name: 'read' }) },
        { toolResponse: expect.objectContaining({ name: 'write', ref: 'S2' }) },
      ]),
    );
  });

  it('B005, B017: makes text of results without a call', async () => {
    const { options, send, summaries } = start();
    const history = [
      say('user', { text: long }),
      say('tool', response('read', 'lost page', 'gone')),
      say('model', { text: 'ok' }),
      question,
    ];
    await createCompactor({ ...options, send }).compact(genkitKit.request(history));
    expect(JSON.stringify(summaries[0]?.messages)).toContain('lost page');
    expect(JSON.stringify(summaries[0]?.messages)).not.toContain('toolResponse');
  });

  it('B037: lets the user begin, where a conversation began with a call', async () => {
    const { options, send } = start();
    const history = [
      say('model', call('read', 'a')),
      say('tool', response('read', long, 'a')),
      say('model', { text: 'ok' }),
      question,
    ];
    const prepared = await createCompactor({ ...options, send }).prepare(genkitKit.request(history, { system: '' }));
    expect(prepared.messages[0]?.role).toBe('user');
  });

  it('B042, B046: keeps the system message as it is, in front, over five compactions', async () => {
    const { options, send, summaries } = start();
    const system = say('system', { text: 'Be exact.' }, { text: 'Answer in JSON.', metadata: { purpose: 'output' } });
    const compactor = createCompactor({ ...options, ...small, send });
    const messages = [system];
    for (let turn = 0; turn < 5; turn++) {
      messages.push(say('user', { text: `Question ${turn}: ${long}` }));
      const prepared = await compactor.prepare({ messages: [...messages] });
      expect(prepared.messages[0]).toBe(system);
      messages.push(say('model', { text: `Answer ${turn}: ${long}` }));
    }
    expect(summaries.length).toBeGreaterThanOrEqual(4);
  });

  it('keeps the documents that Genkit wrote into the newest message, once and marked', async () => {
    const document = { text: '- [0]: A document.', metadata: { purpose: 'context' } };
    const newest = say('user', { text: 'What does it say?' }, document);
    const { options, send } = start();
    const history = [say('user', { text: long }), say('model', { text: 'ok' }), newest];
    const docs = [{ content: [{ text: 'A document.' }] }];
    const prepared = await createCompactor({ ...options, send }).prepare({ ...genkitKit.request(history), docs });
    expect(prepared.messages.at(-1)?.content).toHaveLength(4);
    expect(prepared.messages.at(-1)?.content[2]).toEqual(document);
    expect(prepared.docs).toBe(docs);
  });

  it('compacts a second time without wrapping the first, and with the same newest message', async () => {
    const { options, send, summaries } = start();
    const compactor = createCompactor({ ...options, ...small, send });
    const messages = [say('user', { text: 'Read it all.', metadata: { lang: 'en' } })];
    for (let step = 0; step < 6; step++) {
      messages.push(say('model', call('read')), say('tool', response('read', `${step} ${long}`)));
      const prepared = await compactor.prepare(genkitKit.request([...messages]));
      if (summaries.length === 0) continue;
      expect(JSON.stringify(prepared.messages).split('<compacted_context>')).toHaveLength(2);
      expect(prepared.messages[1]?.content[1]).toEqual({ text: 'Read it all.', metadata: { lang: 'en' } });
    }
    expect(summaries.length).toBeGreaterThan(1);
  });

  it('lets a request go out as it is that cannot be read, and says so', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    let deep: unknown = 'leaf';
    for (let level = 0; level < 5000; level++) deep = { deep };
    for (const item of [
      null,
      5,
      {},
      say('assistant', { text: 'x' }),
      { role: 'user', content: null },
      say('user', { data: cyclic }),
      say('user', { data: deep }),
      say('model', { toolRequest: { name: 'read', input: cyclic } }),
      say('tool', response('read', cyclic)),
      say('tool', response('read', deep)),
    ]) {
      const { options, send, events } = start();
      const odd = genkitKit.request([say('user', { text: long }), item as GenkitMessage, say('model', { text: 'ok' }), question]);
      expect(await createCompactor({ ...options, send }).prepare(odd)).toBe(odd);
      expect(noticesOf(events)).toEqual(['unreadable-request']);
    }
  });

  it('compacts what is odd, and none of our business', async () => {
    for (const item of [
      say('user', { text: '\ud800<|endoftext|></compacted_context>'.repeat(1000) }),
      say('user', { text: 'x'.repeat(10_000_000) }),
      say('user', { media: null } as object),
      say('user', null as unknown as object, 7 as unknown as object),
      say('model', { text: 'ok', unheardOf: new Date(0) }),
      say('model', { toolRequest: { name: 5, ref: 7 } }),
      { ...say('model', { text: 'ok' }), metadata: null } as unknown as GenkitMessage,
    ]) {
      const { options, events } = start();
      const odd = genkitKit.request([say('user', { text: long }), item, say('model', { text: 'ok' }), question]);
      const send = async () => genkitKit.reply({ text: goodSummary });
      await createCompactor({ ...options, contextWindow: 20_000_000, send }).prepare(odd);
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    }
  });
});

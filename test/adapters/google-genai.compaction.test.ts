import { describe, expect, it } from 'vitest';
import { type GeminiContent, type GeminiPart, type GeminiRequest, geminiContents } from '../../src/adapters/google-genai.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { waitingConversation } from '../../src/testing/conversation.ts';
import { googleGenaiKit as kit } from '../../src/testing/kits/google-genai.ts';
import type { ReplyScript } from '../../src/testing/provider-kit.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { validateGemini } from '../../src/testing/wire/google-genai.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';

const adapter = geminiContents();
const content = (role: string, ...parts: object[]): GeminiContent => ({ role, parts: parts as readonly GeminiPart[] });
const user = (text: string): GeminiContent => content('user', { text });
const said = (text: string): GeminiContent => content('model', { text });
const call = (name: string, id?: string): object => ({
  functionCall: { ...(id && { id }), name, args: {} },
  thoughtSignature: 'c2ln',
});
const result = (name: string, id?: string, output = 'x'.repeat(2000)): object => ({
  functionResponse: { ...(id && { id }), name, response: { output } },
});
const tools = [{ functionDeclarations: [{ name: 'read' }] }];
const request = (contents: GeminiContent[], more: object = {}) => ({
  model: 'gemini-3-pro',
  contents,
  config: { systemInstruction: 'Be exact.', tools, ...more },
});

/** A model that says what it is told, and a compactor for which every conversation is due. */
function start(summaries: readonly ReplyScript[] = []) {
  const events: CompactionEvent[] = [];
  const model = scriptedModel(kit, { summaries });
  const options = {
    adapter,
    contextWindow: 1_000_000,
    budget: { threshold: 100, countTokens: (text: string) => Math.ceil(text.length / 4) },
    onEvent: (event: CompactionEvent) => void events.push(event),
    send: model.send,
  };
  return { options, events, model };
}

/** The conversation as it is where only one side gives ids, or nobody does. */
function dropIds(contents: readonly GeminiContent[], of: readonly ('functionCall' | 'functionResponse')[]): GeminiContent[] {
  return contents.map((item) => ({
    ...item,
    parts: (item.parts ?? []).map((part): GeminiPart => {
      const name = of.find((field) => part[field]);
      if (!name) return part;
      const { id: _id, ...rest }: { id?: unknown } = part[name] ?? {};
      return { ...part, [name]: rest };
    }),
  }));
}

describe('compaction of random conversations', () => {
  const modes = [[], ['functionCall'], ['functionResponse'], ['functionCall', 'functionResponse']] as const;

  it.each(modes.map((without) => [without.join(' and ') || 'nothing', without] as const))(
    'repeats the parent, keeps what comes after it, and sends what the provider takes: %s without ids',
    async (_name, without) => {
      for (let seed = 1; seed <= 300; seed++) {
        const before = [user('Remember this: '.repeat(200)), said('Noted.')];
        const conversation = [...before, ...dropIds(waitingConversation(kit, chooseFrom(seed)), without)];
        // Results by the order of their calls: without ids there is nothing else to go by.
        if (without.length > 0) for (const item of conversation) sortResults(item, conversation);
        const parent = request(conversation);
        expect(validateGemini(parent)).toEqual([]);
        const { options, events, model } = start();
        const create = withAutoCompaction(model.send, options);
        await create(parent);
        expect(lifecycleOf(events)).toEqual(['started', 'applied']);
        expect(noticesOf(events)).not.toContain('repaired');
        expect(noticesOf(events)).not.toContain('prefix-changed');
        expect(model.summaries).toHaveLength(1);
        const [{ request: fork, violations } = { request: parent, violations: [] }] = model.summaries;
        expect(violations).toEqual([]);
        expectRepeated(parent, fork);
        const tail = [said('Done.'), user('On.'), content('model', call('read')), content('user', result('read'))];
        await create(request([...conversation, ...tail]));
        const [first, second] = model.turns;
        expect(first?.violations).toEqual([]);
        expect(second?.violations).toEqual([]);
        if (model.summaries.length > 1) continue;
        const kept = second?.request.contents;
        expect(Array.isArray(kept) && kept.length).toBe(1 + tail.length);
        tail.forEach((item, index) => {
          expect(Array.isArray(kept) && kept[index + 1]).toBe(item);
        });
      }
    },
  );
});

function sortResults(item: GeminiContent, contents: readonly GeminiContent[]): void {
  const before = contents[contents.indexOf(item) - 1];
  const names = (before?.parts ?? []).flatMap((part) => (part.functionCall ? [Reflect.get(part.functionCall, 'name')] : []));
  if (!item.parts?.some((part) => part.functionResponse)) return;
  const left = [...item.parts];
  const sorted = names.map(
    (name) =>
      left.splice(
        left.findIndex((part) => Reflect.get(part.functionResponse ?? {}, 'name') === name),
        1,
      )[0],
  );
  Object.assign(item, { parts: sorted });
}

/** The parent's own contents and settings, and one instruction. */
function expectRepeated(parent: ReturnType<typeof request>, fork: GeminiRequest): void {
  const contents = adapter.items(fork);
  const last = parent.contents.at(-1);
  const joins = contents.length === parent.contents.length;
  parent.contents.slice(0, joins ? -1 : undefined).forEach((item, index) => {
    expect(contents[index]).toBe(item);
  });
  if (joins)
    last?.parts?.forEach((part, index) => {
      expect(contents.at(-1)?.parts?.[index]).toBe(part);
    });
  const { systemInstruction, tools: functions } = fork.config as typeof parent.config;
  expect(systemInstruction).toBe(parent.config.systemInstruction);
  expect(functions).toBe(parent.config.tools);
}

describe('a conversation with Gemini', () => {
  const history = [user('Read both.'), content('model', call('read', 'a'), call('read', 'b'))];

  it('B015: is not compacted while a call is open, with ids or without', async () => {
    for (const [calls, results] of [
      [['a', 'b'], ['b']],
      [[undefined, undefined], [undefined]],
      [['a', 'b'], [undefined]],
    ]) {
      const { options, events } = start();
      const open = request([
        user('Hello.'),
        said('Hello.'),
        user('Read both.'),
        content('model', ...(calls ?? []).map((id) => call('read', id))),
        content('user', ...(results ?? []).map((id) => result('read', id))),
      ]);
      const compactor = createCompactor(options);
      expect(await compactor.plan(open)).toMatchObject({ wouldCompact: false, gate: 'open-call' });
      expect(await compactor.prepare(open)).toBe(open);
      expect(events).toEqual([]);
    }
  });

  it('B037: never begins with a call, wherever it is cut', async () => {
    const whole = [
      ...history,
      content('user', result('read', 'a'), result('read', 'b')),
      content('model', call('read', 'c')),
      content('user', result('read', 'c')),
      said('Done.'),
      user('On.'),
    ];
    for (let cut = 3; cut <= whole.length; cut++) {
      const { options } = start();
      const compactor = createCompactor(options);
      await compactor.prepare(request(whole.slice(0, cut)));
      expect(validateGemini(await compactor.prepare(request(whole)))).toEqual([]);
      // A host that threw its beginning away.
      const beheaded = whole.slice(cut - 2);
      const { request: compacted } = await createCompactor(start().options).compact(request([...beheaded, said('Fine.')]));
      expect(validateGemini(compacted)).toEqual([]);
    }
  });

  it('B092: has one summary, also where the user speaks right behind it, twice', async () => {
    const { options, events, model } = start();
    const compactor = createCompactor({ ...options, contextWindow: 20_000 });
    const asked = [...history, content('user', result('read', 'a'), result('read', 'b')), said('Done.'), user('What is in it?')];
    await compactor.prepare(request(asked));
    // The request failed: the user asks again, and the host has a turn of its own for that.
    const again = [...asked, user('Hello? '.repeat(400))];
    const prepared = await compactor.prepare(request(again));
    expect(prepared.contents).toHaveLength(1);
    expect(validateGemini(prepared)).toEqual([]);
    expect(JSON.stringify(prepared).split('<compacted_context>')).toHaveLength(2);
    const grown = [...again, content('model', call('read')), content('user', result('read', undefined, 'Well. '.repeat(600)))];
    const last = await compactor.prepare(request(grown));
    expect(model.summaries).toHaveLength(2);
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
    expect(last.contents).toHaveLength(1);
    const text = JSON.stringify(last);
    expect(text.split('<compacted_context>')).toHaveLength(2);
    expect(text).toContain('Hello?');
    expect(text).not.toContain('What is in it?');
  });

  it('keeps the newest message of the user as it is: its pictures, and fields that nobody knows', async () => {
    const picture = {
      inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' },
      mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
    };
    const asked = content('user', picture, { text: 'What is this?', partMetadata: { source: 'camera' } }, { hologram: 1 });
    const { options } = start();
    const { contents } = await createCompactor(options).prepare(request([user('x'.repeat(2000)), said('Hm.'), asked]));
    expect(contents[0]?.parts?.slice(1, -1)).toEqual(asked.parts);
  });

  it('is compacted where it is a text and an answer, or the body of a REST call', async () => {
    for (const body of [
      {
        contents: [content('user', { text: 'x'.repeat(2000) }), said('Hm.'), user('Go.')],
        system_instruction: { parts: [{ text: 'Be exact.' }] },
      },
      {
        contents: [content('user', { text: 'x'.repeat(2000) }), said('Hm.'), user('Go.')],
        generationConfig: { maxOutputTokens: 100 },
      },
    ]) {
      const { options, events, model } = start();
      const prepared = await createCompactor(options).prepare(body as GeminiRequest);
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
      expect(model.summaries.flatMap(({ violations }) => violations)).toEqual([]);
      expect(prepared).toEqual({ ...body, contents: [expect.objectContaining({ role: 'user' })] });
    }
  });

  it('passes a text through that needs no compaction, the very same request', async () => {
    const { options } = start();
    for (const contents of ['Go.', ['Go.', { text: 'On.' }], { text: 'Go.' }]) {
      const parent = { model: 'gemini-3-pro', contents };
      expect(await createCompactor(options).prepare(parent)).toBe(parent);
    }
  });

  it('denies calls by the ids that the model gave, or without any', async () => {
    for (const ids of [
      ['x', 'y'],
      ['', ''],
    ]) {
      const calls = ids.map((id) => ({ id, name: 'read', input: {} }));
      const { options, events, model } = start([{ text: 'Let me look.', calls }]);
      await createCompactor(options).prepare(request([...history, content('user', result('read', 'a'), result('read', 'b'))]));
      expect(lifecycleOf(events)).toContain('applied');
      const [, denial] = model.summaries;
      expect(denial?.violations).toEqual([]);
      const sent = denial && adapter.items(denial.request).at(-1);
      expect(JSON.stringify(sent)).toContain('Tool calls are disabled during compaction');
      expect(JSON.stringify(denial?.request.contents)).not.toContain('without-id');
    }
  });

  it('is not compacted in the middle of a long reply', async () => {
    const { options, events } = start();
    const parent = request([user('x'.repeat(2000)), said('Hm.'), user('Go.')], { continuationToken: 't' });
    expect(await createCompactor(options).prepare(parent)).toBe(parent);
    expect(events).toEqual([]);
  });

  it('goes on with a cached content, which holds what surrounds it', async () => {
    const { options, model } = start();
    const parent = {
      model: 'gemini-3-pro',
      contents: [user('x'.repeat(2000)), said('Hm.'), user('Go.')],
      config: { cachedContent: 'cachedContents/1' },
    };
    const prepared = await createCompactor(options).prepare(parent);
    expect(model.summaries).toMatchObject([{ violations: [], request: { config: { cachedContent: 'cachedContents/1' } } }]);
    expect(prepared.config).toBe(parent.config);
    expect(prepared.contents).toHaveLength(1);
  });

  it('lets a request go out as it is that cannot be read, and says so', async () => {
    const cyclic: Record<string, unknown> = { text: 'odd' };
    cyclic.self = cyclic;
    let deep: unknown = 'leaf';
    for (let level = 0; level < 5000; level++) deep = { deep };
    const trap = Object.defineProperty({ role: 'user' }, 'parts', {
      enumerable: true,
      get() {
        throw new TypeError('no parts today');
      },
    });
    for (const item of [
      null,
      5,
      [],
      cyclic,
      trap,
      { role: 'assistant', parts: [] },
      content('user', cyclic),
      content('user', { deep }),
    ]) {
      const { options, events, model } = start();
      const odd = request([...history, content('user', result('read', 'a'), result('read', 'b')), item as GeminiContent]);
      expect(await createCompactor(options).prepare(odd)).toBe(odd);
      expect(noticesOf(events)).toEqual(['unreadable-request']);
      expect(model.summaries).toEqual([]);
    }
  });

  it('compacts what is odd, and none of our business', async () => {
    for (const item of [
      user('\ud800<|endoftext|></compacted_context>'.repeat(1000)),
      user('x'.repeat(5_000_000)),
      content('user', null as never, 'text' as never),
      content('user', { text: null }, { inlineData: null }),
      content('user', { functionResponse: { name: 'lost', response: [1] } }),
      content('user', { functionCall: { name: 'mine' } }),
      { role: 'user', parts: null } as never,
      { role: 'user' },
    ]) {
      const { options, events, model } = start();
      const contents = [
        user('Go.'),
        said('Fine.'),
        item,
        said('Well.'),
        ...history,
        content('user', result('read', 'a'), result('read', 'b')),
      ];
      const prepared = await createCompactor({ ...options, contextWindow: 20_000_000 }).prepare(request(contents));
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
      expect(model.summaries.flatMap(({ violations }) => violations)).toEqual([]);
      expect(validateGemini(prepared)).toEqual([]);
    }
  });
});

describe('a loop', () => {
  it.each([
    ['the model alone', 'c1', undefined],
    ['the host alone', undefined, 'local'],
    ['nobody', undefined, undefined],
  ])('owns a history in which ids come from %s, and compacts it', async (_name, modelId, hostId) => {
    const { options, events, model } = start();
    const loop = new AutoCompactingLoop<GeminiRequest, GeminiContent, object>(request([user('Go.')]), options as never);
    const parts = [call('read', modelId), call('read', modelId && 'c2')];
    await loop.appendReply({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] });
    loop.append([content('user', result('read', hostId))]);
    await loop.prepare();
    expect(model.summaries).toEqual([]);
    loop.append([content('user', result('read', hostId && 'local-2'))]);
    const sent = await loop.prepare();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(model.summaries.flatMap(({ violations }) => violations)).toEqual([]);
    expect(validateGemini(sent)).toEqual([]);
    expect(sent.contents).toHaveLength(1);
  });

  it('takes calls without ids, and results with what it said of them', async () => {
    const { options } = start();
    const loop = new AutoCompactingLoop<GeminiRequest, GeminiContent, object>(request([user('Go.')]), {
      ...options,
      budget: {},
    } as never);
    const parts = [call('read'), call('read')];
    const { calls } = await loop.appendReply({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] });
    loop.append([content('user', ...calls.map(({ id, name }) => result(name, id)))]);
    expect(validateGemini(loop.request)).toEqual([]);
    expect(JSON.stringify(loop.request)).not.toContain('without-id');
  });
});

import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatReply, ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import type { ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { CompactionError } from '../../src/errors.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { textOf } from '../../src/message.ts';
import {
  createSession,
  memoryStore,
  readTurn,
  type SessionEvent,
  type SessionStore,
  type StoredEvent,
} from '../../src/session.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { openaiResponsesKit } from '../../src/testing/kits/openai-responses.ts';
import { lifecycleOf } from '../support/harness.ts';
import { goodSummary, smallBudget } from '../support/scripted-model.ts';
import { openRun, type RunOptions, type SessionRun, saidIn, userSays } from '../support/session-run.ts';

type ChatRun = SessionRun<Parameters<ReturnType<typeof openaiChat>['items']>[0], never, never>;

const long = 'line of a log, '.repeat(200);
const calls = (id: string) => [{ id, name: 'read', input: { path: 'a.ts' } }];

/** A run that is compacted with its next request. */
async function dueRun(options: Partial<RunOptions> = {}) {
  const store = options.store ?? memoryStore();
  const run = await openRun(openaiChatKit, { store, ...options });
  await run.say('What does the log say?');
  await run.step({ reply: { calls: calls('call_1') }, results: [long] });
  return { run, store };
}

const kindsOf = (events: readonly StoredEvent[]) => events.map(({ seq, kind }) => `${seq} ${kind}`);
const textsOf = (run: Pick<ChatRun, 'session'>) => run.session.messages.map((message) => `${message.role}: ${textOf(message)}`);

/** The newest compaction that is stored. */
async function storedCompaction(store: SessionStore) {
  const { events } = await store.load('run');
  const found = (events as SessionEvent[]).findLast(({ kind }) => kind === 'compaction_applied');
  if (found?.kind !== 'compaction_applied') throw new Error('Expected a compaction.');
  return found;
}

describe('a session', () => {
  it('begins with its first event, and an unknown name leaves no trace', async () => {
    const store = memoryStore();
    const session = await createSession({ store, id: 'run' });
    expect((await store.load('run')).events).toEqual([]);
    await session.appendUser(userSays('Hello.'));
    expect((await store.load('run')).events).toEqual([
      { seq: 1, kind: 'session_started', payload: { version: 1 } },
      { seq: 2, kind: 'user_message', payload: { message: userSays('Hello.') } },
    ]);
  });

  it('K2: what is given and what is taken are copies', async () => {
    const session = await createSession({ store: memoryStore(), id: 'run' });
    const parts = [{ type: 'text' as const, text: 'Hello.' }];
    await session.appendUser({ role: 'user', parts });
    parts[0] = { type: 'text', text: 'Changed.' };
    for (const taken of [session.messages, session.events, session.transcript])
      JSON.stringify(taken, (key, value) => {
        if (key === 'parts') value.length = 0;
        return value;
      });
    expect(session.messages).toEqual([userSays('Hello.')]);
  });

  it('K60: a turn that only failed is no part of the conversation, one of tools alone is', async () => {
    const session = await createSession({ store: memoryStore(), id: 'run' });
    await session.appendTurn({ messages: [], error: 'The server is busy.' });
    const acted = { role: 'assistant' as const, parts: [{ type: 'toolCall' as const, id: 'c', name: 'read', input: {} }] };
    await session.appendTurn({ messages: [acted], interrupted: true });
    expect(session.messages).toEqual([acted]);
    expect(session.transcript).toMatchObject([
      { kind: 'assistant', messages: [], error: 'The server is busy.', interrupted: false },
      { kind: 'assistant', messages: [acted], interrupted: true },
    ]);
  });

  it('stores no system messages', async () => {
    const session = await createSession({ store: memoryStore(), id: 'run' });
    const answer = { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Yes.' }] };
    await session.appendTurn({ messages: [{ role: 'system', parts: [{ type: 'text', text: 'Be exact.' }] }, answer] });
    expect(session.messages).toEqual([answer]);
  });

  it('keeps bytes in parts exactly', async () => {
    const store = memoryStore();
    const value = { bytes: Uint8Array.of(0, 255, 10) };
    const message = { role: 'user' as const, parts: [{ type: 'media' as const, kind: 'image' as const, value }] };
    await (await createSession({ store, id: 'run' })).appendUser(message);
    expect((await createSession({ store, id: 'run' })).messages).toEqual([message]);
  });

  it('passes over kinds of later versions, keeps them, and reports what is not as it was written', async () => {
    const store = memoryStore();
    await store.appendBatch('run', [
      { seq: 1, kind: 'session_started', payload: { version: 7, region: 'north' } },
      { seq: 2, kind: 'voice_note', payload: { seconds: 4 } },
      { seq: 3, kind: 'user_message', payload: { message: { role: 'assistant', parts: [] } } },
      { seq: 4, kind: 'user_message', payload: { message: userSays('Hello.'), mood: 'good' } },
    ]);
    const session = await createSession({ store, id: 'run' });
    expect(session.messages).toEqual([userSays('Hello.')]);
    expect(session.damage).toEqual([{ reason: 'unreadable', seq: 3 }]);
    await session.appendUser(userSays('More.'));
    expect(kindsOf(session.events).slice(1)).toEqual(['2 voice_note', '3 user_message', '4 user_message', '5 user_message']);
    expect(session.events[3]).toMatchObject({ payload: { mood: 'good' } });
  });

  it('that another process went on with refuses input once, knows the rest then, and loses nothing', async () => {
    const store = memoryStore();
    const [mine, other] = [await createSession({ store, id: 'run' }), await createSession({ store, id: 'run' })];
    await other.appendUser(userSays('From there.'));
    const [refused, accepted] = [mine.appendUser(userSays('Refused.')), mine.appendUser(userSays('From here.'))];
    await expect(refused).rejects.toMatchObject({ code: 'store-conflict' });
    await accepted;
    expect(mine.messages).toEqual([userSays('From there.'), userSays('From here.')]);
    await other.reload();
    expect(other.messages).toEqual(mine.messages);
  });

  it.each([
    [{ store: {}, id: 'run' }, '`store` to be a session store'],
    [{ store: memoryStore(), id: '' }, '`id` to be a text'],
    [{ store: memoryStore(), id: 'run', retainOutput: 'short' }, '`retainOutput` to be a function'],
    [{ store: memoryStore(), id: 'run', retain: {} }, 'no option `retain`'],
  ])('a wrong option is named: %#', async (options, message) => {
    const opening = createSession(options as never);
    await expect(opening).rejects.toMatchObject({ code: 'invalid-options', message: expect.stringContaining(message) });
  });

  it.each([
    ['a message of the assistant', { role: 'assistant', parts: [] }],
    ['no message', null],
  ])('refuses %s as input of the user, and stores nothing', async (_name, message) => {
    const store = memoryStore();
    const session = await createSession({ store, id: 'run' });
    await expect(session.appendUser(message as never)).rejects.toMatchObject({ code: 'invalid-event' });
    expect((await store.load('run')).events).toEqual([]);
  });
});

describe('a compaction', () => {
  it('K58: is stored with what is visible, both or none, before it is installed, with an empty status and no system messages', async () => {
    const { run, store } = await dueRun();
    run.session.recorder.onText('Reading on.');
    await run.step({ reply: { text: 'Done.' } });
    expect(lifecycleOf(run.events)).toEqual(['started', 'applied']);
    const { events } = await store.load('run');
    expect(kindsOf(events)).toEqual([
      '1 session_started',
      '2 user_message',
      '3 assistant_turn',
      '4 assistant_turn',
      '5 compaction_applied',
      '6 assistant_turn',
    ]);
    const [checkpoint, compaction] = events.slice(3);
    const visible = { role: 'assistant', parts: [{ type: 'text', text: 'Reading on.' }] };
    expect(checkpoint?.payload).toEqual({ checkpoint: true, messages: [visible] });
    expect(compaction?.payload).toMatchObject({ status: '', coversSeq: 3, trigger: 'automatic' });
    expect(JSON.stringify(compaction)).not.toContain('Be exact.');
    expect(textsOf(run)).toEqual([expect.stringContaining('<compacted_context>'), 'assistant: Done.']);
    expect(run.session.transcript.map(({ kind }) => kind)).toEqual(['user', 'assistant', 'assistant', 'compaction', 'assistant']);
  });

  it('K28: by hand is stored as one event, with its status and the summary as it was shown', async () => {
    const { run, store } = await dueRun();
    const shown: string[] = [];
    await run.loop.compact(run.session.recordManual({ onText: (text) => shown.push(text) }));
    const { payload } = await storedCompaction(store);
    expect(payload).toMatchObject({ status: 'Context compacted.', trigger: 'manual' });
    expect(payload.transcript?.map(textOf)).toEqual([shown.join('')]);
    expect(shown.join('')).toContain('## Goal');
    expect(kindsOf(run.session.events)).toHaveLength(4);
    expect(run.session.messages).toHaveLength(1);
    const last = run.session.transcript.at(-1);
    expect(last).toMatchObject({ kind: 'compaction', status: 'Context compacted.', messages: [{ role: 'assistant' }] });
  });

  it('K26: what is void of a summary is not in what is kept of it; tools of the host are', async () => {
    const session = await createSession({ store: memoryStore(), id: 'run' });
    const heard: string[] = [];
    const { onText, onRestart } = session.recordManual({
      onText: (text) => heard.push(text),
      onRestart: () => heard.push('(again)'),
      recorder: session.recorder,
    });
    onText?.('I will look.');
    onRestart?.();
    onText?.('## Goal');
    expect(heard).toEqual(['I will look.', '(again)', '## Goal']);
    expect(session.recorder.text).toBe('## Goal');
  });

  it('shows calls that the model was denied as tools that failed', async () => {
    let asked = 0;
    const { run, store } = await dueRun({
      onSummary: () => (asked++ === 0 ? { text: 'I look first.', calls: calls('call_9') } : undefined),
    });
    const heard: string[] = [];
    await run.loop.compact(run.session.recordManual({ onDenied: (denied) => heard.push(...denied.map(({ id }) => id)) }));
    expect(heard).toEqual(['call_9']);
    const { payload } = await storedCompaction(store);
    expect(payload.transcript).toMatchObject([
      { role: 'assistant', parts: [{ type: 'toolCall', id: 'call_9', name: 'read', input: { path: 'a.ts' } }] },
      { role: 'tool', parts: [{ callId: 'call_9', isError: true, content: [{ text: expect.stringContaining('disabled') }] }] },
      { role: 'assistant', parts: [{ text: expect.stringContaining('## Goal') }] },
    ]);
    expect(textsOf(run).join('')).not.toContain('I look first.');
  });

  it('K29: by hand that fails leaves session and loop as they were', async () => {
    const { run, store } = await dueRun({ onSummary: () => ({ text: ' ' }) });
    const before = [run.session.messages, run.loop.request, (await store.load('run')).events];
    await expect(run.loop.compact(run.session.recordManual())).rejects.toMatchObject({ code: 'empty-summary' });
    expect([run.session.messages, run.loop.request, (await store.load('run')).events]).toEqual(before);
  });

  it('that another process prevents leaves the loop as it was, and the session knows what the other did', async () => {
    const store = memoryStore();
    const { run } = await dueRun({ store });
    const other = await createSession({ store, id: 'run' });
    await other.appendUser(userSays('From another machine.'));
    const before = run.loop.request;
    await run.loop.prepare();
    expect(lifecycleOf(run.events)).toEqual(['started', 'failed: commit-failed']);
    expect(run.loop.request).toEqual(before);
    expect(textsOf(run).at(-1)).toBe('user: From another machine.');
    await run.session.appendUser(userSays('And from here.'));
    expect((await store.load('run')).events).toHaveLength(5);
  });

  it('K58: that cannot be stored leaves the session as it was: what is visible is not stored without it', async () => {
    const store = memoryStore();
    const full: SessionStore = {
      ...store,
      appendBatch: () => Promise.reject(new CompactionError('store-failed', 'Disk full.')),
      append: (id, event) =>
        event.kind === 'compaction_applied'
          ? Promise.reject(new CompactionError('store-failed', 'Disk full.'))
          : store.append(id, event),
    };
    const { run } = await dueRun({ store });
    const later = await openRun(openaiChatKit, { store: full });
    later.session.recorder.onText('Reading on.');
    await later.loop.prepare();
    expect(lifecycleOf(later.events)).toEqual(['started', 'failed: commit-failed']);
    expect(later.session.events).toEqual(run.session.events);
    expect(later.session.messages).toEqual(run.session.messages);
  });

  it.each([true, false])('of which the store does not know is looked up: stored %s', async (isStored) => {
    const store = memoryStore();
    await dueRun({ store });
    const doubtful: SessionStore = {
      ...store,
      append: async (id, event) => {
        if (event.kind !== 'compaction_applied') return store.append(id, event);
        if (isStored) await store.append(id, event);
        throw new CompactionError('store-in-doubt', 'Connection lost.');
      },
    };
    const run = await openRun(openaiChatKit, { store: doubtful });
    await run.loop.prepare();
    expect(lifecycleOf(run.events)).toEqual(['started', isStored ? 'applied' : 'failed: commit-failed']);
    expect(run.session.messages).toHaveLength(isStored ? 1 : 3);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });

  it('is stored once, however often the same is committed', async () => {
    const { run, store } = await dueRun();
    await run.loop.prepare();
    const { payload } = await storedCompaction(store);
    await run.session.commit({
      compactionId: payload.compactionId,
      trigger: 'automatic',
      covered: 3,
      replacement: [userSays('again')],
      kept: [],
      items: [],
      request: run.loop.request,
      snapshot: run.loop.snapshot(),
    });
    expect((await store.load('run')).events).toHaveLength(4);
  });
});

describe('input that is accepted while a summary is written', () => {
  it('B053: is behind the summary, live and after a restart, and was stored before', async () => {
    const { run } = await dueRun({ onSummary: () => void run.say('And the tests?') as undefined });
    await run.step({ reply: { text: 'Fine.' } });
    expect(textsOf(run)).toEqual([expect.stringContaining('What does the log say?'), 'user: And the tests?', 'assistant: Fine.']);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
    expect((await run.reopen()).session.messages).toEqual(run.session.messages);
  });

  it('B052: by hand, is behind the summary in the order in which it came', async () => {
    const { run } = await dueRun();
    const compacting = run.loop.compact(run.session.recordManual());
    await run.say('First.');
    await run.say('Second.');
    await compacting;
    expect(textsOf(run).slice(1)).toEqual(['user: First.', 'user: Second.']);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });

  it('is kept word for word by hand, too, where the session was not told that a summary is being written', async () => {
    const { run } = await dueRun();
    const compacting = run.loop.compact();
    await run.say('First.');
    await compacting;
    expect(textsOf(run).slice(1)).toEqual(['user: First.']);
  });

  it('is kept with the turn that answered it, where both came meanwhile', async () => {
    for (const compact of ['prepare', 'compact'] as const) {
      let isFirst = true;
      const { run } = await dueRun({
        async onSummary() {
          if (isFirst) {
            isFirst = false;
            await run.say('And the tests?');
            await run.take({ text: 'They pass.' });
          }
          return undefined;
        },
      });
      await run.loop[compact]();
      expect(textsOf(run).slice(1)).toEqual(['user: And the tests?', 'assistant: They pass.']);
      expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
      expect((await run.reopen()).session.messages).toEqual(run.session.messages);
      await run.take({ text: long });
      await run.loop.compact(); // it is counted anew now: nothing is taken for a later turn
      expect(textsOf(run)).toHaveLength(1);
    }
  });

  it('stays where the turn has no snapshot, as far as a compaction by hand was recorded', async () => {
    const { run } = await dueRun();
    const compacting = run.loop.compact(run.session.recordManual());
    const items = openaiChatKit.adapter.writeMessage({ role: 'assistant', parts: [{ type: 'text', text: 'By the way.' }] });
    run.loop.append(items);
    await run.session.appendTurn(readTurn(openaiChatKit.adapter, items));
    await compacting;
    expect(textsOf(run).slice(1)).toEqual(['assistant: By the way.']);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });

  it('is covered by the compaction by hand that waited for an automatic one, and is not there twice', async () => {
    const { run } = await dueRun();
    const automatic = run.loop.prepare();
    const compacting = run.loop.compact(run.session.recordManual());
    await automatic;
    await compacting.catch(() => undefined);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });

  it('is not lost where it is stored before the loop has it', async () => {
    const { run } = await dueRun({ onSummary: () => void run.session.appendUser(userSays('Not yet told.')) as undefined });
    await run.step({ reply: { text: 'Fine.' } });
    expect(textsOf(run)).toContain('user: Not yet told.');
  });
});

describe('a loop that starts over', () => {
  it('is counted anew: what was said before is no later turn', async () => {
    const { run } = await dueRun();
    run.loop.reset();
    await run.say('Something else.');
    await run.take({ text: long });
    await run.loop.compact();
    expect(textsOf(run)).toHaveLength(1);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });
});

describe('what stays behind a replacement', () => {
  it('is stored with it, also where nothing was restored before', async () => {
    const session = await createSession({ store: memoryStore(), id: 'run' });
    const { adapter } = openaiChatKit;
    const turn = (text: string) => adapter.writeMessage({ role: 'assistant', parts: [{ type: 'text', text }] });
    const messages = [
      ...adapter.writeMessage(userSays('Read it.')),
      ...turn(long),
      ...adapter.writeMessage(userSays('And the next?')),
      ...turn('Empty.'),
    ];
    const loop = new AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>(openaiChatKit.request(messages), {
      adapter,
      ...smallBudget,
      retain: { tail: { min: 100, max: 200 } },
      send: async () => openaiChatKit.reply({ text: goodSummary }),
      commit: session.commit,
    });
    await loop.compact();
    expect(session.messages.slice(1)).toEqual([
      userSays('And the next?'),
      { role: 'assistant', parts: [{ type: 'text', text: 'Empty.' }] },
    ]);
    expect(session.messages).toEqual(loop.history.filter(({ role }) => role !== 'system'));
  });

  it('is what another process stored, until the session is restored again', async () => {
    const store = memoryStore();
    const { run } = await dueRun({ store });
    const other = await run.reopen();
    await other.say('From another machine.');
    await other.take({ text: 'Answered there.' });
    await expect(run.say('Refused.')).rejects.toMatchObject({ code: 'store-conflict' });
    await run.loop.compact();
    const texts = textsOf(run);
    expect(texts.slice(-2)).toEqual(['user: From another machine.', 'assistant: Answered there.']);
    const restored = await run.reopen();
    expect(textsOf(restored)).toEqual(texts);
    await restored.loop.compact();
    expect(textsOf(restored)).toHaveLength(1);
  });

  it('is a checkpoint of the provider, in front of the summary', async () => {
    const kit = openaiResponsesKit;
    const run = await openRun(kit, { store: memoryStore() });
    await run.say('What does the log say?');
    const checkpoint: ResponsesItem = { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' };
    run.loop.append([checkpoint]);
    await run.session.appendTurn(readTurn(kit.adapter, [checkpoint]));
    for (const round of [1, 2]) {
      await run.step({ reply: { calls: [{ id: `call_${round}`, name: 'read', input: {} }] }, results: [long] });
      await run.loop.compact();
      const other = await run.reopen();
      expect(JSON.stringify(other.loop.request.input)).toBe(JSON.stringify(run.loop.request.input));
      expect(JSON.stringify(other.loop.request).split('sealed')).toHaveLength(2);
    }
  });
});

describe('outputs of tools', () => {
  it('K1: are whole in the loop and as short as the host wants in the store, in every form', async () => {
    const store = memoryStore();
    for (const kit of [openaiChatKit, anthropicKit]) {
      const id = kit.name;
      const run = await openRun(kit as typeof openaiChatKit, {
        store,
        id,
        retainOutput: ({ name, input, output, isError }) =>
          JSON.stringify(output).includes('RAW') ? `${name} ${JSON.stringify(input)} ${isError}` : output,
      });
      await run.say('Look.');
      await run.step({ reply: { text: 'I look.', reasoning: 'Why?', calls: calls('call_1') }, results: ['RAW output'] });
      run.session.recorder.onToolStart({ id: 'call_2', name: 'read', input: {} });
      run.session.recorder.onToolEnd({ id: 'call_2', output: 'RAW too' });
      await run.loop.compact();
      await run.session.appendTurn({ messages: run.session.recorder.messages() });
      expect(JSON.stringify(run.sent)).not.toContain('RAW'); // sent before it was there
      const text = JSON.stringify((await store.load(id)).events);
      expect(text).not.toContain('RAW');
      expect(text).toContain('read {\\"path\\":\\"a.ts\\"} false');
    }
  });

  it('are short in what a compaction by hand keeps of tools that ran in it, and in the turns that stay behind it', async () => {
    const store = memoryStore();
    const retain = { tail: { min: 100, max: 300 } };
    const run = await openRun(openaiChatKit, { store, retain, retainOutput: () => 'short' });
    await run.say('Look.');
    await run.take({ text: long });
    await run.say('And here?');
    await run.take({ text: 'I look.', calls: calls('call_1') }, ['RAW output']);
    const { recorder } = run.session;
    recorder.onToolStart({ id: 'call_2', name: 'read', input: {} });
    recorder.onToolEnd({ id: 'call_2', output: 'RAW too' });
    await run.loop.compact(run.session.recordManual({ recorder }));
    expect(JSON.stringify(run.loop.request)).toContain('RAW output');
    expect(textsOf(run)).toHaveLength(4);
    expect(recorder.unstored).toEqual({ text: '', activities: [] }); // nothing of it is stored a second time
    expect(JSON.stringify((await store.load('run')).events)).not.toContain('RAW');
  });

  it('are seen whole by the next request of the running loop', async () => {
    const run = await openRun(openaiChatKit, { store: memoryStore(), retainOutput: () => '' });
    await run.say('Look.');
    await run.step({ reply: { calls: calls('call_1') }, results: ['RAW output'] });
    await run.step({ reply: { text: 'Done.' } });
    expect(JSON.stringify(run.sent[1])).toContain('RAW output');
    const other = await run.reopen();
    expect(saidIn(openaiChatKit, other.loop.request)).toHaveLength(4);
    expect(JSON.stringify(other.loop.request)).not.toContain('RAW');
  });

  it('a host function that throws stores nothing', async () => {
    const store = memoryStore();
    const run = await openRun(openaiChatKit, {
      store,
      retainOutput: () => {
        throw new Error('no room');
      },
    });
    await run.say('Look.');
    await expect(run.step({ reply: { calls: calls('call_1') } })).rejects.toThrow('no room');
    expect((await store.load('run')).events).toHaveLength(2);
  });
});

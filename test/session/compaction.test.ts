import { describe, expect, it } from 'vitest';
import { CompactionError } from '../../src/errors.ts';
import { textOf } from '../../src/message.ts';
import { createSession, memoryStore, type SessionStore } from '../../src/session.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { lifecycleOf } from '../support/harness.ts';
import { calls, dueRun, kindsOf, long, storedCompaction, textsOf } from '../support/session-due-run.ts';
import { openRun, saidIn, userSays } from '../support/session-run.ts';

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
    expect(JSON.stringify(events)).not.toContain('"seen"'); // it holds for one loop alone
    expect(textsOf(run)).toEqual([expect.stringContaining('<compacted_context>'), 'assistant: Done.']);
    expect(run.session.transcript.map(({ kind }) => kind)).toEqual(['user', 'assistant', 'assistant', 'compaction', 'assistant']);
  });

  it('takes no part of a turn that is stored for visible only: nothing is shown twice', async () => {
    const { run, store } = await dueRun();
    const { recorder } = run.session;
    recorder.onText('I read.');
    const answer = { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'I read.' }] };
    run.loop.append(openaiChatKit.adapter.writeMessage(answer));
    const stored = run.session.appendTurn({ messages: [answer], snapshot: run.loop.snapshot() });
    recorder.onText(' More.');
    await stored;
    await run.loop.prepare();
    const checkpoints = (await store.load('run')).events.filter(({ payload }) => Object(payload).checkpoint);
    expect(checkpoints.map(({ payload }) => Object(payload).messages)).toEqual([
      [{ role: 'assistant', parts: [{ type: 'text', text: ' More.' }] }],
    ]);
    expect(recorder.text).toBe('I read. More.');
  });

  it('by hand covers what it is told of, also input that no turn has answered, and what is told of one is of no other', async () => {
    const { run, store } = await dueRun();
    await run.say('First.');
    await run.loop.compact(run.session.recordManual());
    expect(textsOf(run)).toHaveLength(1);
    await run.say('Second.');
    await run.take({ text: long });
    await run.loop.compact();
    expect((await storedCompaction(store)).payload.transcript).toBeUndefined();
    expect(textsOf(run)).toHaveLength(1);
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

  it('that turns out to be stored, with something of another process behind it, is applied, and that stays behind it', async () => {
    const store = memoryStore();
    await dueRun({ store });
    const doubtful: SessionStore = {
      ...store,
      append: async (id, event) => {
        await store.append(id, event);
        if (event.kind !== 'compaction_applied') return;
        await (await createSession({ store, id })).appendUser(userSays('From another machine.'));
        throw new CompactionError('store-in-doubt', 'Connection lost.');
      },
    };
    const run = await openRun(openaiChatKit, { store: doubtful });
    await run.loop.prepare();
    expect(lifecycleOf(run.events)).toEqual(['started', 'applied']);
    expect(textsOf(run).slice(1)).toEqual(['user: From another machine.']);
    await run.take({ text: long });
    await run.loop.compact();
    expect(textsOf(run)[1]).toBe('user: From another machine.'); // this loop never had it
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

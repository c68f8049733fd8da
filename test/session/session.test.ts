import { describe, expect, it } from 'vitest';
import { createSession, memoryStore } from '../../src/session.ts';
import { kindsOf } from '../support/session-due-run.ts';
import { userSays } from '../support/session-run.ts';

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
    const given = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello.' }] };
    const [answer] = [{ ...given, role: 'assistant' as const, parts: [...given.parts] }];
    const accepted = [session.appendUser(given), session.appendTurn({ messages: [answer] })];
    for (const parts of [given.parts, answer.parts]) parts[0] = { type: 'text', text: 'Changed.' };
    await Promise.all(accepted);
    for (const taken of [session.messages, session.events, session.transcript])
      JSON.stringify(taken, (key, value) => {
        if (key === 'parts') value.length = 0;
        return value;
      });
    expect(session.messages).toEqual([userSays('Hello.'), { ...userSays('Hello.'), role: 'assistant' }]);
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
    session.damage.length = 0; // a copy
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

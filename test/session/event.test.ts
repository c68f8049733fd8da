import { expect, it } from 'vitest';
import { createSession, memoryStore } from '../../src/session.ts';
import { userSays } from '../support/session-run.ts';

const snapshot = { version: 1, replacements: [], trigger: { failures: 0, reported: [] } };
const compaction = {
  messages: [userSays('Summary.')],
  coversSeq: 2,
  compactionId: 'id',
  trigger: 'automatic',
  status: '',
  snapshot,
};

async function load(kind: string, payload: unknown) {
  const store = memoryStore();
  await store.append('run', { seq: 1, kind, payload });
  return createSession({ store, id: 'run' });
}

it.each([
  ['session_started', { version: 1 }],
  ['user_message', { message: userSays('Hello.') }],
  ['assistant_turn', { messages: [] }],
  ['assistant_turn', { messages: [], snapshot, moved: ['attempt'], interrupted: true, error: 'no', checkpoint: false }],
  ['assistant_turn', { messages: [], native: { provider: 'any', items: [{ item: {}, from: 0, count: 0 }] } }],
  ['compaction_applied', compaction],
  ['compaction_applied', { ...compaction, trigger: 'manual', transcript: [] }],
  ['of_a_later_version', 'anything'],
])('K55: %s is read: %#', async (kind, payload) => {
  expect((await load(kind, payload)).damage).toEqual([]);
});

it.each([
  ['session_started', {}],
  ['user_message', { message: { role: 'user', parts: [{ type: 'text' }] } }],
  ['user_message', null],
  ['assistant_turn', { messages: 'Hello.' }],
  ['assistant_turn', { messages: [], error: 404 }],
  ['assistant_turn', { messages: [], moved: ['elsewhere'] }],
  ['assistant_turn', { messages: [], native: { provider: 'any', items: [{ item: {}, from: -1, count: 1 }] } }],
  ['assistant_turn', { messages: [], snapshot: 'none' }],
  ['compaction_applied', { ...compaction, coversSeq: 1.5 }],
  ['compaction_applied', { ...compaction, snapshot: undefined }],
  ['compaction_applied', { ...compaction, trigger: 'sometimes' }],
])('K59: %s that is not as it was written is reported and passed over: %#', async (kind, payload) => {
  const session = await load(kind, payload);
  expect(session.damage).toEqual([{ reason: 'unreadable', seq: 1 }]);
  expect(session.messages).toEqual([]);
  expect(session.transcript).toEqual([]);
});

it('an event that is not as it should be is named when it is to be stored', async () => {
  const session = await createSession({ store: memoryStore(), id: 'run' });
  await expect(session.appendTurn({ messages: [{ role: 'robot', parts: [] }] as never })).rejects.toMatchObject({
    code: 'invalid-event',
    message: 'Expected `payload.messages` of assistant_turn to be a list of messages with a role and parts.',
  });
});

import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSession, jsonlStore, memoryStore } from '../../src/session.ts';
import { adapterConformance, providerKits, storeConformance } from '../../src/testing/index.ts';

// These run in a context of `node:vm`, as everything does under Jest: what Node's own modules give is of another realm.
it('the tests run in a realm of their own', () => {
  let thrown: unknown;
  try {
    readFileSync(join(tmpdir(), 'there', 'is', 'no', 'such', 'file'));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: 'ENOENT' });
  expect(thrown).not.toBeInstanceOf(Error);
});

it('a session on disk begins, and its bytes come back', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'realm-'));
  const store = jsonlStore({ directory });
  const session = await createSession({ store, id: 'chat' });
  const value = { image: { format: 'png', source: { bytes: Uint8Array.of(1, 2, 3) } } };
  await session.appendUser({ role: 'user', parts: [{ type: 'native', value }] });
  await store.close();
  const again = jsonlStore({ directory });
  const [message] = (await createSession({ store: again, id: 'chat' })).messages;
  await again.close();
  expect(message?.parts).toEqual([{ type: 'native', value }]);
});

describe('memoryStore', () => {
  const store = memoryStore();
  storeConformance(() => store, { test: it });
});

describe('jsonlStore', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'realm-'));
  storeConformance(() => jsonlStore({ directory }), { test: it });
});

describe('bedrock', () => {
  adapterConformance(providerKits.bedrock, { test: it, runs: 30 });
});

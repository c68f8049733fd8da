import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCompactionError } from '../../../src/errors.ts';
import type { SessionStore, StoredEvent } from '../../../src/session/store.ts';
import { type PostgresPool, postgresStore } from '../../../src/session/stores/postgres-store.ts';
import { storeConformance } from '../../../src/testing/store-conformance.ts';
import { judge, makeWrite } from '../../support/crash-events.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';

let server: PostgresServer;
const pools: pg.Pool[] = [];
/** A pool of its own, as on another machine. */
const connect = (max = 2): pg.Pool => {
  const pool = new pg.Pool({ connectionString: server.connectionString, max });
  // As the manual of `pg` asks: connections that break while nobody uses them.
  pool.on('error', () => {});
  pools.push(pool);
  return pool;
};
beforeAll(async () => {
  server = await startPostgres();
  await postgresStore({ pool: connect() }).createTable();
}, 120_000);
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await server?.stop();
});

describe('postgresStore', () => {
  let pool: pg.Pool | undefined;
  storeConformance(
    () => {
      pool ??= connect(8);
      return postgresStore({ pool });
    },
    { test: it },
  );
});

/** Appends one after the other until so many are stored, from whatever the session has become. What was acknowledged. */
async function writeMany(store: SessionStore, id: string, run: number, writes: number): Promise<StoredEvent[]> {
  const stored: StoredEvent[] = [];
  let next = (await store.load(id)).events.length + 1;
  for (let write = 0; write < writes; ) {
    const events = makeWrite(next, run, write, 1 + (write % 3));
    try {
      await (events.length === 1 ? store.append(id, events[0]!) : store.appendBatch(id, events));
      stored.push(...events);
      next += events.length;
      write++;
    } catch (error) {
      if (!isCompactionError(error) || !['store-conflict', 'store-in-doubt'].includes(error.code)) throw error;
      const loaded = (await store.load(id)).events;
      next = loaded.length + 1;
      if (error.code === 'store-in-doubt' && isDeepStrictEqual(loaded.slice(events[0]!.seq - 1, events.at(-1)!.seq), events)) {
        stored.push(...events);
        write++;
      }
    }
  }
  return stored;
}

it('sixteen writers on one session lose nothing and double nothing', async () => {
  const writers = Array.from({ length: 16 }, (_, run) => writeMany(postgresStore({ pool: connect() }), 'shared', run + 1, 6));
  const acknowledged = (await Promise.all(writers)).flat();
  const { events, damage } = await postgresStore({ pool: connect() }).load('shared');
  expect(judge(events, acknowledged)).toEqual({ lost: 0, doubled: 0, broken: 0 });
  expect(events).toHaveLength(acknowledged.length);
  expect(damage).toEqual([]);
});

it('sixteen writers on sixteen sessions are not in each other’s way', async () => {
  const ids = Array.from({ length: 16 }, (_, index) => `own ${index}`);
  const store = postgresStore({ pool: connect(16) });
  const acknowledged = await Promise.all(ids.map((id, index) => writeMany(store, id, index + 1, 12)));
  for (const [index, id] of ids.entries()) {
    const { events } = await store.load(id);
    expect(events).toEqual(acknowledged[index]);
  }
});

/** Makes writing to a table slow, row by row and again at the end of the transaction, so that it can be killed anywhere in between. */
const slowDown = (table: string): string => `
CREATE FUNCTION wait_a_little() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END';
CREATE TRIGGER slow_row BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION wait_a_little();
CREATE CONSTRAINT TRIGGER slow_end AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_a_little()`;

it('connections that are killed in the middle of batches lose nothing and double nothing', async () => {
  const admin = connect(1);
  const pool = new pg.Pool({ connectionString: server.connectionString, max: 8, application_name: 'victim' });
  pool.on('error', () => {});
  pools.push(pool);
  const store = postgresStore({ pool, table: 'slow_events' });
  await store.createTable();
  await admin.query(slowDown('slow_events'));

  let isWriting = true;
  let kills = 0;
  const killing = (async () => {
    while (isWriting) {
      const { rows } = await admin.query(
        `SELECT pg_terminate_backend(pid) AS killed FROM pg_stat_activity
         WHERE application_name = 'victim' AND state = 'active' AND query LIKE 'INSERT%' ORDER BY random() LIMIT 1`,
      );
      kills += rows.filter(({ killed }) => killed).length;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  const ids = ['victim a', 'victim b', 'victim c'];
  const written = await Promise.all(
    ids.flatMap((id) => [1, 2].map((run) => writeMany(store, id, run, 25).then((events) => ({ id, events })))),
  );
  isWriting = false;
  await killing;
  expect(kills).toBeGreaterThan(10);
  for (const id of ids) {
    const acknowledged = written.filter((each) => each.id === id).flatMap(({ events }) => events);
    const { events, damage } = await store.load(id);
    expect(judge(events, acknowledged)).toEqual({ lost: 0, doubled: 0, broken: 0 });
    expect(events).toHaveLength(acknowledged.length);
    expect(damage).toEqual([]);
  }
});

/** A pool whose answers get lost, before or after the server has done the work. */
function deafPool(pool: pg.Pool, lose: (text: string, attempt: number) => 'before' | 'after' | undefined): PostgresPool {
  let attempt = 0;
  return {
    query: async (text, values) => {
      const lost = lose(text, ++attempt);
      const answer = lost === 'before' ? undefined : await pool.query(text, values);
      if (lost || !answer) throw new Error('Connection terminated unexpectedly');
      return answer;
    },
  };
}

it('a commit whose answer was lost is known to be stored, once', async () => {
  const pool = connect();
  const store = postgresStore({ pool: deafPool(pool, (_text, attempt) => (attempt === 1 ? 'after' : undefined)) });
  const events = makeWrite(1, 1, 0, 3);
  await store.appendBatch('deaf', events);
  expect((await postgresStore({ pool }).load('deaf')).events).toEqual(events);
});

it('the same events of another writer are not taken for one’s own', async () => {
  const pool = connect();
  const events = makeWrite(1, 1, 0, 2);
  const other = postgresStore({ pool });
  let isFirst = true;
  const store = postgresStore({
    pool: {
      query: async (text, values) => {
        if (isFirst) {
          isFirst = false;
          await other.appendBatch('twins', events);
          throw new Error('Connection terminated unexpectedly');
        }
        return pool.query(text, values);
      },
    },
  });
  await expect(store.appendBatch('twins', events)).rejects.toMatchObject({ code: 'store-conflict' });
});

it('a database that stays away leaves a doubt only where it may have stored something', async () => {
  const [event] = makeWrite(1, 1, 0, 1);
  const away = postgresStore({ pool: deafPool(connect(), () => 'before') });
  await expect(away.append('away', event!)).rejects.toMatchObject({ code: 'store-in-doubt' });
  await expect(away.load('away')).rejects.toMatchObject({ code: 'store-failed' });
  const nowhere = new pg.Pool({ connectionString: 'postgres://u:secret-password@127.0.0.1:1/none' });
  pools.push(nowhere);
  const refused = await postgresStore({ pool: nowhere })
    .append('away', event!)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'store-failed' });
  expect(String(refused)).not.toContain('secret');
});

it('what the server refuses is refused at once', async () => {
  let asked = 0;
  const pool = connect();
  const counting: PostgresPool = {
    query: (text, values) => {
      asked++;
      return pool.query(text, values);
    },
  };
  const store = postgresStore({ pool: counting, table: 'no_such_table' });
  const [event] = makeWrite(1, 1, 0, 1);
  await expect(store.append('a', event!)).rejects.toMatchObject({
    code: 'store-failed',
    message: expect.stringContaining('42P01'),
  });
  expect(asked).toBe(1);
});

it('the table is made once, by however many at once, in any schema', async () => {
  const pool = connect(8);
  await pool.query('CREATE SCHEMA agents');
  const stores = Array.from({ length: 8 }, () => postgresStore({ pool, table: 'agents.Events_2' }));
  await Promise.all(stores.map((store) => store.createTable()));
  const events = makeWrite(1, 1, 0, 2);
  await stores[0]!.appendBatch('a', events);
  expect((await stores[1]!.load('a')).events).toEqual(events);
});

it('who may not make tables may use one that is there', async () => {
  const admin = connect();
  await admin.query(`CREATE ROLE user_only LOGIN PASSWORD 'u'`);
  await admin.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await admin.query('GRANT SELECT, INSERT ON context_compactor_events TO user_only');
  const pool = new pg.Pool({ connectionString: server.connectionString.replace('postgres:password', 'user_only:u'), max: 1 });
  pool.on('error', () => {});
  pools.push(pool);
  const store = postgresStore({ pool });
  await store.createTable();
  const events = makeWrite(1, 1, 0, 2);
  await store.appendBatch('user only', events);
  expect((await store.load('user only')).events).toEqual(events);
  await expect(postgresStore({ pool, table: 'new_events' }).createTable()).rejects.toMatchObject({
    code: 'store-failed',
    message: expect.stringContaining('42501'),
  });
});

it('what was never sent is no doubt: a pool that was ended, one that has no connection, a statement that took too long', async () => {
  const [event] = makeWrite(1, 1, 0, 1);
  const ended = new pg.Pool({ connectionString: server.connectionString });
  await ended.end();
  const full = new pg.Pool({ connectionString: server.connectionString, max: 1, connectionTimeoutMillis: 50 });
  const slow = new pg.Pool({ connectionString: server.connectionString, max: 1, statement_timeout: 100 });
  for (const pool of [full, slow]) pool.on('error', () => {});
  pools.push(full, slow);
  const held = await full.connect();
  await held.query('BEGIN');
  await held.query('LOCK TABLE context_compactor_events IN ACCESS EXCLUSIVE MODE');
  for (const pool of [ended, full, slow])
    await expect(postgresStore({ pool }).append('unsent', event!)).rejects.toMatchObject({ code: 'store-failed' });
  await held.query('ROLLBACK');
  held.release();
  expect((await postgresStore({ pool: connect() }).load('unsent')).events).toEqual([]);
});

it('rows that are no events are reported, and are not taken for some', async () => {
  const pool = connect();
  const table = 'keyless_events';
  const store = postgresStore({ pool, table });
  await store.createTable();
  await pool.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey`);
  const insert = (seq: string, kind: string): Promise<unknown> =>
    pool.query(`INSERT INTO ${table} VALUES ('odd', ${seq}, '${kind}', '1', gen_random_uuid())`);
  for (const seq of ['-3', '0', '1', '2', '2', '9007199254740993']) await insert(seq, 'note');
  await insert('3', '');
  expect(await store.load('odd')).toEqual({
    events: [1, 2].map((seq) => ({ seq, kind: 'note', payload: 1 })),
    damage: [
      { reason: 'unreadable' },
      { reason: 'unreadable' },
      { reason: 'repeated', seq: 2 },
      { reason: 'unreadable', seq: 3 },
      { reason: 'unreadable' },
    ],
  });
});

it('rows that somebody else changed are reported, and cost no other event', async () => {
  const pool = connect();
  const store = postgresStore({ pool });
  const events = makeWrite(1, 1, 0, 6);
  await store.appendBatch('changed', events);
  await pool.query(`UPDATE context_compactor_events SET payload = '{"half":' WHERE session = 'changed' AND seq = 2`);
  await pool.query(`DELETE FROM context_compactor_events WHERE session = 'changed' AND seq = 4`);
  expect(await store.load('changed')).toEqual({
    events: events.filter(({ seq }) => seq !== 2 && seq !== 4),
    damage: [
      { reason: 'unreadable', seq: 2 },
      { reason: 'missing', seq: 4 },
    ],
  });
  await store.append('changed', makeWrite(7, 2, 0, 1)[0]!);
});

it('wrong options are named, and their values are not shown', () => {
  const pool = { query: () => Promise.reject(new Error('not asked')) };
  const wrong: [unknown, RegExp][] = [
    [undefined, /options/],
    [{}, /`pool`/],
    [{ pool: 'postgres://u:secret@h' }, /^(?!.*secret).*`pool`/],
    [{ pool, table: 'a; DROP TABLE b' }, /`table`/],
    [{ pool, table: 'a"b' }, /`table`/],
    [{ pool, tabel: 'a' }, /`tabel`/],
  ];
  // From JavaScript anything may come.
  for (const [options, message] of wrong)
    expect(() => postgresStore(options as Parameters<typeof postgresStore>[0])).toThrow(message);
});

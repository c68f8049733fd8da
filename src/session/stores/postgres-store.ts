import { randomUUID } from 'node:crypto';
import type { SessionStore, StoredEvent } from '../store.ts';
import { checkEvents, checkSessionId, conflict } from './check-append.ts';
import { checkStoreOptions } from './check-store-options.ts';
import { writePayload } from './payload-text.ts';
import { ask, type PostgresPool } from './postgres/ask.ts';
import { readColumn, readRows } from './postgres/read-rows.ts';
import { isTableName, writeStatements } from './postgres/statements.ts';

export type { PostgresPool };

export interface PostgresStoreOptions {
  /** Connections to the database. The store opens none by itself and closes none. */
  pool: PostgresPool;
  /** The table, with its schema or without. Default `context_compactor_events`. */
  table?: string | undefined;
}

export interface PostgresStore extends SessionStore {
  /** Makes the table where there is none, also when several processes do so at once. */
  createTable(): Promise<void>;
}

/**
 * Keeps sessions in a table, for agents on many machines. Any pool with the `query` of `pg` will do.
 *
 * A batch is one statement, so all of its events are there or none. Of two writers with the same state the second gets `store-conflict`. A
 * connection that is lost before the server's answer leaves no doubt: each append has an id of its own, so it is sent again and then known
 * to be stored once. Only if the database stays away for seconds is it `store-in-doubt`.
 *
 * `createTable` makes the table. Who migrates by hand makes it so; rows are never changed, and old sessions are deleted by `session`:
 *
 * ```sql
 * CREATE TABLE context_compactor_events (
 *   session text NOT NULL, seq bigint NOT NULL, kind text NOT NULL,
 *   payload text NOT NULL, -- JSON; not `jsonb`, which refuses some texts
 *   append_id uuid NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
 *   PRIMARY KEY (session, seq)
 * );
 * ```
 *
 * `pg` tells its pool of idle connections that break: listen to `error` there, as its manual says, or the process ends.
 *
 * @throws CompactionError `invalid-options`
 *
 * @example
 * const pool = new pg.Pool({ connectionString });
 * pool.on('error', () => {});
 * const store = postgresStore({ pool });
 * await store.createTable();
 * await store.append('chat', { seq: 1, kind: 'note', payload: { text: 'Hello.' } });
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  checkStoreOptions(options, {
    pool: { holds: hasQuery, is: 'a pool of `pg`, or something else with its `query`' },
    table: { holds: (value) => value === undefined || isTableName(value), is: 'the name of a table, with its schema or without' },
  });
  const { pool, table = 'context_compactor_events' } = options;
  const statements = writeStatements(table);

  const appendBatch = async (id: string, events: readonly StoredEvent[]): Promise<void> => {
    checkSessionId(id);
    checkEvents(events);
    const columns = [
      events.map(({ seq }) => seq),
      events.map(({ kind }) => kind),
      events.map(({ payload }) => writePayload(payload)),
    ];
    // From here on the caller may change what it gave.
    const seq = events[0]?.seq;
    if (seq === undefined) return;
    const appendId = randomUUID();
    const stored = await ask(pool, statements.append, [id, appendId, ...columns, seq - 1], { writes: true });
    if (stored.length > 0) return;
    // Nothing was added, because the session has gone on: by somebody else, or by an earlier attempt whose answer was lost.
    const [row] = await ask(pool, statements.owned, [id, seq, appendId], { writes: true });
    if (readColumn(row, 'owned') !== true) throw conflict(id, seq, Number(readColumn(row, 'last')));
  };

  return {
    load: async (id) => {
      checkSessionId(id);
      return readRows(await ask(pool, statements.load, [id], { writes: false }));
    },
    append: (id, event) => appendBatch(id, [event]),
    appendBatch,
    createTable: async () => {
      // Who may not make tables may use one.
      const [row] = await ask(pool, statements.exists, [], { writes: false });
      if (readColumn(row, 'found') === true) return;
      await ask(pool, statements.create, [], { writes: false });
    },
  };
}

function hasQuery(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'query') === 'function';
}

// Compiled, never run: what `pg` offers fits without a cast.
import type { Client, Pool, PoolClient } from 'pg';
import { expectTypeOf } from 'vitest';
import type { SessionStore } from '../../src/session/store.ts';
import type { JsonlStore } from '../../src/session/stores/jsonl-store.ts';
import type { PostgresPool, PostgresStore } from '../../src/session/stores/postgres-store.ts';

expectTypeOf<Pool>().toExtend<PostgresPool>();
expectTypeOf<Client>().toExtend<PostgresPool>();
expectTypeOf<PoolClient>().toExtend<PostgresPool>();

expectTypeOf<JsonlStore>().toExtend<SessionStore>();
expectTypeOf<PostgresStore>().toExtend<SessionStore>();

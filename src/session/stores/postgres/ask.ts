import { setTimeout as delay } from 'node:timers/promises';
import { CompactionError } from '../../../errors.ts';
import { readCode } from '../read-code.ts';
import { classifyFailure } from './failure.ts';

/** What the store needs of a pool: `Pool` of `pg` has it, and so has PGlite. */
export interface PostgresPool {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Milliseconds before each attempt. */
const waits = [0, 50, 500, 2000];

/**
 * Asks until there is an answer: every statement here may be sent twice.
 *
 * @throws CompactionError `store-failed`, or `store-in-doubt` where `writes` and an attempt got no answer.
 */
export async function ask(
  pool: PostgresPool,
  text: string,
  values: unknown[],
  { writes }: { writes: boolean },
): Promise<unknown[]> {
  let isInDoubt = false;
  let cause: unknown;
  for (const wait of waits) {
    await delay(wait);
    try {
      return (await pool.query(text, values)).rows;
    } catch (error) {
      cause = error;
      const failure = classifyFailure(error);
      isInDoubt ||= writes && failure === 'lost';
      if (failure === 'refused') break;
    }
  }
  // The wording of a driver's error may hold the address of the database: it stays in `cause`.
  const code = readCode(cause);
  const how = `The database ${code === undefined ? 'failed' : `failed (${code})`}; \`cause\` says how.`;
  throw isInDoubt
    ? new CompactionError('store-in-doubt', `${how} What was written may be stored, or not: load the session again.`, { cause })
    : new CompactionError('store-failed', how, { cause });
}

import { isError } from '../../../any-realm.ts';
import { readCode } from '../read-code.ts';

/**
 * - `refused`: the server said no. Nothing is stored, and asking again is no use.
 * - `passing`: nothing is stored, and asking again may help.
 * - `lost`: the connection or the server went away before it answered. It may be stored.
 */
export type Failure = 'refused' | 'passing' | 'lost';

// Appendix A of PostgreSQL's manual. Passing: no connection was made, the server starts or is full, two transactions were in each other's
// way (one that meets another's new row or new table finds it there the next time).
const passing = /^(08001|08004|57P03|53300|40001|40P01|23505|42P07|42710)$/;
const lost = /^(08|57P0|40003)/;
const unreached = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

// What `pg` says without a code when it has not even begun.
const ended = /^Cannot use a pool after calling end/;
const unconnected = /^timeout exceeded when trying to connect/;

/** What is known after a statement has failed. */
export function classifyFailure(error: unknown): Failure {
  const code = readCode(error) ?? '';
  const message = isError(error) ? error.message : '';
  if (ended.test(message)) return 'refused';
  if (passing.test(code) || unreached.test(code) || unconnected.test(message)) return 'passing';
  // Without the state of a server's answer nobody answered: sockets, pools, timeouts.
  return lost.test(code) || !isState(code) ? 'lost' : 'refused';
}

/** Codes of Node begin with an E, and no class of states does. */
function isState(code: string): boolean {
  return /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code);
}

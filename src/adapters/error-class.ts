import type { ErrorClass } from './adapter.ts';
import { matchOverflow, matchRequestOverRateLimit } from './error-class/overflow.ts';
import { type ErrorFacts, readError } from './error-class/read-error.ts';

/** Limits that no retry lifts, though some of them come as a 429. */
const exhausted = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_error',
  'usage_limit_reached',
  'usage_not_included',
  'enforced_spend_limit_reached',
  'contract_spend_limit_reached',
  'servicequotaexceededexception',
]);

/** AWS names, which say more than the status they come with. */
const transientNames = new Set([
  'throttlingexception',
  'serviceunavailableexception',
  'internalserverexception',
  'modelnotreadyexception',
  'modeltimeoutexception',
  'modelstreamerrorexception',
]);

/** Codes of errors without a status: from the middle of a stream, or from the connection. */
const transientCodes = new Set([
  // OpenAI, Anthropic
  'server_error',
  'internal_server_error',
  'rate_limit_exceeded',
  'rate_limit_error',
  'overloaded_error',
  'api_error',
  'timeout_error',
  // Node, undici, fetch
  'econnreset',
  'econnrefused',
  'econnaborted',
  'etimedout',
  'epipe',
  'enotfound',
  'eai_again',
  'ehostunreach',
  'enetunreach',
  'und_err_socket',
  'und_err_connect_timeout',
  'und_err_headers_timeout',
  'und_err_body_timeout',
  'timeouterror',
  'apiconnectionerror',
  'apiconnectiontimeouterror',
]);

/** gRPC words that Google and Genkit put where others put an HTTP status. */
const transientStatusWords = new Set(['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'INTERNAL', 'DEADLINE_EXCEEDED', 'UNKNOWN']);

const throttling =
  /rate.?limit|too many requests|throttl|too many tokens(?!:| in the prompt)|tokens per (?:min|day)|\bquota\b|please wait before|overloaded|over capacity/i;

const connection =
  /^connection error\.?$|request timed out|fetch failed|failed to fetch|^cannot connect to api:|network ?error|socket hang up|premature close|stream closed before|incomplete json segment|other side closed|^terminated$/i;

/**
 * What an error of any provider means, told from its structure: no SDK is imported, so an error from another copy of an SDK, from a
 * gateway or from a stream counts too. Never throws.
 *
 * - `overflow`: the request is larger than the model takes; `limit` and `requested` in tokens where the error tells them. Never for
 *   throttling, quota, authentication and limits in bytes.
 * - `retryable`: throttling, overload, timeouts and lost connections; `retryAfter` in milliseconds where the error tells it.
 * - `fatal`: everything else, an abort included.
 *
 * @example
 * classifyProviderError({ status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' });
 * // { kind: 'overflow', limit: 200000, requested: 210000 }
 */
export function classifyProviderError(error: unknown): ErrorClass {
  const facts = readError(error);
  const { status, codes } = facts;
  if (codes.has('aborterror') || facts.texts.some((text) => /^request was aborted\.?$/i.test(text))) return { kind: 'fatal' };
  if (some(codes, exhausted) || status === 401 || status === 402 || status === 403) return { kind: 'fatal' };

  const tooLarge = matchRequestOverRateLimit(facts.texts);
  if (tooLarge) return { kind: 'overflow', ...tooLarge };
  const throttled = status === 429 || facts.texts.some((text) => throttling.test(text));
  // A gateway may send any status; these are the ones under which a provider itself refuses a request for its size.
  if (!throttled && (status === undefined || status === 400 || status === 413 || status === 422)) {
    const overflow = matchOverflow(facts);
    if (overflow) return { kind: 'overflow', ...overflow };
  }

  if (!isTransient(facts, throttled)) return { kind: 'fatal' };
  return facts.retryAfter === undefined ? { kind: 'retryable' } : { kind: 'retryable', retryAfter: facts.retryAfter };
}

function isTransient({ status, statusWords, codes, texts }: ErrorFacts, throttled: boolean): boolean {
  if (some(codes, transientNames)) return true;
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  if (throttled || some(codes, transientCodes) || some(statusWords, transientStatusWords)) return true;
  return texts.some((text) => connection.test(text));
}

function some(values: ReadonlySet<string>, known: ReadonlySet<string>): boolean {
  for (const value of values) if (known.has(value)) return true;
  return false;
}

import { readError } from './adapters/error-class/read-error.ts';
import type { CompactionError } from './errors.ts';

/** What must happen before a failure is risked again that would only repeat itself. */
export type SuppressedUntil =
  /** New input of the user, another model, or other system text or tools. */
  | 'input'
  /** New input of the user and an answer of the provider, or another model. */
  | 'answer';

/** How a conversation stands, as far as failures of its compaction go. */
export interface Standing {
  /** What the user has said, as a fingerprint. */
  said: string;
  model?: string | undefined;
  /** Model, system text and tools, as one fingerprint. */
  surroundings: string;
}

/** How it stood at the last failure. */
export interface FailureRecord extends Standing {
  /** Absent where the failure may pass by itself: then the next turn may try again. */
  until?: SuppressedUntil | undefined;
}

const mostFailures = 3;

/** True where what failed would most likely fail again. V66, and V67 the other way round: each class really ends. */
export function isSuppressed(
  { failures, failure }: { failures: number; failure?: FailureRecord | undefined },
  now: Standing,
  answered: boolean,
): boolean {
  if (!failure) return false;
  const saidMore = now.said !== failure.said;
  if (failures >= mostFailures && !saidMore) return true; // also where a host changes models or system text with each request
  if (failure.until === undefined || now.model !== failure.model) return false;
  if (failure.until === 'answer') return !(saidMore && answered);
  return !saidMore && now.surroundings === failure.surroundings;
}

/** Why it is suppressed from now on, for the host; undefined where the next turn may try again. */
export function explainSuppression(failures: number, { until }: FailureRecord): string | undefined {
  if (until === 'answer')
    return 'The provider grants no request for a summary: none is tried until it has answered and the user says something new.';
  if (until === 'input')
    return 'The summary request would only fail again: none is tried until the user says something new, or the request changes.';
  return failures >= mostFailures
    ? 'Three compactions in a row failed: none is tried until the user says something new.'
    : undefined;
}

/** The stricter of two. A failure that may pass does not make up for one that does not. V66 */
export function strictest(one: SuppressedUntil | undefined, other: SuppressedUntil | undefined): SuppressedUntil | undefined {
  return one === 'answer' || other === 'answer' ? 'answer' : (one ?? other);
}

/** No retry lifts these, and no other request of the conversation does. */
const refused =
  /spend(?:ing)?[ _-]?limit|out of (?:credits?|funds)|credit balance|insufficient[ _-](?:quota|credits?|funds|balance)|usage balance exhausted|usage[ _]limit[ _]reached|usage_not_included|billing|servicequotaexceeded|\bunauthori[sz]ed\b|invalid[ _]api[ _]key|authentication_error|permission_error/i;

const malformed = /invalid[ _]request|invalid_argument|validationexception/i;

/** What a failed compaction waits for: told from the root of its error. Undefined where it may pass by itself. */
export function classifyFailure(error: CompactionError): SuppressedUntil | undefined {
  if (error.code === 'summarizer-overflow') return 'input';
  if (error.code !== 'summarizer-failed') return undefined;
  const { status, codes, statusWords, texts } = readError(error.cause);
  const words = [...codes, ...statusWords, ...texts].join('\n');
  if (status === 401 || status === 402 || status === 403 || refused.test(words)) return 'answer';
  // What is throttled or broken on the way may say so in any words.
  if (status !== undefined && (status >= 500 || status === 408 || status === 409 || status === 429)) return undefined;
  return status === 400 || status === 404 || status === 413 || status === 422 || malformed.test(words) ? 'input' : undefined;
}

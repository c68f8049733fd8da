import type { ErrorClass } from '../adapter.ts';
import { classifyProviderError } from '../error-class.ts';
import { type Fields, isRecord } from '../fields.ts';

/**
 * See `ProviderAdapter.classifyError`. A `GenkitError` of the status `UNKNOWN` comes with code 500, whatever it stands for: the plugins
 * for OpenAI's wire use it for all that they have no word for, an abort and a lost connection too. The message tells what it was.
 */
export function classifyError(error: unknown): ErrorClass {
  const fields = readFields(error);
  const known = classifyProviderError(fields.status === 'UNKNOWN' ? unmask(fields) : error);
  const { responseMetadata } = fields;
  const wait = isRecord(responseMetadata) ? responseMetadata.retryAfterMs : undefined;
  if (known.kind !== 'retryable' || typeof wait !== 'number' || !(wait >= 0 && Number.isFinite(wait))) return known;
  return { kind: 'retryable', retryAfter: wait };
}

function unmask({ originalMessage, message, cause }: Fields): Fields {
  const text = typeof originalMessage === 'string' ? originalMessage : message;
  const status = typeof text === 'string' ? /^(?:UNKNOWN: )?([1-5]\d\d) /.exec(text)?.[1] : undefined;
  return { message: text, status: status === undefined ? 'UNKNOWN' : Number(status), cause };
}

/** What was thrown may be anything, and its getters may throw. */
function readFields(error: unknown): Fields {
  if (!isRecord(error)) return {};
  try {
    const { status, message, originalMessage, responseMetadata, cause } = error;
    return { status, message, originalMessage, responseMetadata, cause };
  } catch {
    return {};
  }
}

import { type Fields, isObject, readField } from './read-field.ts';
import { readDelay, readRetryAfter } from './retry-after.ts';

/** What an error says, gathered from itself, its causes and the bodies inside it. */
export interface ErrorFacts {
  /** HTTP status of the outermost error that has one. */
  status: number | undefined;
  /** Status words such as `RESOURCE_EXHAUSTED`. */
  statusWords: ReadonlySet<string>;
  /** Names, codes and types, in lower case. */
  codes: ReadonlySet<string>;
  /** Messages, outermost first, each on one line. */
  texts: readonly string[];
  /** Milliseconds. */
  retryAfter: number | undefined;
  /** Sizes in tokens that stand as fields beside a message (llama.cpp). */
  limit: number | undefined;
  requested: number | undefined;
}

// An error is small. Whatever is larger or deeper than this was not written to be read as one.
const mostValues = 64;
const longestText = 16_384;

/** Keys under which SDKs, gateways and providers put an error inside an error. */
const nestedKeys = [
  'error',
  'cause',
  'lastError',
  'errors',
  'response',
  'data',
  'body',
  'responseBody',
  'detail',
  'details',
  'metadata',
  'raw',
  '$metadata',
  '$response',
];

/** Reads an error of any shape. Never throws: getters that do, cycles and broken JSON are passed over. */
export function readError(error: unknown): ErrorFacts {
  const reader = createReader();
  const queue: unknown[] = [error];
  const seen = new Set<unknown>();
  for (let index = 0; index < queue.length && index < mostValues; index++) {
    const value = queue[index];
    if (seen.has(value)) continue;
    seen.add(value);
    if (typeof value === 'string') {
      reader.addText(value);
      queue.push(...parseEmbedded(value));
    } else if (Array.isArray(value)) queue.push(...value.slice(0, mostValues));
    else if (isObject(value)) queue.push(...reader.addObject(value));
  }
  return reader.facts;
}

function createReader(): { facts: ErrorFacts; addText(text: string): void; addObject(value: Fields): unknown[] } {
  const statusWords = new Set<string>();
  const codes = new Set<string>();
  const texts: string[] = [];
  const facts: ErrorFacts = {
    status: undefined,
    statusWords,
    codes,
    texts,
    retryAfter: undefined,
    limit: undefined,
    requested: undefined,
  };
  return {
    facts,
    addText(value) {
      const text = value.slice(0, longestText).replace(/\s+/g, ' ').trim();
      texts.push(text);
      facts.retryAfter ??= readDelay(text);
    },
    addObject(value) {
      for (const key of ['status', 'statusCode', 'status_code', 'httpStatusCode', 'originalStatusCode', 'code'])
        facts.status ??= readStatus(readField(value, key));
      for (const key of ['name', 'code', 'type', 'errorCode', '__type']) {
        const code = readField(value, key);
        if (typeof code === 'string') codes.add(code.slice(0, 100).toLowerCase());
      }
      const word = readField(value, 'status');
      if (typeof word === 'string') statusWords.add(word.slice(0, 100).toUpperCase());
      facts.retryAfter ??= readRetryAfter(value);
      facts.limit ??= readCount(readField(value, 'n_ctx'));
      facts.requested ??= readCount(readField(value, 'n_prompt_tokens'));
      const messages = [readField(value, 'apiMessage'), readField(value, 'message'), readField(value, 'Message')];
      return [...messages, ...nestedKeys.map((key) => readField(value, key))].filter(
        (found) => found !== undefined && found !== null,
      );
    },
  };
}

/** Objects that a text holds as JSON: gateways put one error into the message of another. B163 */
function parseEmbedded(text: string): unknown[] {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start === -1 || end < start || end - start > longestText) return [];
  try {
    return [JSON.parse(text.slice(start, end + 1))];
  } catch {
    return [];
  }
}

function readStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^[1-5]\d\d$/.test(value) ? Number(value) : value;
  // A stream that reports an error came with 200: that says nothing. `code` may be any number.
  return typeof status === 'number' && Number.isInteger(status) && status >= 300 && status < 600 ? status : undefined;
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}

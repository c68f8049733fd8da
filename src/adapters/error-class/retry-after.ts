import { type Fields, isObject, readField } from './read-field.ts';

/** In the middle of a stream there are no headers: OpenAI says it in words, as `20ms`, `11.054s` or `1m30s`. */
export function readDelay(text: string): number | undefined {
  const [, minutes, amount = '0', unit] = /try again in (?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(m?s))?/i.exec(text) ?? [];
  if (minutes === undefined && unit === undefined) return undefined;
  return Math.ceil(Number(minutes ?? 0) * 60_000 + Number(amount) * (unit?.toLowerCase() === 'ms' ? 1 : 1000));
}

/** `retry-after-ms`, then `retry-after` in seconds or as a date, then Google's `retryDelay`. */
export function readRetryAfter(value: Fields): number | undefined {
  for (const key of ['headers', 'responseHeaders']) {
    const headers = readField(value, key);
    const milliseconds = readNumber(readHeader(headers, 'retry-after-ms'));
    if (milliseconds !== undefined) return milliseconds;
    const after = readHeader(headers, 'retry-after');
    const seconds = readNumber(after);
    if (seconds !== undefined) return seconds * 1000;
    const date = after?.includes(':') ? Date.parse(after) : Number.NaN;
    if (!Number.isNaN(date)) return Math.max(0, date - Date.now());
  }
  const delay = readField(value, 'retryDelay');
  const seconds = typeof delay === 'string' && delay.endsWith('s') ? readNumber(delay.slice(0, -1)) : undefined;
  return seconds === undefined ? undefined : seconds * 1000;
}

function readNumber(text: string | undefined): number | undefined {
  const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** From `Headers`, a `Map` or a plain object whose names have any case. */
function readHeader(headers: unknown, name: string): string | undefined {
  if (!isObject(headers)) return undefined;
  const get = readField(headers, 'get');
  let value: unknown;
  try {
    value = typeof get === 'function' ? get.call(headers, name) : undefined;
    value ??= Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  } catch {
    return undefined;
  }
  if (Array.isArray(value)) value = value[0];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

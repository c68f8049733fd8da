import { CompactionError } from '../errors.ts';

/** Counts the tokens of a text. Must be fast, synchronous, and must never throw. */
export type TokenCounter = (text: string) => number;

/** Length of a text in UTF-8 bytes, without encoding it. A lone surrogate counts as U+FFFD: three bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      bytes += 2;
      index++;
    } else bytes += 2;
  }
  return bytes;
}

/**
 * The counter that needs nothing: a third of the UTF-8 bytes, rounded up. K6.
 *
 * @example
 * countBytesByThree('é'); // 1
 */
export const countBytesByThree: TokenCounter = (text) => Math.ceil(utf8Length(text) / 3);

/**
 * A caller's counter. What is no number of tokens, for instance a promise, would make nonsense of every budget without anyone noticing.
 *
 * @throws CompactionError `invalid-options` from the counter.
 */
export function checkCounter(count: TokenCounter): TokenCounter {
  return (text) => {
    const tokens: unknown = count(text);
    if (typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0) return tokens;
    const got = typeof tokens === 'number' || tokens === null ? String(tokens) : typeof tokens;
    throw new CompactionError('invalid-options', `Expected \`countTokens\` to return a number of tokens, 0 or more, got ${got}.`);
  };
}

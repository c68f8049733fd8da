import { CompactionError } from '../errors.ts';
import { endOfChunk } from './character-runs.ts';
import { countBytesByThree, type TokenCounter } from './token-counter.ts';

export type { TokenCounter } from './token-counter.ts';

/** A vocabulary of OpenAI: `o200k_base` is that of GPT-4o, GPT-4.1, the o series and GPT-5. */
export type TokenEncoding = 'o200k_base' | 'o200k_harmony' | 'cl100k_base' | 'p50k_base' | 'p50k_edit' | 'r50k_base' | 'gpt2';

interface Encoding {
  countTokens(text: string, options: { allowedSpecial: Set<string>; disallowedSpecial: Set<string> }): number;
  setMergeCacheSize(size: number): void;
  clearMergeCache(): void;
}

/** Literal paths, so that a bundler keeps each vocabulary in a file of its own and loads only what is asked for. */
const importers: Record<TokenEncoding, () => Promise<Encoding>> = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  o200k_harmony: () => import('gpt-tokenizer/encoding/o200k_harmony'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
  p50k_base: () => import('gpt-tokenizer/encoding/p50k_base'),
  p50k_edit: () => import('gpt-tokenizer/encoding/p50k_edit'),
  r50k_base: () => import('gpt-tokenizer/encoding/r50k_base'),
  gpt2: () => import('gpt-tokenizer/encoding/gpt2'),
};

/** Names such as `<|endoftext|>` are text like any other here; gpt-tokenizer would throw. B137. */
const noSpecialTokens = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

/** The cache slows down when it is full, and each entry may keep the text it was cut from alive: few entries, emptied often. */
const cachedPieces = 4096;
const charactersBetweenClears = 1024 * 1024;

function createCounter(encoding: Encoding): TokenCounter {
  encoding.setMergeCacheSize(cachedPieces);
  encoding.clearMergeCache();
  let sinceCleared = 0;

  const countChunk = (chunk: string): number => {
    try {
      return encoding.countTokens(chunk, noSpecialTokens);
    } catch {
      return countBytesByThree(chunk);
    }
  };

  return (text) => {
    let tokens = 0;
    for (let start = 0; start < text.length; ) {
      const end = endOfChunk(text, start);
      tokens += countChunk(text.slice(start, end));
      start = end;
    }
    sinceCleared += text.length;
    if (sinceCleared > charactersBetweenClears) {
      encoding.clearMergeCache();
      sinceCleared = 0;
    }
    return tokens;
  };
}

const loads = new Map<TokenEncoding, Promise<TokenCounter>>();

/**
 * Loads the exact token counter of a vocabulary. Each vocabulary is loaded once; a load that failed is tried again by the next call.
 *
 * The counter takes any text in linear time and never throws. It agrees with the vocabulary's own tokenizer on ordinary text; runs of
 * more than 128 characters of one kind are counted in pieces, which may add a fraction of a percent. Special tokens count as plain text.
 * It keeps gpt-tokenizer's merge cache of that vocabulary small, also for other users of it in the same process.
 *
 * @param encoding - Default `o200k_base`.
 * @throws CompactionError `invalid-options` for an unknown vocabulary. Where `gpt-tokenizer` cannot be imported, the import's own error.
 *
 * @example
 * const countTokens = await loadTokenCounter();
 * countTokens('Hello, world'); // 3
 */
export async function loadTokenCounter(encoding: TokenEncoding = 'o200k_base'): Promise<TokenCounter> {
  const known = loads.get(encoding);
  if (known) return known;
  if (!Object.hasOwn(importers, encoding)) {
    const expected = Object.keys(importers).join(', ');
    throw new CompactionError('invalid-options', `encoding is ${JSON.stringify(encoding)}, expected one of ${expected}`);
  }
  const load = importers[encoding]().then(createCounter);
  loads.set(encoding, load);
  load.catch(() => loads.delete(encoding));
  return load;
}

// Cost of counting a megabyte of each kind of text, relative to ordinary prose. Only ratios within one run mean anything.
// Run: npx tsx bench/token-counting.ts
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadTokenCounter } from '../src/budget/tokenizer.ts';

const countTokens = await loadTokenCounter();

let seed = 1;
function random(limit: number): number {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
}

function build(units: number, next: () => string): string {
  const pieces: string[] = [];
  for (let length = 0; length < units; ) {
    const piece = next();
    pieces.push(piece);
    length += piece.length;
  }
  return pieces.join('').slice(0, units);
}

const pick = (from: string) => from.charAt(random(from.length));
const words =
  'the window of an agent is finite so every turn that adds text brings it closer to its end and at some point old messages must give way to a summary which says what was asked what was found what was done and what remains, however long the work had been. Configuration, repository and deployment appear here too.'.split(
    ' ',
  );
const source = ['character-runs', 'tokenizer', 'media-cost', 'image-size', 'token-ratio', 'token-counter']
  .map((name) => readFileSync(new URL(`../src/budget/${name}.ts`, import.meta.url), 'utf8'))
  .join('\n');

const hanWords = Array.from({ length: 2000 }, () => build(1 + random(6), () => String.fromCharCode(0x4e00 + random(2000))));

const size = 256 * 1024;
const ordinary: Record<string, string> = {
  'English prose': build(size, () => `${words[random(words.length)]} `),
  'TypeScript source': build(size, () => source),
  'JSON rows': build(size, () => `{"id":${random(1e6)},"name":"${words[random(words.length)]}","ok":${random(2) === 0}},\n`),
  'Chinese with punctuation': build(
    size,
    () => `${hanWords[random(hanWords.length)]}${hanWords[random(hanWords.length)]}${pick('，。、；')}`,
  ),
  'base64, 76 columns': build(
    size,
    () => `${build(76, () => pick('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'))}\n`,
  ),
};
const hostile: Record<string, string> = {
  'one letter': 'a'.repeat(size),
  underscores: '_'.repeat(size),
  spaces: ' '.repeat(size),
  'line breaks': '\n'.repeat(size),
  'equals signs': '='.repeat(size),
  digits: '7'.repeat(size),
  NUL: '\0'.repeat(size),
  'one emoji': '😀'.repeat(size / 2),
  'mixed emoji': build(size, () => String.fromCodePoint(0x1f600 + random(80))),
  'Han without punctuation': build(size, () => String.fromCharCode(0x4e00 + random(3000))),
  'lone surrogates': '\ud800'.repeat(size),
  'random letters': build(size, () => pick('abcdefghijklmnopqrstuvwxyz')),
  'random accented letters': build(size, () => pick('aéaüaßaøzñ')),
  'random symbols': build(size, () => pick('!@#$%^&*()-=[]{};:,.<>?')),
  'slashes and line breaks': '!'.concat('/\n'.repeat(size / 2)),
  'special tokens': '<|endoftext|>'.repeat(size / 13),
};

/** The counter empties its cache after a million characters, so each run starts like the first. */
const forget = ' '.repeat(1_100_000);

function measure(text: string): { perMegabyte: number; tokens: number } {
  const times: number[] = [];
  let tokens = 0;
  for (let run = 0; run < 3; run++) {
    countTokens(forget);
    const start = process.cpuUsage().user;
    tokens = countTokens(text);
    times.push(process.cpuUsage().user - start);
  }
  times.sort((a, b) => a - b);
  return { perMegabyte: (times[1] ?? 0) / Buffer.byteLength(text), tokens };
}

const prose = ordinary['English prose'] ?? '';
for (let run = 0; run < 20; run++) countTokens(prose); // warm up
const base = measure(prose.repeat(4)).perMegabyte;
for (const [title, texts] of Object.entries({ ordinary, hostile })) {
  console.log(`\n${title.padEnd(26)}cost per MB   bytes per token`);
  for (const [name, text] of Object.entries(texts)) {
    const { perMegabyte, tokens } = measure(text);
    const bytesPerToken = (Buffer.byteLength(text) / tokens).toFixed(2);
    console.log(`${name.padEnd(26)}${`${(perMegabyte / base).toFixed(1)} x`.padStart(11)}${bytesPerToken.padStart(18)}`);
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const long = prose.repeat(40);
countTokens(long.slice(0, 1000));
collectGarbage();
const before = process.memoryUsage().heapUsed;
const { perMegabyte } = measure(long);
collectGarbage();
const kept = process.memoryUsage().heapUsed - before;
console.log(`\n10 MB of prose: ${(perMegabyte / base).toFixed(2)} x the cost per MB of 1 MB`);
console.log(`heap kept after counting it three times: ${(kept / 2 ** 20).toFixed(2)} MB`);

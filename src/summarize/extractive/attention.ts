import type { Conversation } from './conversation.ts';
import { piecesOf } from './line-text.ts';

/** What the user asks about, and which names and numbers the assistant took up. */
export interface Attention {
  words: ReadonlySet<string>;
  /** Name or number → position of the last message of the assistant that mentions it. */
  mentions: ReadonlyMap<string, number>;
}

const commonWords = new Set(
  (
    'about after also been before code could does each every file files find first from give have here into just like look made make more most much must ' +
    'need never only other please same shall should show some such take tell text than that their them then there these they this want what when ' +
    'where which while will with would your always using used know read write line lines'
  ).split(' '),
);

/** `findings`: what the assistant found out by an earlier summary. */
export function payAttention({ earlier, demands, answers }: Conversation, findings: readonly string[]): Attention {
  const words = new Set<string>();
  for (const text of [...earlier.Goal, ...earlier['Key Instructions'], ...demands.map((demand) => demand.text)])
    for (const word of wordsOf(text)) words.add(word);
  const mentions = new Map<string, number>();
  for (const line of findings) for (const name of namesOf(line)) mentions.set(name, -1);
  for (const { at, text } of answers) for (const name of namesOf(text)) mentions.set(name, at);
  return { words, mentions };
}

/** How many words of the user stand in the text, at most 3. */
export function countTopics(text: string, { words }: Attention): number {
  let hits = 0;
  if (words.size > 0) for (const word of new Set(wordsOf(text))) if (words.has(word) && ++hits === 3) break;
  return hits;
}

/** True where the assistant wrote a name or number of the text in this message or a later one. */
export function isMentioned(text: string, at: number, { mentions }: Attention): boolean {
  for (const name of namesOf(text)) if ((mentions.get(name) ?? Number.NEGATIVE_INFINITY) >= at) return true;
  return false;
}

/** Words of four letters and more, those inside `camelCase` and `snake_case` too, without the plural's s. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const piece of piecesOf(text))
    for (const [found] of piece.matchAll(/\p{Lu}\p{Ll}{3,}|\p{Ll}{4,}|\p{Lu}{4,}/gu)) {
      const word = found.toLowerCase().replace(/s$/, '');
      if (!commonWords.has(word)) words.push(word);
    }
  return words;
}

/** Identifiers that look like code, and numbers of three digits and more without their separators. */
function namesOf(text: string): string[] {
  const names: string[] = [];
  for (const piece of piecesOf(text))
    for (const [token] of piece.matchAll(/[A-Za-z_$][\w$]*|\d[\d_,]*/g)) {
      if (/^\d/.test(token)) {
        const digits = token.replace(/[_,]/g, '');
        if (digits.length > 2) names.push(digits);
      } else if (/[a-z\d][A-Z]|\w_\w|^[A-Z][A-Z\d]{2,}$/.test(token)) names.push(token);
    }
  return names;
}

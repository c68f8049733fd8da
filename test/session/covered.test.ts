import { expect, it } from 'vitest';
import { buildReplacement } from '../../src/prompt/replacement.ts';
import { coveredSeq } from '../../src/session/covered.ts';
import type { SessionEvent } from '../../src/session.ts';
import { userSays } from '../support/session-run.ts';

/** The user's texts in order; `null` is a turn of the assistant. */
function events(...texts: (string | null)[]): SessionEvent[] {
  return texts.map((text, index) =>
    text === null
      ? { seq: index + 1, kind: 'assistant_turn', payload: { messages: [] } }
      : { seq: index + 1, kind: 'user_message', payload: { message: userSays(text) } },
  );
}

const keeping = (text: string) => ({
  replacement: [buildReplacement({ summary: 'So far.', lastUserMessage: userSays(text).parts })],
  kept: [],
});
const manual = { replacement: [userSays('So far.')], kept: [] };

it.each([
  ['all turns, where nothing came after', events('a', null), keeping('a'), 2],
  ['the input that it keeps, and what was said before', events(null, 'a', 'b'), keeping('b'), 3],
  ['nothing behind the input that it keeps', events(null, 'a', 'b', 'c'), keeping('b'), 3],
  ['nothing of what came meanwhile', events('a', null, 'b', 'c'), keeping('a'), 2],
  ['the first of equal ones: the second may have come meanwhile', events(null, 'yes', 'yes'), keeping('yes'), 2],
  ['what is kept behind it', events(null, 'a', 'b'), { replacement: [], kept: [userSays('a')] }, 2],
  ['what a shape has joined', events(null, 'a', 'b', 'c'), { replacement: [], kept: [userSays('ab')] }, 3],
  ['no input that nobody answered, by hand', events('a', null, 'b'), manual, 2],
  ['input with half a character, which a replacement does not have', events(null, 'a\ud800', 'b'), keeping('a\ufffd'), 2],
  ['nothing of an empty session', events(), manual, 0],
])('a compaction covers %s', (_name, stored, applied, expected) => {
  expect(coveredSeq(stored, applied)).toBe(expected);
});

it('a compaction covers the right one of 20,000 inputs in a row', () => {
  const many = events(null, ...Array.from({ length: 20_000 }, (_, index) => `input ${index}`));
  expect(coveredSeq(many, keeping('input 19999'))).toBe(20_001);
});

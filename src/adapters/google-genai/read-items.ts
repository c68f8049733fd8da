import type { Fields } from '../fields.ts';
import type { Answer } from './function-parts.ts';
import { partsOfJoint } from './join-contents.ts';
import { matchAnswers, splitTurns } from './match-answers.ts';
import { readContents } from './read-contents.ts';
import type { GeminiContent, GeminiRequest } from './shape.ts';

/**
 * Which call a result belongs to, where that cannot be read in the result alone: ids are optional on both sides. Derived from the
 * conversation whenever it is read.
 */
const answeredCalls = new WeakMap<Fields, string>();

/** The conversation. Contents that were joined for the provider are the ones they were made of. */
export function readItems(request: GeminiRequest): readonly GeminiContent[] {
  const contents = readContents(request).flatMap(partsOfJoint);
  for (const turn of splitTurns(contents)) {
    if (turn.answers.length === 0) continue;
    const matched = matchAnswers(turn);
    for (const answer of turn.answers) {
      const call = matched.get(answer);
      if (call && call.id !== answer.id) answeredCalls.set(answer.response, call.id);
      else answeredCalls.delete(answer.response);
    }
  }
  return contents;
}

/** The id of the call that a result belongs to. */
export function callIdOf({ response, id }: Answer): string {
  return answeredCalls.get(response) ?? id;
}

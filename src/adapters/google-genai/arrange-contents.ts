import type { Fields } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { nameIn } from './field-names.ts';
import { type Answer, type Call, isModel } from './function-parts.ts';
import { joinContents, mayJoin, partsOfJoint } from './join-contents.ts';
import { matchAnswers, splitTurns } from './match-answers.ts';
import { readContents } from './read-contents.ts';
import { readItems } from './read-items.ts';
import type { GeminiContent, GeminiRequest } from './shape.ts';
import { signCalls } from './sign-calls.ts';

/**
 * See `ProviderAdapter.withItems`. What is new gets what the provider demands: results the name and the id of their calls, calls a
 * signature, and contents that would be one turn are one content. What the request held already stays as it is, and what was apart in it
 * stays apart.
 */
export function withItems<R extends GeminiRequest>(request: R, items: readonly GeminiContent[]): R {
  const known = readItems(request);
  return {
    ...request,
    contents: isSameList(items, known) ? [...readContents(request)] : arrange(request, items, new Set(known)),
  };
}

function arrange(request: GeminiRequest, items: readonly GeminiContent[], known: ReadonlySet<GeminiContent>): GeminiContent[] {
  const complete = completeAnswers(items, known);
  return join(signCalls(complete, known, request), findNeighbours(readContents(request)));
}

/** Which content stands apart behind which in the caller's own request. */
function findNeighbours(contents: readonly GeminiContent[]): Map<GeminiContent | undefined, GeminiContent | undefined> {
  const sent = contents.map(partsOfJoint);
  return new Map(sent.slice(1).map((next, index) => [sent[index]?.at(-1), next[0]]));
}

function join(
  contents: readonly GeminiContent[],
  neighbours: ReadonlyMap<GeminiContent | undefined, GeminiContent | undefined>,
): GeminiContent[] {
  const turns: [GeminiContent, ...GeminiContent[]][] = [];
  for (const content of contents) {
    const turn = turns.at(-1);
    const last = turn?.at(-1);
    if (turn && last && mayJoin(last, content) && neighbours.get(last) !== content) turn.push(content);
    else turns.push([content]);
  }
  return turns.map(joinContents);
}

/** A result that was written by itself does not know the name of its function, and has the id of its call, or none where that has none. */
function completeAnswers(items: readonly GeminiContent[], known: ReadonlySet<GeminiContent>): readonly GeminiContent[] {
  const completed = new Map<unknown, Fields>();
  for (const turn of splitTurns(items))
    for (const [answer, call] of matchAnswers(turn)) {
      const isComplete = answer.name !== '' && answer.id === call.id && answer.hasId === call.hasId;
      if (!isComplete) completed.set(answer.part, completeAnswer(answer, call));
    }
  if (completed.size === 0) return items;
  return items.map((item) => {
    if (known.has(item) || isModel(item) || !item.parts?.some((part) => completed.has(part))) return item;
    return { ...item, parts: item.parts.map((part) => completed.get(part) ?? part) };
  });
}

function completeAnswer({ part, response, name }: Answer, call: Call): Fields {
  const { id: _id, ...rest } = response;
  const answer = { ...(call.hasId && { id: call.id }), ...rest, name: name === '' ? call.name : name };
  return { ...part, [nameIn(part, 'functionResponse')]: answer };
}

import { type Answer, answersIn, type Call, callsIn, isModel } from './function-parts.ts';
import type { GeminiContent } from './shape.ts';

/** What the model said in one go, and what came back before it spoke again. The first turn may have nothing of the model. */
export interface CallTurn {
  models: GeminiContent[];
  users: GeminiContent[];
  calls: readonly Call[];
  answers: readonly Answer[];
}

export function splitTurns(contents: readonly GeminiContent[]): CallTurn[] {
  const turns: Pick<CallTurn, 'models' | 'users'>[] = [];
  for (const content of contents) {
    const last = turns.at(-1);
    const opens = !last || (isModel(content) && last.users.length > 0);
    const turn = opens ? { models: [], users: [] } : last;
    if (opens) turns.push(turn);
    turn[isModel(content) ? 'models' : 'users'].push(content);
  }
  return turns.map(({ models, users }) => ({
    models,
    users,
    calls: models.flatMap((content) => [...callsIn(content).values()]),
    answers: users.flatMap(answersIn),
  }));
}

/**
 * Which call each answer of a turn belongs to: by id where both have one; otherwise the calls of a name are answered in their order, as the
 * provider takes them. What has neither name nor id answers the next call that is left.
 */
export function matchAnswers({ calls, answers }: Pick<CallTurn, 'calls' | 'answers'>): Map<Answer, Call> {
  const matched = new Map<Answer, Call>();
  answers.forEach((answer, index) => {
    const call = calls[index];
    if (call?.id === answer.id) matched.set(answer, call);
  });
  if (matched.size === answers.length) return matched; // as nearly all turns are
  matched.clear();
  const free = new Set(calls);
  const match = (answer: Answer, queue: Call[] | undefined): void => {
    for (let call = queue?.pop(); call; call = queue?.pop())
      if (free.delete(call)) {
        matched.set(answer, call);
        return;
      }
  };
  const byId = queuesBy(calls, ({ id }) => id);
  for (const answer of answers) if (answer.hasId) match(answer, byId.get(answer.id));
  const byName = queuesBy(calls, ({ name }) => name);
  const withoutId = queuesBy(
    calls.filter(({ hasId }) => !hasId),
    ({ name }) => name,
  );
  for (const answer of answers)
    if (!matched.has(answer) && answer.name !== '') match(answer, (answer.hasId ? withoutId : byName).get(answer.name));
  const rest = [...free].reverse();
  for (const answer of answers) if (!matched.has(answer) && !answer.hasId && answer.name === '') match(answer, rest);
  return matched;
}

/** Calls in groups, the first of each at its end. */
function queuesBy(calls: readonly Call[], keyOf: (call: Call) => string): Map<string, Call[]> {
  const queues = new Map<string, Call[]>();
  for (const call of calls.toReversed()) {
    const queue = queues.get(keyOf(call));
    if (queue) queue.push(call);
    else queues.set(keyOf(call), [call]);
  }
  return queues;
}

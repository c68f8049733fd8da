import type { PairOptions } from '../adapter.ts';
import { type Fields, listOf } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { type Answer, type Call, isModel, responseIn } from './function-parts.ts';
import { type CallTurn, matchAnswers, splitTurns } from './match-answers.ts';
import { readAnswer } from './read-content.ts';
import type { GeminiContent, GeminiPart } from './shape.ts';
import { writeMessage, writeResult } from './write-message.ts';

/**
 * See `ProviderAdapter.pairItems`: ids are optional here, and what pairs is the turn. All calls of a turn are answered by the one content
 * behind it, which holds nothing but as many results. Results that are moved are the very same parts.
 */
export function pairContents(contents: readonly GeminiContent[], options: PairOptions): readonly GeminiContent[] {
  const turns = splitTurns(contents);
  const { answered, orphans } = matchAll(turns);
  const paired = turns.flatMap((turn, index) => {
    const isOpen = !options.closeOpen && index === turns.length - 1 && !turn.users.some(saysMore);
    return [...turn.models, ...pairTurn(turn, answered, orphans, isOpen, options)];
  });
  return isSameList(paired, contents) ? contents : paired;
}

interface Match {
  answered: Map<Call, Answer>;
  orphans: Set<Answer>;
}

/** An answer belongs to its own turn, or to the nearest earlier call of its id that is still unanswered. */
function matchAll(turns: readonly CallTurn[]): Match {
  const answered = new Map<Call, Answer>();
  const orphans = new Set<Answer>();
  const waiting = new Map<string, Call[]>();
  for (const turn of turns) {
    const matched = matchAnswers(turn);
    for (const answer of turn.answers) {
      const call = matched.get(answer) ?? waiting.get(answer.id)?.pop();
      if (call) answered.set(call, answer);
      else orphans.add(answer);
    }
    for (const call of turn.calls) {
      if (answered.has(call)) continue;
      const others = waiting.get(call.id);
      if (others) others.push(call);
      else waiting.set(call.id, [call]);
    }
  }
  return { answered, orphans };
}

/** What comes behind the calls of a turn: its own contents, where they are as they must be. */
function pairTurn(
  { calls, answers, users }: CallTurn,
  answered: ReadonlyMap<Call, Answer>,
  orphans: ReadonlySet<Answer>,
  isOpen: boolean,
  options: PairOptions,
): GeminiContent[] {
  const results = calls.flatMap((call) => {
    const answer = answered.get(call);
    return answer ? [answer.part] : isOpen ? [] : [writeMissing(call, options.missingResult)];
  });
  const own = new Set<unknown>(results);
  const [first] = users;
  const isWhole = results.length === answers.length && answers.every(({ part }) => own.has(part));
  const isPlaced = results.length === 0 || listOf(first?.parts).filter(responseIn).length === results.length;
  if (isWhole && isPlaced) return users;
  const lost = new Map(answers.filter((answer) => orphans.has(answer)).map((answer) => [answer.part, answer]));
  const rest = users.flatMap((content) => withoutAnswers(content, lost, options));
  return results.length > 0 ? [{ role: 'user', parts: results }, ...rest] : rest;
}

/** What is left of a content whose results moved. Those without a call stay as labelled text. */
function withoutAnswers(
  content: GeminiContent,
  lost: ReadonlyMap<unknown, Answer>,
  { writeOrphan }: PairOptions,
): GeminiContent[] {
  const parts = content.parts ?? []; // JSON knows null
  if (!parts.some((part) => responseIn(part))) return [content];
  const kept = parts.flatMap((part): readonly GeminiPart[] => {
    const answer = lost.get(part);
    if (!answer) return responseIn(part) ? [] : [part];
    const [result] = readAnswer(answer);
    return writeMessage({ role: 'user', parts: writeOrphan(result) }).flatMap((written) => written.parts ?? []);
  });
  return kept.length > 0 ? [{ ...content, role: 'user', parts: kept }] : [];
}

function writeMissing({ id, name }: Call, missingResult: string): Fields {
  const content = [{ type: 'text' as const, text: missingResult }];
  const written = writeResult({ type: 'toolResult', callId: id, content, isError: true });
  return { functionResponse: { ...(responseIn(written) ?? {}), name } };
}

/** True for a content of the user that holds more than results. */
function saysMore(content: GeminiContent): boolean {
  return !isModel(content) && listOf(content.parts).some((part) => !responseIn(part));
}

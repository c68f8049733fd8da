import { cutBefore } from '../../history/well-formed.ts';
import type { Conversation } from './conversation.ts';
import type { Entry } from './fit-sections.ts';
import { clip, sentenceKey } from './line-text.ts';
import { sentencesOf } from './sentences.ts';

const longestRequest = 300;
const longestConstraint = 300;
const mostPerMessage = 40;
/** The gist of a message is looked for in so many code units of it. */
const gistLength = 20_000;

const small =
  /^(?:ok(?:ay)?|yes|yep|yeah|sure|no|nope|go(?: on| ahead)?|continue|proceed|thanks?(?: you)?|please|do it|next|cool|nice|great|good)\b[\s\p{P}]*$/iu;
const loneTag = /^<\/?[\w-]+[^<>]*>$/;
const codeLine = /^(?:at .*:\d+|[>$%{}|]|\w+@\w|import |#include|[\w.]*(?:Error|Exception)\b)|[;{]$|=>|","|":/;

const strict =
  /\b(?:must(?:n['’]?t)?|never|always|only|do(?:n['’]?t| not)|avoid|make sure|ensure|be sure|forbidden|prohibited|not allowed|no more than|at (?:most|least)|keep|prefer)\b/i;
const strictElsewhere = new RegExp(
  [
    '반드시|절대|하지\\s?(?:마|말|않)|말고|말아|금지|항상|언제나|해야|만\\s?(?:사용|써)|피해|피하|꼭', // ko
    '必ず|絶対|しないで|ないで|禁止|てはいけ|てはなら|べき|だけ|のみ|常に|避け|なければ|こと。?$', // ja
    '必须|必須|绝不|絕不|绝对|不要|不得|不能|不可|禁止|只能|只用|只需|仅|总是|總是|始终|务必|避免|一定要|(?<![特分识個个类级])别', // zh
    '(?<!\\p{L})(?:muss|musst|müssen|müsst|darf|darfst|dürfen|nie|niemals|nur|kein(?:e[nmrs]?)?|immer|stets|vermeide\\p{L}*|unbedingt|nicht)(?!\\p{L})', // de
    "(?<!\\p{L})(?:doi(?:s|t|vent)|devez|jamais|toujours|seulement|uniquement|évite[rz]?|n['’]\\p{L}+ pas|ne \\p{L}+ (?:pas|que)|interdit|sans|il faut)(?!\\p{L})", // fr
    '(?<!\\p{L})(?:deb(?:e|es|en|éis)|nunca|jamás|siempre|solo|sólo|solamente|únicamente|evit(?:a|ar|e|en)|prohibido|sin|hay que|no (?:uses?|hagas?|toques?|cambies?|borres?|\\p{L}+[ae]s))(?!\\p{L})', // es
  ].join('|'),
  'iu',
);
const loose = /\b(?:should(?:n['’]?t)?|can(?:no|['’]?)t|without|instead of|rather than|no need|remember|required?|stop)\b/i;

interface Demand {
  at: number;
  sentence: string;
  strictness: number;
}

/** What the user wants: the first sentences of each message, in order. The newest one must stay. */
export function listRequests({ earlier, demands, messageCount }: Conversation): Entry[] {
  const requests = new Map<string, { at: number; text: string }>();
  let first: string | undefined;
  const add = (at: number, text: string) => {
    const key = sentenceKey(text);
    first ??= key;
    // Said again it is the newest request, but the first one stays the first.
    if (key !== first) requests.delete(key);
    requests.set(key, { at, text });
  };
  for (const line of earlier.Goal) add(-1, line);
  for (const { at, text } of demands) {
    const request = gistOf(text);
    if (request !== '' && (!small.test(request) || demands.length === 1)) add(at, request);
  }
  const ordered = [...requests.values()];
  const newest = ordered.at(-1);
  return ordered.map(
    (request, position): Entry => ({
      ...request,
      rank: position === 0 ? 10 : 3 + (2 * (request.at + 1)) / (messageCount + 1),
      ...(request === newest ? { must: 'request' } : {}),
    }),
  );
}

/** What the user demands and forbids, word for word, in order. The first one must stay. Tool output is never read for demands. */
export function listConstraints({ earlier, demands, messageCount }: Conversation): Entry[] {
  const carried = earlier['Key Instructions'].map(
    (sentence): Demand => ({ at: -1, sentence, strictness: Math.max(1, strictnessOf(sentence)) }),
  );
  const unique = new Map<string, Demand>();
  for (const demand of [...carried, ...demands.flatMap(({ at, text }) => demandsIn(at, text))]) {
    const key = sentenceKey(demand.sentence);
    if (!unique.has(key)) unique.set(key, demand);
  }
  const found = [...unique.values()];
  const first = carried[0] ?? found.find((demand) => demand.strictness === 2) ?? found[0];
  return found.map(
    (demand): Entry => ({
      text: demand.sentence,
      at: demand.at,
      rank: 3 * demand.strictness + (2 * (demand.at + 1)) / (messageCount + 1),
      ...(demand === first ? { must: 'constraint' } : {}),
    }),
  );
}

function demandsIn(at: number, text: string): Demand[] {
  const request = gistOf(text);
  const found: Demand[] = [];
  for (const sentence of sentencesOf(text)) {
    const strictness = sentence.length < 4 || codeLine.test(sentence) || loneTag.test(sentence) ? 0 : strictnessOf(sentence);
    // A wish that the goal holds already is not repeated.
    if (strictness === 2 || (strictness === 1 && !request.includes(sentence)))
      found.push({ at, sentence: clipAround(sentence), strictness });
  }
  if (found.length <= mostPerMessage) return found;
  const kept = new Set(found.toSorted((left, right) => right.strictness - left.strictness).slice(0, mostPerMessage));
  return found.filter((demand) => kept.has(demand));
}

/** 2 for a rule, 1 for a wish, 0 for neither. A question seldom sets a rule. */
function strictnessOf(sentence: string): number {
  const isQuestion = /[?？]\s*$/.test(sentence);
  if (strict.test(sentence) || strictElsewhere.test(sentence))
    return isQuestion && !/\b(?:must|never|always)\b/i.test(sentence) ? 1 : 2;
  return loose.test(sentence) && !isQuestion ? 1 : 0;
}

/** A long sentence is cut so that the word that makes it a rule stays. */
function clipAround(sentence: string): string {
  const match = strict.exec(sentence) ?? strictElsewhere.exec(sentence) ?? loose.exec(sentence);
  const start = (match?.index ?? 0) - longestConstraint / 2;
  if (start <= 0 || sentence.length <= longestConstraint) return clip(sentence, longestConstraint);
  // Cut at a blank where there is one near.
  const blank = sentence.indexOf(' ', start);
  return clip(`…${sentence.slice(cutBefore(sentence, blank > 0 && blank < start + 30 ? blank + 1 : start))}`, longestConstraint);
}

function gistOf(text: string): string {
  const sentences = sentencesOf(text.slice(0, cutBefore(text, gistLength))).filter((sentence) => !loneTag.test(sentence));
  const wishes = sentences.filter((sentence) => strictnessOf(sentence) < 2);
  let gist = '';
  for (const sentence of wishes.length > 0 ? wishes : sentences) {
    if (gist.length + sentence.length >= longestRequest) return gist || clip(sentence, longestRequest);
    gist += gist === '' ? sentence : ` ${sentence}`;
  }
  return gist;
}

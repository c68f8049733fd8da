import { type Attention, countTopics } from './attention.ts';
import type { Conversation } from './conversation.ts';
import type { Entry } from './fit-sections.ts';
import { clip, sentenceKey } from './line-text.ts';
import { sentencesOf } from './sentences.ts';
import { rateSpecificity } from './specificity.ts';

const longestFinding = 280;
const leastFinding = 2;

const filler =
  '(?:(?:now|next|then|so|and|ok(?:ay)?|great|good|perfect|excellent|alright|right|well|first|finally|done)[,.!:]?\\s+)*';
const plan = new RegExp(
  [
    `^${filler}(?:let me|let['’]?s|i['’]?ll|i will|i['’]?m (?:going|about)|i am going|i (?:need|want|should|have) to|i should|we (?:need|have) to|we (?:should|will)|we['’]?ll)\\b`,
    '^(?:next|then|now|remaining|left|to ?do)(?:\\s+steps?)?\\s*[:,]',
    '^(?:next step|the next step|next i|next we|what (?:is|remains) left|still to do)\\b',
    '^to [^.]*\\bi (?:need|have) to\\b',
    '^(?:다음|이제)|(?:하겠습니다|할게요)[.!]?$',
    '^(?:次に|次は|これから)|ましょう。?$|(?:確認|更新|修正|追加|実装|作成|実行|調査|変更|コミット|調べ|進め|始め|読み|見て(?:み|いき))(?:し)?ます。?$',
    '^(?:接下来|接下來|下一步|现在我|我将|我會|让我|讓我)',
    '^(?:als nächstes|nächster schritt|jetzt werde|nun werde|ich werde|lass mich)(?!\\p{L})',
    '^(?:ensuite|maintenant je|je vais|prochaine étape|étape suivante)(?!\\p{L})',
    '^(?:a continuación|ahora voy|voy a|siguiente paso|próximo paso|el siguiente)(?!\\p{L})',
  ].join('|'),
  'iu',
);
const plansElsewhere = /\b(?:next step|next,? i|i['’]?ll|i will|going to|remains to|left to do|will now|then i)\b/i;
const done =
  /\b(?:fixed|added|created|implemented|updated|removed|deleted|renamed|moved|refactored|rewrote|wrote|written|committed|pushed|installed|configured|completed|finished|replaced|migrated|resolved|merged|deployed|passes|pass now|passing|works now)\b|완료|했습니다|修正し(?:た|ました)|追加し(?:た|ました)|完了|已(?:经|經|修|添|完|创|更|删)|完成了|(?<!\p{L})(?:erledigt|behoben|hinzugefügt|terminée?|corrigée?|ajoutée?|corregido|añadido|terminado)(?!\p{L})/iu;
const notice =
  /^(?:\**(?:noted?|found|finding|fact|result|conclusion|confirmed|discovered|observation|key (?:point|finding|insight)|important|summary|answer|decision|root cause)\**\s*[:,-])|\b(?:root cause|turns out|found that|the (?:bug|problem|issue|reason|cause|fix|answer) (?:is|was|lies)|confirmed|decided|chose|because|due to|caused by|equals|defaults? (?:is|to)|means that)\b|原因|때문|なぜなら|因为|因為|(?<!\p{L})(?:weil|Ursache|parce que|à cause|porque|debido)(?!\p{L})/iu;
const states =
  /\b(?:is|are|was|were|has|have|returns?|uses?|contains?|shows?|holds?|takes?|requires?|expects?|exports?|defines?|lives?|calls?|sets?|prints?|printed|says?|needs?|fails?|failed)\b|\p{Lo}{4}/u;
const refersBack = /^(?:it|this|that|these|those|they|its|their|both)\b/i;

/** What the assistant said: what it found out, what it did, and what it meant to do next. */
export interface AssistantWords {
  carried: Entry[];
  found: Entry[];
  did: Entry[];
  next: Entry | undefined;
}

/** `carriedLines`: lines of earlier Discoveries that quote no tool. Each of them was worth keeping once, so it ranks higher. */
export function readAssistantWords(
  conversation: Conversation,
  carriedLines: readonly string[],
  attention: Attention,
): AssistantWords {
  const { answers, messageCount } = conversation;
  const seen = new Set<string>();
  const isNew = (sentence: string) => {
    const key = sentenceKey(sentence);
    return !seen.has(key) && seen.add(key) !== undefined;
  };
  const carried = carriedLines.filter(isNew).map((text): Entry => ({ at: -1, text, rank: 2 + rate(text, attention) }));
  for (const line of conversation.earlier.Accomplished) seen.add(sentenceKey(line));
  const found: Entry[] = [];
  const did: Entry[] = [];
  for (const { at, text } of answers) {
    const newness = (at + 1) / (messageCount + 1);
    for (const sentence of joinedSentences(text)) {
      if (plan.test(sentence) || /[:：]$/.test(sentence) || !isNew(sentence)) continue;
      const rank = rate(sentence, attention);
      if (done.test(sentence) && !notice.test(sentence))
        did.push({ at, text: clip(sentence, longestFinding), rank: 3 + rank / 2 + newness });
      else if (rank >= leastFinding) found.push({ at, text: clip(sentence, longestFinding), rank: rank + newness });
    }
  }
  demoteRepeats([...carried, ...found]);
  return { carried, found, did, next: nextAction(conversation) };
}

function rate(sentence: string, attention: Attention): number {
  const rated =
    rateSpecificity(sentence) +
    (notice.test(sentence) ? 2 : 0) +
    (states.test(sentence) ? 1 : 0) +
    0.7 * countTopics(sentence, attention);
  return rated - (/[?？]$/.test(sentence) ? 3 : 0) - (plansElsewhere.test(sentence) ? 1 : 0);
}

/** What says in other words what a better sentence says already ranks lower. Names and numbers weigh more than words. */
function demoteRepeats(entries: readonly Entry[]): void {
  const seen = new Set<string>();
  for (const entry of entries.toSorted((left, right) => right.rank - left.rank)) {
    let fresh = 0;
    let all = 0;
    for (const word of entry.text.toLowerCase().match(/\p{Lo}{1,2}|[\p{L}\p{N}_]+/gu) ?? []) {
      const weight = /[\d_]/.test(word) ? 4 : 1;
      all += weight;
      if (!seen.has(word)) fresh += weight;
      seen.add(word);
    }
    if (fresh < 0.3 * all) entry.rank -= 2;
  }
}

/** Sentences, where one that opens with a pronoun stays with the one before it. */
function joinedSentences(text: string): string[] {
  const joined: string[] = [];
  for (const sentence of sentencesOf(text)) {
    const last = joined.at(-1);
    if (last !== undefined && refersBack.test(sentence) && last.length + sentence.length < longestFinding && !plan.test(last))
      joined[joined.length - 1] = `${last} ${sentence}`;
    else joined.push(sentence);
  }
  return joined;
}

const nextLine = /^(?:Next|Last said): /;

/** True for the line of an earlier summary that told the next action: it is void once the assistant said more. */
export function isNextAction(line: string): boolean {
  return nextLine.test(line);
}

function nextAction({ earlier, answers }: Conversation): Entry | undefined {
  for (const { at, text } of answers.toReversed()) {
    const sentences = sentencesOf(text);
    const stated =
      sentences.findLast((sentence) => plan.test(sentence)) ?? sentences.findLast((sentence) => plansElsewhere.test(sentence));
    const words = stated ?? sentences.at(-1);
    if (words !== undefined)
      return { at, text: `${stated ? 'Next' : 'Last said'}: ${clip(words, longestFinding)}`, rank: 10, must: 'next' };
  }
  const before = earlier.Accomplished.findLast(isNextAction);
  return before === undefined ? undefined : { at: -1, text: before, rank: 10, must: 'next' };
}

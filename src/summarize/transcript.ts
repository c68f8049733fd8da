import type { Omitted } from '../events.ts';
import { sumTokens } from '../history/newest-groups.ts';
import { cutText } from '../history/preview.ts';
import { type CutOptions, cutItem } from '../history/preview-items.ts';
import type { SizedItem } from '../history/protocol-groups.ts';
import { countLeadingSystem, isSystem } from '../history/reading.ts';
import { type Message, type Part, textOf } from '../message.ts';
import { buildReplacement, readJoinedReplacement, readReplacement } from '../prompt/replacement.ts';
import { chooseMarks, renderMessage, type TranscriptMarks, writeInput } from '../prompt/transcript.ts';
import { mostResultTokens } from './bound.ts';
import { fitItems, requireRoom } from './fit-items.ts';
import { requireOwnHistory } from './own-history.ts';
import type { SummaryTask } from './summarizer.ts';

/** A conversation as it is read to a model, cut where it was too long. */
export interface Transcript {
  text: string;
  marks: TranscriptMarks;
  tokens: number;
  omitted?: Omitted | undefined;
}

/** What the arguments of one call may have in a transcript, in tokens. */
const mostArgumentTokens = 1024;
const separator = '\n\n';

/**
 * The messages of a conversation that a transcript shows: without standing instructions at the start, which stay in the
 * conversation, and without messages of which nothing can be shown. An earlier summary is in its wrapper, so that it is known as
 * one.
 */
export function readRecord<Request, Item, Reply>({
  adapter,
  request,
  isStanding,
}: Pick<SummaryTask<Request, Item, Reply>, 'adapter' | 'request' | 'isStanding'>): Message[] {
  requireOwnHistory(adapter.context(request).heldBefore);
  const read = adapter.items(request).map((item) => ({ messages: adapter.readItem(item), standing: isStanding(item) }));
  return read
    .slice(countLeadingSystem(read))
    .flatMap((item) => (item.standing && !isSystem(item) ? item.messages.map(wrapSummary) : item.messages.flatMap(splitResults)))
    .filter((message) => renderMessage(message, { suffix: '' }) !== '');
}

function wrapSummary(message: Message): Message {
  if (readReplacement(message)) return message;
  return buildReplacement(readJoinedReplacement(message) ?? { summary: textOf(message) });
}

/** Results of one round are a message each, so that a long one does not cut the others. */
function splitResults(message: Message): Message[] {
  return message.role === 'tool' ? message.parts.map((part) => ({ role: 'tool', parts: [part] })) : [message];
}

/**
 * The transcript of these messages with at most so many tokens: long results and arguments of tools are cut always, then the
 * oldest groups go, and where not even the newest fits, all is cut. An earlier summary at the beginning stays. V26, V28, V29, on
 * what is sent (V49)
 *
 * @throws CompactionError `summarizer-overflow` where nothing of it fits.
 */
export function writeTranscript(record: readonly Message[], limit: number, count: (text: string) => number): Transcript {
  const marks = chooseMarks(record);
  const options: CutOptions<Message> = {
    write: (message) => [message],
    countItems: (messages) => messages.reduce((sum, message) => sum + count(renderMessage(message, marks) + separator), 0),
    countTokens: count,
  };
  const whole = record.map((message) => sizeMessage(message, options));
  const standing = whole.slice(0, countStanding(whole, limit));
  const room = limit - sumTokens(standing);
  requireRoom(room);
  const pruned = whole
    .slice(standing.length)
    .map((item) => cutItem(cutArguments(item, options), mostResultTokens, options, ({ role }) => role === 'tool'));
  const kept = [...standing, ...fitItems(pruned, room, options)];
  const omitted = { items: whole.length - kept.length, tokens: sumTokens(whole) - sumTokens(kept) };
  const text = kept.flatMap(({ items }) => items.map((message) => renderMessage(message, marks))).join(separator);
  return { text, marks, tokens: sumTokens(kept), omitted: omitted.items > 0 || omitted.tokens > 0 ? omitted : undefined };
}

function sizeMessage(message: Message, { countItems }: CutOptions<Message>): SizedItem<Message> {
  return { items: [message], messages: [message], tokens: countItems([message]) };
}

/** An earlier summary stands for all before it, unless it alone would leave hardly any room. */
function countStanding([first]: readonly SizedItem<Message>[], limit: number): number {
  return first?.messages.every((message) => readReplacement(message)) && first.tokens * 2 <= limit ? 1 : 0;
}

/** The beginning says what was done, for instance to which file. */
function cutArguments(sized: SizedItem<Message>, options: CutOptions<Message>): SizedItem<Message> {
  if (sized.tokens <= mostArgumentTokens) return sized;
  let changed = false;
  const cut = (part: Part): Part => {
    if (part.type !== 'toolCall') return part;
    const whole = writeInput(part.input);
    const input = cutText(whole, mostArgumentTokens, options.countTokens);
    changed ||= input !== whole;
    return input === whole ? part : { ...part, input };
  };
  const messages = sized.messages.map((message) => ({ ...message, parts: message.parts.map(cut) }));
  return changed ? { items: messages, messages, tokens: options.countItems(messages) } : sized;
}

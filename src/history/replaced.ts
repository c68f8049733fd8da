import { CompactionError } from '../errors.ts';
import { type Message, type Part, textOf } from '../message.ts';
import { type Replacement, readJoinedReplacement, readReplacement } from '../prompt/replacement.ts';
import { isOrphanRecord } from './orphan-record.ts';
import { isCheckpoint, isSystem, type Reading } from './reading.ts';
import { hasUserContent, type IsUserInput, userParts } from './turns.ts';
import type { RequestView } from './view.ts';

/** Tells replacements from what the user said: by recorded fingerprint, else by their exact text. */
export type RecognizeReplacement = (reading: Reading<unknown>) => Replacement | undefined;

export function recognizeBy(recorded: ReadonlySet<string>): RecognizeReplacement {
  return ({ messages, fingerprint }) => {
    const [message] = messages;
    if (!message || messages.length > 1) return undefined;
    const tagged = readReplacement(message);
    if (tagged || !recorded.has(fingerprint)) return tagged;
    return readJoinedReplacement(message) ?? { summary: textOf(message) };
  };
}

/** What a compaction of the view would replace, and what stays beside the replacement. */
export interface ReplacedPart<Item> {
  /** The items that go. */
  replaced: readonly Reading<Item>[];
  /** System items among them, which stay, behind the replacement. */
  laterSystem: readonly Reading<Item>[];
  /** The newest input of the user, unwrapped where it is in an earlier replacement. */
  lastUserMessage: readonly Part[] | undefined;
  /** What stays where it is: reminders of the host at the very end, and what is kept word for word before them. */
  tail: readonly Reading<Item>[];
  /** How many of these are reminders. */
  reminders: number;
  /** What the user said is in a manual summary or in a checkpoint of the provider, and nothing came after it. */
  saidBefore: boolean;
}

/**
 * Divides the conversation: everything is replaced but system items, and the newest input of the user is kept word for word.
 *
 * @throws CompactionError `nothing-to-compact` where nothing would be gained.
 */
export function divide<Request, Item>(
  view: RequestView<Request, Item>,
  options: { isUserInput: IsUserInput; recognize: RecognizeReplacement },
): ReplacedPart<Item> {
  const tail = view.body.slice(view.body.length - countReminders(view.body, options.isUserInput));
  const divided = view.body.slice(0, view.body.length - tail.length);
  const replaced = divided.filter((reading) => !isSystem(reading));
  const laterSystem = divided.filter(isSystem);
  const lastUserMessage = findLastUserMessage(replaced, options);
  const [only, ...others] = replaced;
  const lone = others.length === 0 && (!only || only.messages.every((message) => message.role === 'user'));
  if (lone)
    throw new CompactionError(
      'nothing-to-compact',
      `Expected a conversation to compact, got ${only ? 'one message' : 'none'} beside the system messages.`,
    );
  const saidBefore =
    !lastUserMessage &&
    (replaced.some((reading) => options.recognize(reading) !== undefined) ||
      [...view.leading, ...laterSystem].some(isCheckpoint));
  return { replaced, laterSystem, lastUserMessage, tail, reminders: tail.length, saidBefore };
}

/** The same where items before the reminders stay, too. */
export function keepTail<Item>(
  part: ReplacedPart<Item>,
  body: readonly Reading<Item>[],
  tailLength: number,
  holdsLastUserMessage: boolean,
): ReplacedPart<Item> {
  const divided = body.slice(0, body.length - tailLength);
  return {
    ...part,
    replaced: divided.filter((reading) => !isSystem(reading)),
    laterSystem: divided.filter(isSystem),
    tail: body.slice(divided.length),
    lastUserMessage: holdsLastUserMessage ? undefined : part.lastUserMessage,
  };
}

/**
 * How many items at the end are reminders: of a system role, or of the user's without being the user's input. Hosts put them there anew for
 * each request: covered by a replacement, they would make it void with the next one.
 */
export function countReminders(readings: readonly Reading<unknown>[], isUserInput: IsUserInput): number {
  let count = 0;
  for (let index = readings.length - 1; index > 0; index--) {
    const messages = readings[index]?.messages ?? [];
    if (messages.length === 0 || !messages.every((message) => message.role === 'system' || isUserReminder(message, isUserInput)))
      break;
    count++;
  }
  return count;
}

/** How many items at the end are the very same in both: what a replacement stands in front of is the caller's own. */
export function countShared(left: readonly Reading<unknown>[], right: readonly Reading<unknown>[]): number {
  const most = Math.min(left.length, right.length);
  let count = 0;
  while (count < most && left[left.length - 1 - count] === right[right.length - 1 - count]) count++;
  return count;
}

/** The newest input of the user, also where it is in a replacement. */
export function findLastUserMessage(
  readings: readonly Reading<unknown>[],
  { isUserInput, recognize }: { isUserInput: IsUserInput; recognize: RecognizeReplacement },
): readonly Part[] | undefined {
  for (let index = readings.length - 1; index >= 0; index--) {
    const reading = readings[index];
    if (!reading) continue;
    const earlier = recognize(reading);
    if (earlier?.lastUserMessage) return earlier.lastUserMessage;
    if (earlier) continue;
    const message = reading.messages.findLast((candidate) => isUserText(candidate) && isUserInput(candidate));
    if (message) return userParts(message);
  }
  return undefined;
}

/** A result that lost its call is the user's by its form alone, and no host puts it there anew. */
function isUserReminder(message: Message, isUserInput: IsUserInput): boolean {
  return isUserText(message) && !isUserInput(message) && !isOrphanRecord(message);
}

function isUserText(message: Message): boolean {
  return message.role === 'user' && hasUserContent(message);
}

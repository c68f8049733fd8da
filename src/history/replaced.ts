import { CompactionError } from '../errors.ts';
import { type Message, type Part, textOf } from '../message.ts';
import { type Replacement, readReplacement } from '../prompt/replacement.ts';
import { isSystem, type Reading } from './reading.ts';
import { hasUserContent, type IsUserInput, userParts } from './turns.ts';
import type { RequestView } from './view.ts';

/** Tells replacements from what the user said: by recorded fingerprint, else by their exact text. */
export type RecognizeReplacement = (reading: Reading<unknown>) => Replacement | undefined;

export function recognizeBy(recorded: ReadonlySet<string>): RecognizeReplacement {
  return ({ messages, fingerprint }) => {
    const [message] = messages;
    if (!message || messages.length > 1) return undefined;
    const tagged = readReplacement(message);
    return tagged ?? (recorded.has(fingerprint) ? { summary: textOf(message) } : undefined);
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
  /** Reminders of the host at the very end, which stay where they are. */
  tail: readonly Reading<Item>[];
  /** What the user said is in a manual summary, and nothing came after it. */
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
  const saidBefore = !lastUserMessage && replaced.some((reading) => options.recognize(reading) !== undefined);
  return { replaced, laterSystem, lastUserMessage, tail, saidBefore };
}

/**
 * How many items at the end are reminders: of a system role, or of the user's without being the user's input. Hosts put them there anew for
 * each request: covered by a replacement, they would make it void with the next one.
 */
export function countReminders(readings: readonly Reading<unknown>[], isUserInput: IsUserInput): number {
  let count = 0;
  for (let index = readings.length - 1; index > 0; index--) {
    const messages = readings[index]?.messages ?? [];
    if (
      !messages.every((message) => message.role === 'system' || (isUserText(message) && !isUserInput(message))) ||
      messages.length === 0
    )
      break;
    count++;
  }
  return count;
}

function findLastUserMessage(
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

function isUserText(message: Message): boolean {
  return message.role === 'user' && hasUserContent(message);
}

import type { TokenCounter } from '../budget/token-counter.ts';
import type { Message } from '../message.ts';
import { readReplacement } from '../prompt/replacement.ts';
import { sumTokens, takeNewest } from './newest-groups.ts';
import { previewMessage } from './preview.ts';
import { type SizedItem, splitGroups, splitTurn } from './protocol-groups.ts';

/** How what was cut becomes items again, and how it is measured. */
export interface CutOptions<Item> {
  write: (message: Message) => readonly Item[];
  /** Size of items in tokens: ids and names too. */
  countItems: (items: readonly Item[]) => number;
  countTokens: TokenCounter;
}

/** With less nothing of a message can be said. */
const leastPreview = 16;
/** How often a preview is made shorter that came out too long. */
const mostCorrections = 3;

/**
 * Everything, each message as short as it must be; where these are too many even so, the first words and the newest steps of the
 * newest group. Ids and names stay, so the result may still be too long. V22, V29
 */
export function previewItems<Item>(
  items: readonly SizedItem<Item>[],
  room: number,
  options: CutOptions<Item>,
  newestGroup: readonly SizedItem<Item>[] = splitGroups(items).at(-1) ?? [],
): readonly SizedItem<Item>[] {
  const count = items.reduce((sum, { messages }) => sum + messages.length, 0);
  const share = Math.floor(room / Math.max(1, count));
  if (share >= leastPreview) {
    const previews = items.map((item) => cutItem(item, share, options));
    if (sumTokens(previews) <= room) return previews;
  }
  const [first = [], ...steps] = splitTurn(newestGroup);
  const head = first.map((item) => cutItem(item, Math.floor(room / 4), options));
  const each = Math.max(leastPreview, Math.floor(room / 8));
  const tail = takeNewest(
    steps.map((step) => step.map((item) => cutItem(item, each, options))),
    room - sumTokens(head),
  );
  return [...head, ...tail.flat()];
}

/**
 * The item with each of its messages cut to so many tokens; the very same where they fit. Of an earlier replacement it has what that
 * holds: half a wrapper would only be copied.
 */
export function cutItem<Item>(
  sized: SizedItem<Item>,
  budget: number,
  options: CutOptions<Item>,
  applies: (message: Message) => boolean = () => true,
): SizedItem<Item> {
  if (sized.tokens <= budget) return sized;
  const messages = sized.messages.map((message) => (applies(message) ? cutMessage(message, budget, options) : message));
  if (messages.every((message, index) => message === sized.messages[index])) return sized;
  const items = messages.flatMap(options.write);
  return { items, messages, tokens: options.countItems(items) };
}

function cutMessage<Item>(message: Message, budget: number, { write, countItems, countTokens }: CutOptions<Item>): Message {
  const measure = (candidate: Message): number => countItems(write(candidate));
  const whole = unwrap(message);
  let preview = previewMessage(whole, budget, { measure, count: countTokens });
  let aim = budget;
  // What ids, names and the shape cost beside the text is not known before.
  for (let correction = 0; correction < mostCorrections && aim > 0; correction++) {
    const size = measure(preview);
    if (size <= budget) break;
    aim = Math.floor((aim * budget) / size) - 1;
    preview = previewMessage(whole, aim, { measure, count: countTokens });
  }
  return preview;
}

function unwrap(message: Message): Message {
  const replacement = readReplacement(message);
  if (!replacement) return message;
  return { role: 'user', parts: [{ type: 'text', text: replacement.summary }, ...(replacement.lastUserMessage ?? [])] };
}

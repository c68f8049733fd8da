import type { ProviderAdapter } from './adapters/adapter.ts';
import type { ContextBudget } from './budget/context-budget.ts';
import type { Meter } from './budget/meter.ts';
import { sumTokens } from './history/newest-groups.ts';
import type { CutOptions } from './history/preview-items.ts';
import type { SizedItem } from './history/protocol-groups.ts';
import { type ItemReader, isCheckpoint, isSystem, type Reading } from './history/reading.ts';
import { findLastUserMessage, keepTail, type RecognizeReplacement, type ReplacedPart } from './history/replaced.ts';
import { selectRetained } from './history/retained.ts';
import { findReasonedLoop } from './history/tail/reasoned-loop.ts';
import { previewGroup, selectTail, type TailSize, tailTarget } from './history/tail.ts';
import type { IsUserInput } from './history/turns.ts';
import type { RequestView } from './history/view.ts';
import type { ReasoningRule } from './rebuild.ts';

/** What is kept word for word beside the newest input of the user. */
export interface RetentionRules {
  latestUserMessage: boolean;
  tail?: TailSize | undefined;
  messages?: { tokens?: number | undefined; count?: number | undefined } | undefined;
}

export interface RetainDeps<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  read: ItemReader<Item>;
  meter: Meter;
  isUserInput: IsUserInput;
  retain: RetentionRules;
  reasoning: ReasoningRule;
}

export interface RetainPlace<Request, Item> {
  view: RequestView<Request, Item>;
  /** How many items at the end are the caller's own: what stands before them may be a replacement. */
  own: number;
  budget: ContextBudget;
  recognize: RecognizeReplacement;
  /** Tokens that may be kept. */
  room: number;
}

/** What stays beside a summary. */
export interface Retained<Item> {
  part: ReplacedPart<Item>;
  /** Items, or beginnings of them, that stand between the summary and the tail. */
  retained: readonly Reading<Item>[];
}

const mostMessages = { tokens: 20_000, count: 6 }; // V1
/** Part of the room that messages may fill, the tail included: the rest is for the work up to the next compaction. V15 */
const mostOfRoom = 1 / 3;

/** What is kept beside a summary: the newest turns, then what matters most before them. Undefined where nothing is. */
export function retainVerbatim<Request, Item, Reply>(
  part: ReplacedPart<Item>,
  place: RetainPlace<Request, Item>,
  deps: RetainDeps<Request, Item, Reply>,
): Retained<Item> | undefined {
  const { retain, read } = deps;
  const { view, room } = place;
  if (room <= 0 || !(retain.tail || retain.messages)) return undefined;
  const conversation = view.body.slice(0, view.body.length - part.reminders);
  const sized = conversation.map((reading) => sizeOf(reading, view, deps));
  const tail = chooseTail(conversation, sized, place, deps);
  const staying = view.body.slice(tail.start);
  const saidInTail = tail.previews.length === 0 && findLastUserMessage(staying, { ...deps, ...place }) !== undefined;
  const kept = tail.previews.length > 0 ? part : keepTail(part, view.body, staying.length, saidInTail);

  // What stands beside the summary anyway is not kept twice, and earlier summaries are in the new one.
  const latest = kept.lastUserMessage && newestInput(conversation, deps.isUserInput);
  // Without their reasoning calls may stand behind no input of the user that they could be the answer to.
  const wordsAlone = wantsReasoning(view, deps) && tail.start === conversation.length;
  const mayStay = (reading: Reading<Item>): boolean =>
    reading !== latest &&
    !isSystem(reading) &&
    place.recognize(reading) === undefined &&
    !(wordsAlone && reading.messages.some(({ role }) => role === 'assistant'));
  const before = conversation.flatMap((reading, index) => (index < tail.start && mayStay(reading) ? (sized[index] ?? []) : []));
  const previews = part.lastUserMessage ? tail.previews.slice(1) : tail.previews;
  const inTail = tail.previews.length > 0 ? sumTokens(previews) : sumTokens(sized.slice(tail.start));
  const size = {
    tokens: Math.min(Math.floor(room * mostOfRoom) - inTail, retain.messages?.tokens ?? mostMessages.tokens),
    count: retain.messages?.count ?? mostMessages.count,
  };
  const chosen = retain.messages ? selectRetained(before, size, { ...cutOptions(view, deps), ...deps }) : [];
  const retained = [...chosen, ...previews].flatMap(({ items }) => items.map(read));
  return { part: kept, retained };
}

/** Where the tail begins; where the newest turn is too large for it, the beginnings of its messages. */
function chooseTail<Request, Item, Reply>(
  conversation: readonly Reading<Item>[],
  sized: readonly SizedItem<Item>[],
  { view, own, budget, recognize, room }: RetainPlace<Request, Item>,
  deps: RetainDeps<Request, Item, Reply>,
): { start: number; previews: readonly SizedItem<Item>[] } {
  const none = { start: conversation.length, previews: [] };
  const { retain, isUserInput } = deps;
  if (!retain.tail) return none;
  // Reasoning of an open loop may be neither there nor gone: nothing of the loop is kept.
  if (wantsReasoning(view, deps) && findReasonedLoop(conversation, isUserInput) !== undefined) return none;
  const standing = conversation.findLastIndex((reading) => isCheckpoint(reading) || recognize(reading) !== undefined);
  const first = Math.max(standing + 1, view.body.length - own);
  const target = Math.min(tailTarget(budget.contextWindow, retain.tail), room);
  const eligible = sized.slice(first);
  const behind = sumTokens(eligible.slice(selectTail(eligible, target, isUserInput)?.end ?? eligible.length));
  // What comes behind an open call stays where it is, too.
  const selection = selectTail(eligible, target - behind, isUserInput);
  if (!selection) return none;
  const start = first + selection.start;
  if (!selection.oversized) return { start, previews: [] };
  return { start, previews: previewGroup(sized.slice(start), target, cutOptions(view, deps)) ?? [] };
}

/** The provider refuses a loop that is open and has lost its reasoning, and reasoning is to go. */
function wantsReasoning<Request, Item, Reply>(
  { request }: RequestView<Request, Item>,
  { adapter, reasoning }: RetainDeps<Request, Item, Reply>,
): boolean {
  return reasoning === 'strip' && adapter.loopNeedsReasoning?.(request) === true;
}

/** An item as it would stay. */
function sizeOf<Request, Item, Reply>(
  reading: Reading<Item>,
  view: RequestView<Request, Item>,
  { reasoning, meter }: RetainDeps<Request, Item, Reply>,
): SizedItem<Item> {
  const kept = reasoning === 'strip' ? reading.withoutReasoning() : reading;
  if (!kept) return { items: [], messages: [], tokens: 0 };
  return { items: [kept.item], messages: kept.messages, tokens: meter.countReadings([kept], view.context.model) };
}

function newestInput<Item>(conversation: readonly Reading<Item>[], isUserInput: IsUserInput): Reading<Item> | undefined {
  return conversation.findLast(({ messages }) => messages.some((message) => message.role === 'user' && isUserInput(message)));
}

function cutOptions<Request, Item, Reply>(
  { context }: RequestView<Request, Item>,
  { adapter, read, meter }: RetainDeps<Request, Item, Reply>,
): CutOptions<Item> {
  return {
    write: (message) => adapter.writeMessage(message),
    countItems: (items) => meter.countReadings(items.map(read), context.model),
    countTokens: meter.count,
  };
}

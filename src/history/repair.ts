import type { ProviderAdapter } from '../adapters/adapter.ts';
import type { Message, Part, ToolCallPart, ToolResultPart } from '../message.ts';
import { writeOrphanRecord } from './orphan-record.ts';
import { type ItemReader, isSystem, type Reading } from './reading.ts';
import { renameRepeatedCalls } from './repeated-calls.ts';
import { hasUserContent } from './turns.ts';

export interface RepairedItems<Item> {
  /** The very same objects, wherever nothing was wrong with them. */
  items: readonly Item[];
  /** One sentence for each kind of repair; empty where nothing was wrong. */
  repairs: readonly string[];
}

interface Deps<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  read: ItemReader<Item>;
}

// The library cannot know what became of the call, and says so. B189
const missingResult = 'No result was recorded for this call: it was interrupted, and may or may not have run.';

const missingBeginning = 'The beginning of this conversation is missing.';

/**
 * A conversation that the provider accepts: every call answered once and at its place, no result without a call, no blank message, no
 * broken characters. Only for requests that are rebuilt or summarized: others go out as they are. `closeOpen` also answers calls that
 * still wait at the end.
 */
export function repairItems<Request, Item, Reply>(
  readings: readonly Reading<Item>[],
  { adapter, read }: Deps<Request, Item, Reply>,
  { closeOpen }: { closeOpen: boolean },
): RepairedItems<Item> {
  const repairs = new Set(readings.flatMap((reading) => reading.repairs));
  const sound = readings.flatMap((reading) => {
    if (reading.sound === reading.item) return [reading];
    return reading.sound === undefined ? [] : [read(reading.sound)];
  });
  const accepted = sound.map((reading) => reading.item);
  const items = adapter.dropLoneHalves?.(accepted, { closeOpen }) ?? accepted;
  if (items !== accepted) repairs.add("Halves of the provider's own pairs were left out.");
  const whole = items === accepted ? sound : items.map(read);
  const paired = adapter.pairItems
    ? adapter.pairItems(items, { closeOpen, missingResult, writeOrphan: writeOrphanRecord })
    : isPaired(whole, closeOpen)
      ? items
      : pair(whole, adapter, closeOpen);
  if (paired !== items) repairs.add('Tool calls and results were brought back together.');
  const renamed = renameRepeatedCalls(paired, { adapter, read });
  if (renamed !== paired) repairs.add('Calls without an id of their own were given one.');
  const begun = adapter.startsWithUser ? beginWithUser(renamed, { adapter, read }) : renamed;
  if (begun !== renamed) repairs.add('The conversation began with the assistant: a message of the user was put before it.');
  return { items: begun, repairs: [...repairs] };
}

/** Standing instructions come before, and so does a checkpoint of the provider. */
function beginWithUser<Request, Item, Reply>(
  items: readonly Item[],
  { adapter, read }: Deps<Request, Item, Reply>,
): readonly Item[] {
  const first = items.findIndex((item) => !isSystem(read(item)));
  const item = items[first];
  if (item === undefined || read(item).messages[0]?.role !== 'assistant' || adapter.mayBegin?.(item)) return items;
  const beginning = adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: missingBeginning }] });
  return [...items.slice(0, first), ...beginning, ...items.slice(first)];
}

/** True where each call is answered exactly once by the results right after it. */
function isPaired(readings: readonly Reading<unknown>[], closeOpen: boolean): boolean {
  let open: string[] = [];
  for (const { messages } of readings)
    for (const message of messages) {
      for (const result of resultsOf(message)) {
        const index = open.indexOf(result.callId);
        if (index === -1) return false;
        open.splice(index, 1);
      }
      if (message.role === 'tool') continue;
      if (open.length > 0) return false;
      open = callsOf(message).map(({ id }) => id);
    }
  return open.length === 0 || !closeOpen;
}

/** Puts the results of each call right behind it. A result belongs to the nearest earlier call of its id that is still unanswered. */
function pair<Request, Item, Reply>(
  readings: readonly Reading<Item>[],
  adapter: ProviderAdapter<Request, Item, Reply>,
  closeOpen: boolean,
): Item[] {
  const { answers, lastInput } = matchResults(readings);
  const firstOpen = closeOpen ? Number.POSITIVE_INFINITY : Math.max(startOfOpenTurn(answers), lastInput + 1);
  const placed = new Set<Part>(
    [...answers.values()].flatMap((answer) => answer.results.filter((result) => result !== undefined)),
  );
  const paired: Item[] = [];
  for (let index = 0; index < readings.length; index++) {
    const reading = readings[index];
    if (!reading) break;
    const answer = answers.get(index);
    if (!answer) {
      if (!holdsResults(reading)) paired.push(reading.item);
      else for (const message of reading.messages) paired.push(...writeWithoutResults(message, placed, adapter));
      continue;
    }
    paired.push(reading.item);
    const run = runOfResults(readings, index + 1, answer);
    if (run > 0) {
      paired.push(...readings.slice(index + 1, index + 1 + run).map((result) => result.item));
      index += run;
      continue;
    }
    const results = answer.calls.flatMap(({ id, name }, position): Part[] => {
      const result = answer.results[position];
      if (result) return [{ name, ...result }];
      const stillOpen = index >= firstOpen;
      if (stillOpen) return [];
      return [{ type: 'toolResult', callId: id, name, content: [{ type: 'text', text: missingResult }], isError: true }];
    });
    if (results.length > 0) paired.push(...adapter.writeMessage({ role: 'tool', parts: results }));
  }
  return paired;
}

/** Where the turn begins whose calls still wait. Once the newest calls are answered the conversation goes on: older ones never will be. */
function startOfOpenTurn(answers: ReadonlyMap<number, Answer>): number {
  let start = [...answers.keys()].at(-1) ?? 0;
  if (!answers.get(start)?.results.includes(undefined)) return Number.POSITIVE_INFINITY;
  // One turn may be stored as several items, with nothing between them.
  while (answers.get(start - 1)?.results.every((result) => result === undefined)) start--;
  return start;
}

/** How many items from `start` on are exactly the answer, at its place already; 0 where they are not. */
function runOfResults(readings: readonly Reading<unknown>[], start: number, answer: Answer): number {
  const expected = new Set<Part | undefined>(answer.results);
  let length = 0;
  for (let index = start; expected.size > 0; index++) {
    const reading = readings[index];
    const results = reading?.messages.flatMap(resultsOf) ?? [];
    if (results.length === 0 || !results.every((result) => expected.delete(result))) return 0;
    length++;
  }
  return length;
}

interface Answer {
  calls: readonly ToolCallPart[];
  results: (ToolResultPart | undefined)[];
}

function matchResults(readings: readonly Reading<unknown>[]): { answers: Map<number, Answer>; lastInput: number } {
  const answers = new Map<number, Answer>();
  const waiting = new Map<string, Answer[]>();
  let lastInput = -1;
  readings.forEach(({ messages }, index) => {
    for (const message of messages) {
      for (const result of resultsOf(message)) {
        // Of one message, the first call of the id; of several, the nearest message.
        const answer = waiting.get(result.callId)?.pop();
        const position = answer?.calls.findIndex(({ id }, place) => id === result.callId && !answer.results[place]) ?? -1;
        if (answer && position !== -1) answer.results[position] = result;
      }
      const calls = callsOf(message);
      if (calls.length > 0) {
        const answer: Answer = { calls, results: calls.map(() => undefined) };
        answers.set(index, answer);
        for (const { id } of calls) {
          const others = waiting.get(id);
          if (others) others.push(answer);
          else waiting.set(id, [answer]);
        }
      } else if (message.role === 'assistant' || hasUserContent(message)) lastInput = index;
    }
  });
  return { answers, lastInput };
}

/** What is left of a message whose results moved to their calls; results without a call stay as labelled text. */
function writeWithoutResults<Request, Item, Reply>(
  message: Message,
  placed: ReadonlySet<Part>,
  adapter: ProviderAdapter<Request, Item, Reply>,
): Item[] {
  const parts = message.parts.flatMap((part): readonly Part[] => {
    if (part.type !== 'toolResult') return [part];
    return placed.has(part) ? [] : writeOrphanRecord(part);
  });
  if (parts.length === 0) return [];
  return adapter.writeMessage({ role: message.role === 'tool' ? 'user' : message.role, parts });
}

function holdsResults(reading: Reading<unknown>): boolean {
  return reading.messages.some((message) => resultsOf(message).length > 0);
}

function resultsOf(message: Message): ToolResultPart[] {
  return message.parts.filter((part) => part.type === 'toolResult');
}

function callsOf(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === 'toolCall');
}

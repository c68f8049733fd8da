import { type Message, type Part, textOf } from '../message.ts';
import type { CompactionCommit } from '../options.ts';
import { readReplacement } from '../prompt/replacement.ts';
import type { SessionEvent } from './event.ts';

/**
 * The last event that a compaction stands for, of those that may have been in the conversation when it was looked at. Input may be accepted
 * between the moment at which the conversation was read and now: of what the user said since the last turn, that is covered which the
 * replacement keeps word for word, and what came before it. The rest stays.
 */
export function coveredSeq(
  events: readonly SessionEvent[],
  { replacement, kept }: Pick<CompactionCommit<unknown>, 'replacement' | 'kept'>,
): number {
  const recent = events
    .slice(events.findLastIndex(({ kind }) => kind !== 'user_message') + 1)
    .flatMap((event) => (event.kind === 'user_message' ? [event] : []));
  const before = events.at(-1 - recent.length)?.seq ?? 0;
  for (const said of newestFirst(replacement, kept)) {
    const wanted = describeInput(said);
    let joined = ''; // some shapes join what the user says in a row
    const event = recent.find(({ payload }) => {
      const input = describeInput(payload.message.parts);
      joined += input;
      return input === wanted || joined === wanted;
    });
    if (event) return event.seq;
  }
  return before;
}

/** What the user said, as far as the compacted conversation holds it word for word. */
function newestFirst(replacement: readonly Message[], kept: readonly Message[]): (readonly Part[])[] {
  const said = [...replacement.map(unwrap), ...kept.map(({ role, parts }) => (role === 'user' ? parts : undefined))];
  return said.filter((parts) => parts !== undefined).reverse();
}

function unwrap(message: Message): readonly Part[] | undefined {
  const replacement = readReplacement(message);
  if (replacement) return replacement.lastUserMessage;
  return message.role === 'user' ? message.parts : undefined;
}

/** The same for a message however a shape parts its text. */
function describeInput(parts: readonly Part[]): string {
  const text = textOf({ role: 'user', parts }).replace(/\s/g, '').toWellFormed();
  return text + '\0'.repeat(parts.filter(({ type }) => type === 'media' || type === 'native').length);
}

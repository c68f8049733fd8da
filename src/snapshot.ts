import * as z from 'zod/mini';
import type { ProviderAdapter } from './adapters/adapter.ts';
import type { CounterLessons, Meter, UsageAnchor } from './budget/meter.ts';
import { isMessage } from './check-messages.ts';
import { copyDeep } from './copy.ts';
import { CompactionError } from './errors.ts';
import type { HeldHistory } from './history/held.ts';
import type { Mark } from './history/view.ts';
import type { Message } from './message.ts';
import { createTrack, type Track, type TrackState } from './overlay.ts';
import type { TriggerState } from './trigger.ts';

/** The state of one conversation without its items: plain data, to be stored beside them and restored in another process. */
export interface ConversationSnapshot {
  version: 1;
  conversation?: string | undefined;
  /** Which prefix of the caller's conversation is covered, and by what. */
  overlay?: { covered: Mark; rebuilt: Mark; rebased: number; replacement: Message[]; compactionId: string } | undefined;
  /** Fingerprints of messages that are replacements, so that they are never taken for the user's input. */
  replacements: string[];
  trigger: TriggerState;
  anchor?: UsageAnchor | undefined;
  /** What the provider's usage taught of its tokenizer. */
  lessons?: CounterLessons[] | undefined;
  /** The newest reply that the server holds. */
  held?: HeldHistory | undefined;
  /** How many items the conversation had. Told apart by it: turns that a compaction has seen, and those that came later. */
  seen?: number | undefined;
}

export function createSnapshot<Item>(
  meter: Meter,
  conversation: string | undefined,
  state: TrackState<Item>,
  seen?: number,
): ConversationSnapshot {
  const { overlay, replacements, trigger, anchor, before, held } = state;
  const lessons = meter.lessons();
  return copyDeep({
    version: 1,
    conversation,
    overlay: overlay && {
      covered: overlay.covered,
      rebuilt: overlay.rebuilt,
      rebased: overlay.rebased,
      replacement: [...overlay.replacement],
      compactionId: overlay.compactionId,
    },
    replacements: [...replacements],
    trigger,
    anchor,
    lessons: lessons.length > 0 ? lessons : undefined,
    held: held ?? before,
    seen,
  });
}

/**
 * The conversation of a snapshot. What usage taught is taken up by the meter.
 *
 * @throws CompactionError `invalid-options` for a snapshot of an unknown version, or one that lost something on its way.
 */
export function restoreSnapshot<Request, Item, Reply>(
  { adapter, meter }: { adapter: ProviderAdapter<Request, Item, Reply>; meter: Meter },
  snapshot: ConversationSnapshot,
): Track<Request, Item> {
  if (snapshot?.version !== 1)
    throw new CompactionError('invalid-options', `Expected a snapshot of version 1, got ${String(snapshot?.version)}.`);
  const issue = z.safeParse(snapshotSchema(), snapshot).error?.issues[0];
  if (issue)
    throw new CompactionError(
      'invalid-options',
      `Expected \`${issue.path.join('.')}\` of the snapshot to be as \`snapshot()\` gave it.`,
    );
  const { overlay, replacements, trigger, anchor, lessons = [], held, conversation } = copyDeep(snapshot);
  meter.adopt(lessons);
  return Object.assign(createTrack<Request, Item>(conversation), {
    overlay: overlay && { ...overlay, items: overlay.replacement.flatMap((message) => adapter.writeMessage(message)) },
    replacements: new Set(replacements),
    trigger,
    anchor,
    held,
    seen: overlay?.covered ?? trigger.attempt ?? anchor?.mark ?? { count: 0, hash: '' },
  });
}

// Built on demand, so that importing the package builds nothing.
function snapshotSchema() {
  const mark = z.object({ count: z.number(), hash: z.string() });
  const anyMessage = z.custom<Message>(isMessage);
  const userMessage = z.custom<Message>((value) => isMessage(value) && value.role === 'user');
  return z.object({
    conversation: z.optional(z.string()),
    overlay: z.optional(
      z.object({ covered: mark, rebuilt: mark, rebased: z.number(), replacement: z.array(anyMessage), compactionId: z.string() }),
    ),
    replacements: z.array(z.string()),
    trigger: z.object({
      attempt: z.optional(mark),
      tries: z.optional(z.number()),
      failures: z.number(),
      failure: z.optional(
        z.object({
          said: z.string(),
          model: z.optional(z.string()),
          surroundings: z.string(),
          until: z.optional(z.enum(['input', 'answer'])),
        }),
      ),
      sizeAfter: z.optional(z.number()),
      inDoubt: z.optional(z.string()),
      reported: z.array(z.string()),
      reportedAt: z.optional(mark),
      softReported: z.optional(z.boolean()),
      provenWindow: z.optional(z.object({ model: z.optional(z.string()), tokens: z.number() })),
    }),
    anchor: z.optional(z.object({ mark, surroundings: z.string(), tokens: z.number() })),
    lessons: z.optional(
      z.array(
        z.object({
          counter: z.enum(['custom', 'tokenizer', 'bytes']),
          model: z.optional(z.string()),
          reported: z.number(),
          counted: z.number(),
        }),
      ),
    ),
    seen: z.optional(z.number()),
    held: z.optional(z.object({ mark, tokens: z.number(), replaceable: z.boolean(), lastUserMessage: z.optional(userMessage) })),
  });
}

import * as z from 'zod/mini';
import { isMessage } from '../check-messages.ts';
import { CompactionError } from '../errors.ts';
import type { Message } from '../message.ts';
import type { ConversationSnapshot } from '../snapshot.ts';
import type { StoredEvent } from './store.ts';

/** The version that is written. Later ones add kinds and fields: what is not known is kept and passed over. */
export const sessionVersion = 1;

/** An item of the provider that stands for `count` messages, beginning with number `from`. */
export interface NativeItem {
  item: unknown;
  from: number;
  count: number;
}

/** Messages, and the provider's own items where messages do not say all that these held: signatures, ids, the order of keys. */
export interface StoredMessages {
  messages: readonly Message[];
  /** Only read by the adapter of this name. */
  native?: { provider: string; items: readonly NativeItem[] } | undefined;
}

/** What became of a turn so far: what the model said and called, and the results of the calls. */
export interface Turn extends StoredMessages {
  /**
   * State of the loop after it, so that another process decides as this one would have. It also tells a turn that came while a summary was
   * written: without it the turn counts as summarized.
   */
  snapshot?: ConversationSnapshot | undefined;
  /** The user stopped it. */
  interrupted?: boolean | undefined;
  /** What it failed with, in words for the user. */
  error?: string | undefined;
}

/** A place in the conversation that the snapshot of a turn names. */
export type MarkName = 'attempt' | 'reportedAt';

export interface TurnPayload extends Turn {
  /** Places that were set since the snapshot before: they are where this turn begins. */
  moved?: readonly MarkName[] | undefined;
  /** What was visible when a compaction was applied: for display, the compaction stands for it. */
  checkpoint?: boolean | undefined;
}

export interface CompactionPayload extends StoredMessages {
  /** Everything up to this event is replaced by `messages`. */
  coversSeq: number;
  compactionId: string;
  trigger: 'automatic' | 'manual';
  /** What a user is told; empty for an automatic compaction. K58 */
  status: string;
  /** The summary of a manual compaction as it was shown while it was written. K28 */
  transcript?: readonly Message[] | undefined;
  snapshot: ConversationSnapshot;
}

/** What each kind of event holds. */
export interface SessionPayloads {
  session_started: { version: number };
  user_message: { message: Message };
  assistant_turn: TurnPayload;
  compaction_applied: CompactionPayload;
}

/** One thing that happened in a session. K55 */
export type SessionEvent = {
  [Kind in keyof SessionPayloads]: { seq: number; kind: Kind; payload: SessionPayloads[Kind] };
}[keyof SessionPayloads];

/** An event that has no number yet. */
export type NewEvent = {
  [Kind in keyof SessionPayloads]: { kind: Kind; payload: SessionPayloads[Kind] };
}[keyof SessionPayloads];

/** The event as what it is: undefined for a kind of a later version, and for one that is not as it was written. */
export function readEvent(stored: StoredEvent): { event: SessionEvent } | { fault: string } | undefined {
  const schema = schemaOf(stored.kind);
  if (!schema) return undefined;
  const issue = z.safeParse(schema, stored.payload).error?.issues[0];
  // The schema of this kind has just checked the payload.
  if (!issue) return { event: stored as SessionEvent };
  return { fault: `Expected \`${['payload', ...issue.path].join('.')}\` of ${stored.kind} to be ${issue.message}.` };
}

/**
 * @throws CompactionError `invalid-event`, naming the field.
 */
export function checkEvent(event: StoredEvent): void {
  const reading = readEvent(event);
  if (reading && 'fault' in reading) throw new CompactionError('invalid-event', reading.fault);
}

let schemas: ReturnType<typeof buildSchemas> | undefined;

function schemaOf(kind: string): z.ZodMiniType | undefined {
  schemas ??= buildSchemas();
  return schemas.get(kind);
}

// Built on demand, so that importing the package builds nothing.
function buildSchemas(): Map<string, z.ZodMiniType> {
  const custom = (test: (value: unknown) => boolean, expectation: string) => z.custom<unknown>(test, expectation);
  const text = custom((value) => typeof value === 'string', 'a text');
  const flag = custom((value) => typeof value === 'boolean', 'true or false');
  const count = custom((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number, 0 or more');
  const messages = custom((value) => Array.isArray(value) && value.every(isMessage), 'a list of messages with a role and parts');
  const snapshot = custom((value) => typeof value === 'object' && value !== null && 'version' in value, 'a snapshot of a loop');
  const items = z.array(z.object({ item: z.unknown(), from: count, count }, 'an item and its place'), 'a list of items');
  const native = z.optional(z.object({ provider: text, items }, 'items of a provider'));
  const object = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.object(shape, 'an object');
  return new Map<keyof SessionPayloads, z.ZodMiniType>([
    ['session_started', object({ version: count })],
    ['user_message', object({ message: custom((value) => isMessage(value) && value.role === 'user', 'a message of the user') })],
    [
      'assistant_turn',
      object({
        messages,
        native,
        snapshot: z.optional(snapshot),
        interrupted: z.optional(flag),
        error: z.optional(text),
        moved: z.optional(z.array(z.enum(['attempt', 'reportedAt'], 'a name of a place'), 'a list of places')),
        checkpoint: z.optional(flag),
      }),
    ],
    [
      'compaction_applied',
      object({
        messages,
        native,
        coversSeq: count,
        compactionId: text,
        trigger: z.enum(['automatic', 'manual'], 'automatic or manual'),
        status: text,
        transcript: z.optional(messages),
        snapshot,
      }),
    ],
  ]);
}

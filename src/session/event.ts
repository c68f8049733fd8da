import type { Message } from '../message.ts';
import type { ConversationSnapshot } from '../snapshot.ts';

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

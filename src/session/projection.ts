import type { Message } from '../message.ts';
import type { ConversationSnapshot } from '../snapshot.ts';
import type { MarkName, SessionEvent, StoredMessages } from './event.ts';

/** A part of the conversation, from one event. */
export interface ProjectedPart extends StoredMessages {
  /** It was there before the replacement in front of it: reasoning in it is bound to the beginning that went. */
  rebased: boolean;
}

/** The conversation of the model as the events tell it. */
export interface Projection {
  parts: readonly ProjectedPart[];
  /** The newest state of a loop that was stored. */
  snapshot: ConversationSnapshot | undefined;
  /** Behind how many parts the places are that the snapshot names. */
  places: Readonly<Partial<Record<MarkName, number>>>;
}

/**
 * What the model goes on from: the messages of the newest compaction, then what came after the events that it covers. Input that was
 * accepted while the summary was written stays. K60
 */
export function project(events: readonly SessionEvent[]): Projection {
  const start = events.findLastIndex(({ kind }) => kind === 'compaction_applied');
  const base = events[start];
  const compaction = base?.kind === 'compaction_applied' ? base : undefined;
  const coversSeq = compaction?.payload.coversSeq ?? 0;
  const parts: ProjectedPart[] = [];
  let snapshot = compaction?.payload.snapshot;
  const places: Partial<Record<MarkName, number>> = {};
  if (compaction) {
    parts.push({ ...pickMessages(compaction.payload), rebased: false });
    places.attempt = 1; // all that was looked at is in it or behind it
  }
  for (const event of eventsAfter(events, coversSeq)) {
    const rebased = event.seq < (compaction?.seq ?? 0);
    if (event.kind === 'user_message') parts.push({ messages: [event.payload.message], rebased });
    if (event.kind !== 'assistant_turn' || event.payload.checkpoint) continue;
    if (event.payload.snapshot && !rebased) {
      for (const name of event.payload.moved ?? []) places[name] = parts.length;
      snapshot = event.payload.snapshot;
    }
    if (event.payload.messages.length > 0) parts.push({ ...pickMessages(event.payload), rebased });
  }
  return { parts, snapshot, places };
}

/** The messages of the conversation, in order. */
export function projectedMessages({ parts }: Projection): Message[] {
  return parts.flatMap(({ messages }) => messages);
}

function pickMessages({ messages, native }: StoredMessages): StoredMessages {
  return { messages, native };
}

/** From the end: a long session is not walked through for its newest part. */
function eventsAfter(events: readonly SessionEvent[], seq: number): readonly SessionEvent[] {
  return events.slice(events.findLastIndex((event) => event.seq <= seq) + 1);
}

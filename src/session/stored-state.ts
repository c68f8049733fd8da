import type { Mark } from '../history/view.ts';
import type { ConversationSnapshot } from '../snapshot.ts';
import type { TriggerState } from '../trigger.ts';
import type { MarkName } from './event.ts';

/** Places of the conversation that the state of a loop names. */
export type Marks = Pick<TriggerState, MarkName>;

/** Without what holds for one loop alone: here a replacement is the beginning of the conversation, and a restored one is counted anew. */
export function storedState(snapshot: ConversationSnapshot): ConversationSnapshot {
  return { ...snapshot, overlay: undefined, seen: undefined };
}

/** The places that were set between two states. */
export function movedMarks(before: Marks, after: Marks): MarkName[] | undefined {
  const moved = (['attempt', 'reportedAt'] as const).filter((name) => !isSame(before[name], after[name]));
  return moved.length > 0 ? moved : undefined;
}

function isSame(left: Mark | undefined, right: Mark | undefined): boolean {
  return left?.count === right?.count && left?.hash === right?.hash;
}

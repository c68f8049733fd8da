import type { CompactionCommit } from '../options.ts';
import { coveredSeq } from './covered.ts';
import type { CompactionPayload, SessionEvent, StoredMessages } from './event.ts';
import type { ManualRecording } from './manual-recording.ts';
import { type RetainOutput, retainOutputs } from './retain-output.ts';
import { storedState } from './stored-state.ts';

/** What a compaction is made of, apart from what the loop tells of it. */
export interface CompactionSources {
  /** What the model goes on from. */
  compacted: StoredMessages;
  /** The events that may have been in the conversation when it was looked at. */
  events: readonly SessionEvent[];
  /** Only of a manual compaction. */
  recording: ManualRecording | undefined;
  retainOutput: RetainOutput | undefined;
}

/** A compaction as it is stored. */
export function writeCompaction(
  applied: CompactionCommit<unknown>,
  { compacted, events, recording, retainOutput }: CompactionSources,
): CompactionPayload {
  const { compactionId, trigger, snapshot } = applied;
  const recorded = Math.min(recording?.coversSeq ?? 0, events.at(-1)?.seq ?? 0);
  return {
    ...retainOutputs(compacted, retainOutput),
    coversSeq: Math.max(recorded, coveredSeq(events, applied)),
    compactionId,
    trigger,
    status: trigger === 'manual' ? 'Context compacted.' : '', // K58
    transcript: recording && retainOutputs({ messages: recording.recorder.messages() }, retainOutput).messages,
    snapshot: storedState(snapshot),
  };
}

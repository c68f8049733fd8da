import type { Message } from '../message.ts';
import type { SessionEvent } from './event.ts';

/** One thing to show. Unlike the conversation of the model, nothing is ever missing here. */
export type TranscriptEntry =
  | { seq: number; kind: 'user'; message: Message }
  | { seq: number; kind: 'assistant'; messages: readonly Message[]; interrupted: boolean; error?: string | undefined }
  /** `messages` is the summary of a manual compaction as it was shown; where there is none, `status` is shown unless it is empty. K61 */
  | { seq: number; kind: 'compaction'; status: string; messages: readonly Message[] };

/** All that was said and done, for display and audit. */
export function transcribe(events: readonly SessionEvent[]): TranscriptEntry[] {
  return events.flatMap((event): TranscriptEntry[] => {
    const { seq } = event;
    if (event.kind === 'user_message') return [{ seq, kind: 'user', message: event.payload.message }];
    if (event.kind === 'compaction_applied') {
      const { status, transcript = [] } = event.payload;
      return [{ seq, kind: 'compaction', status, messages: transcript }];
    }
    if (event.kind === 'session_started') return [];
    const { messages, interrupted = false, error } = event.payload;
    return [{ seq, kind: 'assistant', messages, interrupted, error }];
  });
}

import type { ManualCompaction } from '../launch.ts';
import { toolDenial } from '../summarize/ask-model.ts';
import { createTurnRecorder, type TurnRecorder } from './turn-recorder.ts';

/** What a manual compaction tells as it goes. */
export type ManualCallbacks = Pick<ManualCompaction, 'onText' | 'onRestart' | 'onDenied'>;

/** How a manual compaction is shown. */
export interface ManualView extends ManualCallbacks {
  /** Keeps what is shown; give one of your own where tools are to be seen in it, too. */
  recorder?: TurnRecorder | undefined;
}

/** A manual compaction under way. */
export interface ManualRecording {
  recorder: TurnRecorder;
  /** The last event before it; undefined until that is known. */
  coversSeq: number | undefined;
  callbacks: Required<ManualCallbacks>;
}

/** Records what a manual compaction shows, and passes it on. */
export function recordCompaction({ onText, onRestart, onDenied, recorder = createTurnRecorder() }: ManualView): ManualRecording {
  return {
    recorder,
    coversSeq: undefined,
    callbacks: {
      onText(text) {
        recorder.onText(text);
        onText?.(text);
      },
      onRestart() {
        recorder.onRestart();
        onRestart?.();
      },
      onDenied(calls) {
        for (const call of calls) {
          recorder.onToolStart(call);
          recorder.onToolEnd({ id: call.id, status: 'error', output: toolDenial });
        }
        onDenied?.(calls);
      },
    },
  };
}

import type { ProviderAdapter } from '../adapters/adapter.ts';
import type { Message } from '../message.ts';
import type { Commit } from '../options.ts';
import type { Turn } from './event.ts';
import type { ManualCallbacks, ManualView } from './manual-recording.ts';
import type { RestoredConversation } from './restore.ts';
import type { RetainOutput } from './retain-output.ts';
import type { SessionStore, StoreDamage, StoredEvent } from './store.ts';
import type { TranscriptEntry } from './transcript.ts';
import type { TurnRecorder } from './turn-recorder.ts';

export interface SessionOptions {
  /** Where the events are kept. */
  store: SessionStore;
  /** Name of the session. An unknown one is begun with its first event. */
  id: string;
  /** What is stored of each tool's output. Default: the whole. */
  retainOutput?: RetainOutput | undefined;
}

/** What was said and done, event by event, and the conversation that the model goes on from. */
export interface Session {
  readonly id: string;
  /** All events, also of kinds that this version does not know. Copies. */
  readonly events: StoredEvent[];
  /** What the store could not read, and events that are not as they were written: they are passed over. */
  readonly damage: StoreDamage[];
  /** The conversation of the model, without system messages. Copies. */
  readonly messages: Message[];
  /** All that was said and done, for display and audit. Copies. */
  readonly transcript: TranscriptEntry[];
  /** What is visible of the turn under way. What it holds that is not stored becomes a checkpoint when a compaction is applied. */
  readonly recorder: TurnRecorder;
  /**
   * Stores input of the user. Fulfilled, it is accepted: no compaction loses it, also where a summary is being written.
   *
   * @throws CompactionError `invalid-event`, or as the store does: `store-conflict` where another process went on with the session.
   */
  appendUser(message: Message): Promise<void>;
  /**
   * Stores a part of a turn: after each batch of tools, so that another process can go on from there, and at its end.
   *
   * @throws as `appendUser`; what `retainOutput` throws.
   */
  appendTurn(turn: Turn): Promise<void>;
  /**
   * What a loop or a wrapper takes as `commit`: stores the compaction, together with what is visible, before it is installed. Where it
   * rejects, the loop goes on unchanged. Turns that were stored while the summary was written stay behind it: they are known by the
   * snapshot of `appendTurn`. So does what another process stored, until `restore` is called again.
   *
   * For one loop at a time: a second one opens the session itself, and the store refuses the slower of the two.
   */
  readonly commit: Commit<unknown>;
  /**
   * Options for one manual compaction, so that its summary is kept as it was shown, and input that comes meanwhile stays behind it:
   * `loop.compact({ ...session.recordManual({ onText }) })`. Calls that the model was denied are in it as tools that failed. Without them,
   * input since the last turn stays word for word.
   */
  recordManual(view?: ManualView): Required<ManualCallbacks>;
  /**
   * The conversation in the shape of an adapter, behind what `request` holds (system text, tools), and the state of the loop.
   *
   * @throws CompactionError `invalid-request` for a request that cannot be read.
   */
  restore<Shape, Item, Reply, Request extends Shape>(
    adapter: ProviderAdapter<Shape, Item, Reply>,
    request: Request,
  ): RestoredConversation<Request>;
  /** Reads the store again: after a conflict, to see what the other process did. */
  reload(): Promise<void>;
}

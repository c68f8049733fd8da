import type { ProviderAdapter } from '../adapters/adapter.ts';
import { copyDeep } from '../copy.ts';
import type { Mark } from '../history/view.ts';
import type { ManualCompaction } from '../launch.ts';
import type { Message } from '../message.ts';
import type { Commit, CompactionCommit } from '../options.ts';
import type { ConversationSnapshot } from '../snapshot.ts';
import { toolDenial } from '../summarize/ask-model.ts';
import type { TriggerState } from '../trigger.ts';
import { checkSessionOptions } from './check-options.ts';
import { coveredSeq } from './covered.ts';
import type { CompactionPayload, MarkName, NewEvent, StoredMessages, Turn } from './event.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import { isStanding, readTurn } from './native-items.ts';
import { project, projectedMessages } from './projection.ts';
import { createReach } from './reach.ts';
import { writeTurn } from './recorded-turn.ts';
import { type RestoredConversation, restoreConversation } from './restore.ts';
import { type RetainOutput, retainOutputs } from './retain-output.ts';
import type { SessionStore, StoreDamage, StoredEvent } from './store.ts';
import { type TranscriptEntry, transcribe } from './transcript.ts';
import { createTurnRecorder, type TurnRecorder } from './turn-recorder.ts';

export interface SessionOptions {
  /** Where the events are kept. */
  store: SessionStore;
  /** Name of the session. An unknown one is begun with its first event. */
  id: string;
  /** What is stored of each tool's output. Default: the whole. */
  retainOutput?: RetainOutput | undefined;
}

/** What a manual compaction tells as it goes. */
export type ManualCallbacks = Pick<ManualCompaction, 'onText' | 'onRestart' | 'onDenied'>;

/** How a manual compaction is shown. */
export interface ManualView extends ManualCallbacks {
  /** Keeps what is shown; give one of your own where tools are to be seen in it, too. */
  recorder?: TurnRecorder | undefined;
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
   * rejects, the loop goes on unchanged. Turns that were stored while the summary was written stay behind it: they are known by the snapshot
   * of `appendTurn`. So does what another process stored, until `restore` is called again.
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

/** A manual compaction under way. */
interface ManualRecording {
  recorder: TurnRecorder;
  /** The last event before it; undefined until that is known. */
  coversSeq: number | undefined;
}

type Marks = Pick<TriggerState, MarkName>;
type ReadCompacted = (commit: CompactionCommit<unknown>) => StoredMessages;

/**
 * Opens a session, new or stored.
 *
 * @throws CompactionError `invalid-options`; as the store's `load` does.
 * @example
 * const session = await createSession({ store: memoryStore(), id: 'chat' });
 * const { request, snapshot } = session.restore(adapter, { model, messages: [system], tools });
 * const loop = new AutoCompactingLoop(request, { adapter, send, commit: session.commit }, { snapshot });
 */
export async function createSession(options: SessionOptions): Promise<Session> {
  checkSessionOptions(options);
  const { store, id, retainOutput } = options;
  const log = createEventLog(store, id);
  const recorder = createTurnRecorder();
  /** As the loop that goes on from here last named its places. */
  let marks: Marks = {};
  let manual: ManualRecording | undefined;
  let readCompaction: ReadCompacted = ({ replacement, kept }) => ({ messages: [...replacement, ...kept] });
  const reach = createReach();

  await log.inOrder(async () => reach.begin(lastSeq(log)));

  async function addEvents(events: readonly NewEvent[], place?: number): Promise<void> {
    const first = lastSeq(log) + 1;
    await log.add(events);
    reach.add({ first, last: lastSeq(log) }, place);
  }

  async function appendTurn(turn: Turn): Promise<void> {
    const visible = recorder.unstored;
    const { snapshot, interrupted, error, ...said } = copyDeep(turn);
    const stored = retainOutputs(withoutStanding(said), retainOutput);
    await log.inOrder(async () => {
      const moved = snapshot && movedMarks(marks, snapshot.trigger);
      const state = snapshot && storedState(snapshot);
      await addEvents(
        [{ kind: 'assistant_turn', payload: { ...stored, snapshot: state, moved, interrupted, error } }],
        snapshot?.seen,
      );
      if (snapshot) marks = snapshot.trigger;
      recorder.markStored(visible);
    });
  }

  async function commit(applied: CompactionCommit<unknown>): Promise<void> {
    const recording = applied.trigger === 'manual' ? manual : undefined;
    await log.inOrder(async () => {
      if (isCommitted(log, applied.compactionId)) return;
      const events: NewEvent[] = [{ kind: 'compaction_applied', payload: describeCompaction(applied, recording) }];
      const shownBy = applied.trigger === 'automatic' ? recorder : recording?.recorder;
      const visible = shownBy?.unstored;
      const shown = visible && applied.trigger === 'automatic' ? writeTurn(visible, log.stored.length) : [];
      if (shown.length > 0) {
        const { messages } = retainOutputs({ messages: copyDeep(shown) }, retainOutput);
        events.unshift({ kind: 'assistant_turn', payload: { messages, checkpoint: true } });
      }
      await addEvents(events); // K58: both or none
      reach.compacted();
      marks = copyDeep(applied.snapshot.trigger);
      if (visible) shownBy?.markStored(visible);
    });
    if (recording && recording === manual) manual = undefined;
  }

  function describeCompaction(applied: CompactionCommit<unknown>, recording: ManualRecording | undefined): CompactionPayload {
    const { compactionId, trigger, snapshot } = applied;
    const looked = reach.select(log.events, applied.seen, recording?.coversSeq);
    const recorded = Math.min(recording?.coversSeq ?? 0, looked.at(-1)?.seq ?? 0);
    return {
      ...retainOutputs(readCompaction(applied), retainOutput),
      coversSeq: Math.max(recorded, coveredSeq(looked, applied)),
      compactionId,
      trigger,
      status: trigger === 'manual' ? 'Context compacted.' : '',
      transcript: recording && retainOutputs({ messages: recording.recorder.messages() }, retainOutput).messages,
      snapshot: storedState(snapshot),
    };
  }

  return {
    id,
    recorder,
    commit,
    appendTurn,
    get events() {
      return copyDeep([...log.stored]);
    },
    get damage() {
      return copyDeep([...log.damage]);
    },
    get messages() {
      return copyDeep(projectedMessages(project(log.events)));
    },
    get transcript() {
      return copyDeep(transcribe(log.events));
    },
    appendUser(message) {
      const payload = { message: copyDeep(message) };
      return log.inOrder(() => addEvents([{ kind: 'user_message', payload }]));
    },
    recordManual({ onText, onRestart, onDenied, recorder: shown = createTurnRecorder() } = {}) {
      const recording: ManualRecording = { recorder: shown, coversSeq: undefined };
      manual = recording;
      const findPlace = log.inOrder(async () => {
        recording.coversSeq = lastSeq(log);
      });
      void findPlace.catch(() => undefined); // then it is found when the compaction is stored
      return {
        onText(text) {
          shown.onText(text);
          onText?.(text);
        },
        onRestart() {
          shown.onRestart();
          onRestart?.();
        },
        onDenied(calls) {
          for (const call of calls) {
            shown.onToolStart(call);
            shown.onToolEnd({ id: call.id, status: 'error', output: toolDenial });
          }
          onDenied?.(calls);
        },
      };
    },
    restore<Shape, Item, Reply, Request extends Shape>(adapter: ProviderAdapter<Shape, Item, Reply>, request: Request) {
      const own: ProviderAdapter<Request, Item, Reply> = adapter;
      const restored = restoreConversation(own, request, project(log.events));
      marks = restored.snapshot?.trigger ?? {};
      reach.begin(lastSeq(log));
      // A commit comes from a loop over items of this shape.
      readCompaction = ({ items }) => readTurn(own, items as Item[]);
      return restored;
    },
    reload: () => log.inOrder(log.load),
  };
}

function lastSeq({ stored }: EventLog): number {
  return stored.at(-1)?.seq ?? 0;
}

/** Without what holds for one loop alone: here a replacement is the beginning of the conversation, and a restored one is counted anew. */
function storedState(snapshot: ConversationSnapshot): ConversationSnapshot {
  return { ...snapshot, overlay: undefined, seen: undefined };
}

function isCommitted({ events }: EventLog, compactionId: string): boolean {
  return events.some((event) => event.kind === 'compaction_applied' && event.payload.compactionId === compactionId);
}

/** Standing instructions come with each request: none are stored. */
function withoutStanding({ messages, native }: StoredMessages): StoredMessages {
  const said = messages.filter((message) => !isStanding([message]));
  return said.length === messages.length ? { messages, native } : { messages: said };
}

function movedMarks(before: Marks, after: Marks): MarkName[] | undefined {
  const moved = (['attempt', 'reportedAt'] as const).filter((name) => !isSame(before[name], after[name]));
  return moved.length > 0 ? moved : undefined;
}

function isSame(left: Mark | undefined, right: Mark | undefined): boolean {
  return left?.count === right?.count && left?.hash === right?.hash;
}

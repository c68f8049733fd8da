import type { ProviderAdapter } from '../adapters/adapter.ts';
import { copyDeep } from '../copy.ts';
import type { CompactionCommit } from '../options.ts';
import { checkSessionOptions } from './check-options.ts';
import { writeCompaction } from './compaction-payload.ts';
import type { NewEvent, StoredMessages, Turn } from './event.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import { type ManualRecording, recordCompaction } from './manual-recording.ts';
import { readTurn, withoutStanding } from './native-items.ts';
import { project, projectedMessages } from './projection.ts';
import { createReach } from './reach.ts';
import { type RecordedTurn, writeTurn } from './recorded-turn.ts';
import { restoreConversation } from './restore.ts';
import { retainOutputs } from './retain-output.ts';
import type { Session, SessionOptions } from './session.ts';
import { type Marks, movedMarks, storedState } from './stored-state.ts';
import { transcribe } from './transcript.ts';
import { createTurnRecorder } from './turn-recorder.ts';

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
  let readCompacted: ReadCompacted = ({ replacement, kept }) => ({ messages: [...replacement, ...kept] });
  const reach = createReach();

  await log.inOrder(async () => reach.begin(lastSeq(log)));

  async function addEvents(events: readonly NewEvent[], place?: number): Promise<void> {
    reach.add(await log.add(events), place);
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
      const events = reach.select(log.events, applied.seen, recording?.coversSeq);
      const payload = writeCompaction(applied, { compacted: readCompacted(applied), events, recording, retainOutput });
      const shownBy = applied.trigger === 'automatic' ? recorder : recording?.recorder;
      const visible = shownBy?.unstored;
      const checkpoint = visible && applied.trigger === 'automatic' ? checkpointOf(visible) : [];
      await addEvents([...checkpoint, { kind: 'compaction_applied', payload }]); // K58: both or none
      reach.compacted();
      marks = copyDeep(applied.snapshot.trigger);
      if (visible) shownBy?.markStored(visible);
    });
    if (recording && recording === manual) manual = undefined;
  }

  /** What is visible of the turn in whose middle it is. K49 */
  function checkpointOf(visible: RecordedTurn): NewEvent[] {
    const messages = writeTurn(visible, log.stored.length);
    if (messages.length === 0) return [];
    return [{ kind: 'assistant_turn', payload: { ...retainOutputs({ messages }, retainOutput), checkpoint: true } }];
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
    recordManual(view = {}) {
      const recording = recordCompaction(view);
      manual = recording;
      const findPlace = log.inOrder(async () => {
        recording.coversSeq = lastSeq(log);
      });
      void findPlace.catch(() => undefined); // then it is found when the compaction is stored
      return recording.callbacks;
    },
    restore<Shape, Item, Reply, Request extends Shape>(adapter: ProviderAdapter<Shape, Item, Reply>, request: Request) {
      const own: ProviderAdapter<Request, Item, Reply> = adapter;
      const restored = restoreConversation(own, request, project(log.events));
      marks = restored.snapshot?.trigger ?? {};
      reach.begin(lastSeq(log));
      // A commit comes from a loop over items of this shape.
      readCompacted = ({ items }) => readTurn(own, items as Item[]);
      return restored;
    },
    reload: () => log.inOrder(log.load),
  };
}

function lastSeq({ stored }: EventLog): number {
  return stored.at(-1)?.seq ?? 0;
}

function isCommitted({ events }: EventLog, compactionId: string): boolean {
  return events.some((event) => event.kind === 'compaction_applied' && event.payload.compactionId === compactionId);
}

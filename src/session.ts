/**
 * Durable sessions: events behind a small store interface, the conversation of the model and the transcript of the user made from them, and
 * what an application needs around the loop. Node only.
 *
 * @packageDocumentation
 */
export { createSession } from './session/create-session.ts';
export type {
  CompactionPayload,
  MarkName,
  NativeItem,
  SessionEvent,
  SessionPayloads,
  StoredMessages,
  Turn,
  TurnPayload,
} from './session/event.ts';
export { type HeadlessResult, type HeadlessTask, runHeadless } from './session/headless.ts';
export { createInputQueue, type InputQueue } from './session/input-queue.ts';
export type { ManualCallbacks, ManualView } from './session/manual-recording.ts';
export { readTurn } from './session/native-items.ts';
export { type RecordedTurn, type ToolActivity, writeTurn } from './session/recorded-turn.ts';
export type { RestoredConversation } from './session/restore.ts';
export type { RetainOutput, ReturnedCall } from './session/retain-output.ts';
export type { Session, SessionOptions } from './session/session.ts';
export type { LoadedSession, SessionStore, StoreDamage, StoredEvent } from './session/store.ts';
export { type JsonlStore, type JsonlStoreOptions, jsonlStore } from './session/stores/jsonl-store.ts';
export { memoryStore } from './session/stores/memory-store.ts';
export {
  type PostgresPool,
  type PostgresStore,
  type PostgresStoreOptions,
  postgresStore,
} from './session/stores/postgres-store.ts';
export type { TranscriptEntry } from './session/transcript.ts';
export { createTurnRecorder, type EndedCall, type StartedCall, type TurnRecorder } from './session/turn-recorder.ts';

import { copyDeep } from '../copy.ts';
import type { Message, ToolResultPart } from '../message.ts';
import { type RecordedTurn, type ToolActivity, writeTurn } from './recorded-turn.ts';

/** A call that begins, as it is shown. */
export interface StartedCall {
  id: string;
  name: string;
  input: unknown;
}

/** What came of a call. */
export interface EndedCall {
  id: string;
  /** Default `success`. */
  status?: 'success' | 'error' | undefined;
  exitCode?: number | undefined;
  /** What the tool returned. Where it is absent, status and exit code stand for it. */
  output?: string | ToolResultPart['content'] | undefined;
}

/** Keeps what a user has seen of a turn: text as it streams, and what tools did, with the place in the text where they did it. */
export interface TurnRecorder {
  /** Begins a turn: what was recorded before is gone. */
  start(): void;
  onText(text: string): void;
  onToolStart(call: StartedCall): void;
  onToolEnd(call: EndedCall): void;
  /** The request is tried again: text since the last tool, or since what was stored, is void. K44 */
  onRestart(): void;
  /** Ends the turn: what still comes is no part of it. K51 */
  end(): void;
  /** The text of the whole turn: what a compaction made a checkpoint of, then the rest, with nothing between them. K53 */
  readonly text: string;
  /** What tools did in the whole turn. Copies. */
  readonly activities: ToolActivity[];
  /** What is visible and not stored yet. A copy. */
  readonly unstored: RecordedTurn;
  /** The same as messages. `index` tells ids that are made for calls without one from those of other turns. */
  messages(index?: number): Message[];
  /** Takes what `unstored` gave as stored: it is not stored, nor shown, a second time. */
  markStored(recorded: RecordedTurn): void;
}

/**
 * Records what a turn shows. A session makes a checkpoint of it when a compaction is applied in the middle of a turn.
 *
 * @example
 * const recorder = createTurnRecorder();
 * recorder.onText('Reading. ');
 * recorder.onToolStart({ id: 'call_1', name: 'read', input: { path: 'a.ts' } });
 * recorder.onToolEnd({ id: 'call_1', output: 'export {};' });
 * recorder.onText('Done.');
 * recorder.text; // 'Reading. Done.'
 * recorder.messages().map(({ role }) => role); // ['assistant', 'tool', 'assistant']
 */
export function createTurnRecorder(): TurnRecorder {
  let active = true;
  let text = '';
  let activities: ToolActivity[] = [];
  let stored = { length: 0, activities: 0 };
  /** Where what was given away ends. Of an earlier turn nothing is known. */
  let ends = new WeakMap<RecordedTurn, typeof stored>();

  function unstored(): RecordedTurn {
    const recorded = {
      text: text.slice(stored.length),
      activities: copyDeep(activities.slice(stored.activities)).map((activity) => ({
        ...activity,
        textOffset: activity.textOffset - stored.length,
      })),
    };
    ends.set(recorded, { length: text.length, activities: activities.length });
    return recorded;
  }

  return {
    start() {
      active = true;
      text = '';
      activities = [];
      stored = { length: 0, activities: 0 };
      ends = new WeakMap();
    },
    onText(more) {
      if (active) text += more;
    },
    onToolStart({ id, name, input }) {
      if (active) activities.push({ id, tool: name, input: copyDeep(input), textOffset: text.length });
    },
    onToolEnd({ id, status = 'success', exitCode, output }) {
      const activity = activities.find((candidate) => candidate.id === id && candidate.status === undefined);
      if (!active || !activity) return;
      Object.assign(activity, { status, exitCode, output: copyDeep(output) });
    },
    onRestart() {
      if (active) text = text.slice(0, Math.max(stored.length, activities.at(-1)?.textOffset ?? 0));
    },
    end() {
      active = false;
    },
    get text() {
      return text;
    },
    get activities() {
      return copyDeep(activities);
    },
    get unstored() {
      return unstored();
    },
    messages: (index) => writeTurn(unstored(), index),
    markStored(recorded) {
      const end = ends.get(recorded);
      if (!end) return;
      stored = {
        length: Math.max(stored.length, Math.min(text.length, end.length)),
        activities: Math.max(stored.activities, end.activities),
      };
    },
  };
}

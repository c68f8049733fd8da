import { type CompactionEvent, isCompactionError } from 'context-compactor';
import { createInputQueue } from 'context-compactor/session';
import { commandHelp, readCommand } from './commands.ts';
import type { Conversation } from './conversation.ts';
import { describeError } from './describe-error.ts';
import { describeSize } from './meter.ts';
import { describeCall } from './show-transcript.ts';
import type { ChatControls, ChatStatus, ChatView } from './view.ts';

/** A chat under way. */
export interface Chat extends ChatControls {
  onEvent(event: CompactionEvent): void;
  /** Shows how things stand. */
  refresh(): void;
  /** Fulfilled with the exit code when it is over. */
  readonly ended: Promise<number>;
  readonly isOver: boolean;
}

/** What the user asked for and what came of it, in a conversation that may compact itself at any time. */
export function createChat(conversation: Conversation, view: ChatView, listSessions: () => Promise<string[]>): Chat {
  const { id } = conversation.session;
  const queue = createInputQueue(take);
  let activity: ChatStatus['activity'] = 'idle';
  let isManual = false;
  let turn: AbortController | undefined;
  let finish: (code: number) => void = () => undefined;
  let isOver = false;
  const ended = new Promise<number>((resolve) => {
    finish = (code) => {
      isOver = true;
      resolve(code);
    };
  });

  function refresh(next = activity): void {
    activity = next;
    view.show({ activity, waiting: queue.waiting.length, meter: describeSize(conversation.size) });
  }

  async function take(line: string): Promise<void> {
    if (isOver) return;
    const command = readCommand(line);
    if (command.name === 'ask') await ask(command.text);
    else if (command.name === 'compact') await compact(command.focus);
    else if (command.name === 'sessions') await showSessions();
    else if (command.name === 'help') for (const text of commandHelp) view.line(text);
    else if (command.name === 'quit') finish(0);
    else if (command.name === 'unknown') view.line(`There is no ${command.text}. /help lists the commands.`, 'warning');
  }

  async function ask(text: string): Promise<void> {
    turn = new AbortController();
    const { signal } = turn;
    refresh('working');
    try {
      const ending = await conversation.ask(
        text,
        { onText: view.write, onTool: (call) => view.line(describeCall(call), 'quiet') },
        signal,
      );
      if (ending !== 'stop') view.line(`(The reply did not end normally: ${ending}.)`, 'warning');
    } catch (error) {
      if (signal.aborted && !isStoreError(error)) view.line('Stopped.', 'warning');
      else fail('The turn failed', error);
    }
    turn = undefined;
    refresh('idle');
  }

  async function compact(focus: string | undefined): Promise<void> {
    isManual = true;
    refresh('compacting');
    try {
      // K26: what the user asked for is seen while it is written.
      await conversation.compact(focus, { onText: view.write, onRestart: () => view.line('(once more)', 'quiet') });
      view.line('Context compacted.', 'good');
    } catch (error) {
      if (isCompactionError(error) && error.code === 'cancelled') view.line('Compaction cancelled.', 'warning');
      else fail('Compaction failed', error);
    }
    isManual = false;
    refresh('idle');
  }

  async function showSessions(): Promise<void> {
    // One in which nothing was said is not stored yet.
    const names = new Set([...(await listSessions()), id]);
    for (const name of [...names].sort()) view.line(name === id ? `${name} (this one)` : name);
  }

  function fail(what: string, error: unknown): void {
    view.line(`${what}: ${describeError(error)}`, 'error');
    if (!isStoreError(error)) return;
    // What is not stored would be missing when the session is resumed: the chat does not go on as if it were.
    if (isInUse(error))
      view.line(`Session "${id}" is in use by another process. Close that one, or take another --session.`, 'error');
    finish(1);
  }

  return {
    ended,
    get isOver() {
      return isOver;
    },
    refresh,
    submit(line) {
      if (isManual && readCommand(line).name === 'compact') conversation.cancelCompaction(); // K24
      const taken = queue.submit(line);
      if (activity !== 'idle') refresh();
      return taken;
    },
    // K47: nothing but the compaction.
    cancel: () => conversation.cancelCompaction(),
    interrupt() {
      if (turn) turn.abort();
      else if (!isManual) finish(0); // K29: a compaction that was asked for is cancelled by Esc alone
    },
    end() {
      if (isManual) return; // K29
      if (turn) view.line('The chat ends when this is answered.', 'quiet');
      void queue.during(async () => finish(0));
    },
    onEvent(event) {
      const { type } = event;
      // K50: one that came to nothing is not spoken of.
      if (type === 'auto_compaction_started') return refresh('compacting');
      if (type === 'notice') return;
      if (type === 'auto_compaction_applied') view.line('Context compacted automatically.', 'good');
      if ('omitted' in event && event.omitted)
        view.line(`(The summary was made without ${event.omitted.tokens} tokens, for lack of room.)`, 'warning');
      refresh('working');
    },
  };
}

/** True where the session could not be stored, also where that is why a compaction failed. */
function isStoreError(error: unknown): boolean {
  return isCompactionError(error) && (error.code.startsWith('store-') || isStoreError(error.cause));
}

/** True where another process writes to the session, or has written to it. */
function isInUse(error: unknown): boolean {
  if (!isCompactionError(error)) return false;
  return error.code === 'store-locked' || error.code === 'store-conflict' || isInUse(error.cause);
}

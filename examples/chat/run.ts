import { createInterface } from 'node:readline';
import { type JsonlStore, jsonlStore } from 'context-compactor/session';
import { openConversation } from './conversation.ts';
import { runDemonstration } from './demonstration.ts';
import { describeError } from './describe-error.ts';
import { formatReport, type HeadlessReport, runHeadlessTask } from './headless.ts';
import { openModel } from './model.ts';
import { type ChatOptions, usage } from './options.ts';
import { runPipedChat } from './piped-chat.ts';
import { createPlainOutput } from './plain-output.ts';
import { listSessions } from './sessions.ts';
import { startChat } from './start-chat.ts';
import { openTerminal } from './terminal.ts';

const { stdin, stdout } = process;

/** Milliseconds between two pieces of the scripted model's replies, where somebody watches. */
const livelyPace = 12;

/** Runs the chat as the options and the terminal allow. Gives back the exit code. */
export async function run(options: ChatOptions): Promise<number> {
  const store = jsonlStore({ directory: options.directory });
  try {
    if (options.headless !== undefined) return await runTask(options, options.headless, store);
    if (stdin.isTTY && stdout.isTTY && process.env.TERM !== 'dumb') return await runInTerminal(options, store);
    return await runPiped(options, store);
  } finally {
    await store.close(); // other processes need not wait for the lock
  }
}

async function runTask(options: ChatOptions, task: string, store: JsonlStore): Promise<number> {
  const turn = new AbortController();
  // Not `once`: where the lock of the session finds no listener but its own, it ends the process.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => turn.abort(new Error('The task was interrupted.')));
  let compactions = 0;
  const write = (report: HeadlessReport): void => void stdout.write(`${formatReport(report)}\n`);
  try {
    const conversation = await openConversation({
      model: openModel(options, 0),
      store,
      id: options.session,
      onEvent: ({ type }) => {
        if (type === 'auto_compaction_applied') compactions++;
      },
    });
    return await runHeadlessTask(task, conversation, { write, compactions: () => compactions, signal: turn.signal });
  } catch (error) {
    const usage = { inputTokens: 0, outputTokens: 0 };
    write({ text: '', tools: [], usage, compactions: 0, session: options.session, error: describeError(error) });
    return 1;
  }
}

async function runInTerminal(options: ChatOptions, store: JsonlStore): Promise<number> {
  const terminal = openTerminal(stdin, stdout);
  try {
    const chat = await startChat({ ...partsOf(options, store, livelyPace), view: terminal });
    terminal.listen(chat);
    const code = await chat.ended;
    if (code === 0) terminal.line(`Go on with --session ${options.session}`, 'quiet');
    return code;
  } finally {
    terminal.close();
  }
}

async function runPiped(options: ChatOptions, store: JsonlStore): Promise<number> {
  const view = createPlainOutput(stdout);
  const reader = createInterface({ input: stdin });
  const lines = reader[Symbol.asyncIterator]();
  // Somebody who types wants to see first what this is.
  const first = stdin.isTTY ? undefined : await lines.next();
  if (first?.done) {
    const code = await runDemonstration(view);
    view.line(`\nThis was a demonstration: no terminal, and no input.\n\n${usage}`);
    return code;
  }
  const chat = await startChat({ ...partsOf(options, store, 0), view });
  process.on('SIGINT', chat.interrupt);
  void chat.ended.then(() => reader.close());
  return runPipedChat(chat, view, first ? joinFirst(first.value, lines) : lines);
}

async function* joinFirst(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

function partsOf(options: ChatOptions, store: JsonlStore, pace: number) {
  return {
    model: openModel(options, pace),
    store,
    id: options.session,
    listSessions: () => listSessions(options.directory),
  };
}

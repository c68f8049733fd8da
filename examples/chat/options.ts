import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** What the command line says. */
export interface ChatOptions {
  help: boolean;
  /** The one task of a run without a user interface. */
  headless: string | undefined;
  /** Name of the session; it is the name of its file, too. */
  session: string;
  /** Where the sessions are. */
  directory: string;
  model: string | undefined;
  /** In tokens. */
  contextWindow: number | undefined;
}

export const usage = `Usage: npx tsx examples/chat.ts [options]

  --session NAME     begin or resume this session (a-z, 0-9, - and _)
  --directory PATH   folder of the sessions (default ~/.context-compactor/chat)
  --headless "TASK"  run one task, print one JSON object, exit with 0 or 1
  --model NAME       model of OpenAI (default gpt-4.1-mini)
  --window TOKENS    context window (default 12000 offline, 1047576 with OpenAI)
  --help             show this

Without OPENAI_API_KEY in the environment a scripted model answers: no key, no network.`;

/**
 * @throws Error that says in one sentence what is wrong.
 */
export function readOptions(args: string[]): ChatOptions {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', default: false },
      headless: { type: 'string' },
      session: { type: 'string', default: `chat-${randomUUID().slice(0, 8)}` },
      directory: { type: 'string', default: join(homedir(), '.context-compactor', 'chat') },
      model: { type: 'string' },
      window: { type: 'string' },
    },
  });
  const { help, headless, session, directory, model } = values;
  // So the name of the file tells the name of the session.
  if (!/^[a-z0-9_-]{1,60}$/.test(session))
    throw new Error(`Expected --session to be 1 to 60 of the characters a-z, 0-9, - and _, got ${JSON.stringify(session)}.`);
  if (headless?.trim() === '') throw new Error('Expected --headless to be a task, got a blank text.');
  return { help, headless, session, directory, model, contextWindow: readTokens(values.window) };
}

function readTokens(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const tokens = Number(text);
  if (!Number.isSafeInteger(tokens) || tokens < 1)
    throw new Error(`Expected --window to be a whole number of tokens over 0, got ${JSON.stringify(text)}.`);
  return tokens;
}

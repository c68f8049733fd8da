import { type ChildProcess, spawn } from 'node:child_process';
import { chatCommand, chatPlace } from './chat-terminal.ts';

export interface ChatOutcome {
  code: number | null;
  output: string;
  errors: string;
}

export interface ChatRun {
  input?: string;
  env?: NodeJS.ProcessEnv;
  /** Whoever reads its output goes away at once. */
  unread?: boolean;
  /** Is given the process when it has started. */
  onStart?: (child: ChildProcess) => void;
}

/** Runs the chat without a terminal. */
export function runChat(
  args: readonly string[],
  { input = '', env = {}, unread = false, onStart = () => undefined }: ChatRun = {},
): Promise<ChatOutcome> {
  const child = spawn(process.execPath, [...chatCommand, ...args], { ...chatPlace, env: { ...chatPlace.env, ...env } });
  let output = '';
  let errors = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  if (unread) child.stdout.destroy();
  child.stdin.end(input);
  onStart(child);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, output, errors }));
  });
}

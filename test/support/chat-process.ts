import { spawn } from 'node:child_process';
import { chatCommand, chatPlace } from './chat-terminal.ts';

export interface ChatOutcome {
  code: number | null;
  output: string;
  errors: string;
}

/** Runs the chat without a terminal. */
export function runChat(
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {},
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
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, output, errors }));
  });
}

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** How the chat is started, in a terminal or not. */
export const chatCommand = ['--import', 'tsx', 'examples/chat.ts'] as const;

const { OPENAI_API_KEY: _key, NO_COLOR: _colour, ...env } = process.env;

/** Where it runs: without a key of a provider. */
export const chatPlace: { cwd: string; env: NodeJS.ProcessEnv } = { cwd: root, env };

const longestWait = 50_000;

const keys = { enter: '\r', escape: '\x1b', interrupt: '\x03', end: '\x04', suspend: '\x1a', up: '\x1b[A' } as const;

export interface ChatTerminalOptions {
  columns?: number;
  /** Of the environment. */
  env?: NodeJS.ProcessEnv;
  /** What kind of terminal it says it is. */
  name?: string;
}

/** The chat in a terminal of its own, and somebody who types and reads. */
export class ChatTerminal {
  readonly #pty: IPty;
  readonly #changed = new EventTarget();
  #raw = '';
  #read = 0;
  readonly ended: Promise<number>;

  constructor(args: readonly string[], { columns = 400, env: more = {}, name = 'xterm-256color' }: ChatTerminalOptions = {}) {
    this.#pty = spawn(process.execPath, [...chatCommand, ...args], {
      ...chatPlace,
      env: { ...chatPlace.env, ...more },
      name,
      cols: columns,
      rows: 40,
    });
    this.#pty.onData((data) => {
      this.#raw += data;
      this.#changed.dispatchEvent(new Event('data'));
    });
    this.ended = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode }) => resolve(exitCode));
    });
  }

  /** Everything that was ever shown, without colours. */
  get output(): string {
    return stripVTControlCharacters(this.#raw).replaceAll('\r', '');
  }

  /** Everything as the terminal got it. */
  get raw(): string {
    return this.#raw;
  }

  press(key: keyof typeof keys): void {
    this.#pty.write(keys[key]);
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** As terminals do where they were asked to mark it. */
  paste(text: string): void {
    this.#pty.write(`\x1b[200~${text}\x1b[201~`);
  }

  resize(columns: number): void {
    this.#pty.resize(columns, 40);
  }

  signal(name: 'SIGCONT'): void {
    process.kill(this.#pty.pid, name);
  }

  /** Types a line and sends it. */
  say(line: string): void {
    this.#pty.write(`${line}${keys.enter}`);
  }

  /** Reads on until this is shown, and returns what was shown up to its end. */
  async sees(expected: string | RegExp): Promise<string> {
    const deadline = AbortSignal.timeout(longestWait);
    for (;;) {
      const unread = this.output.slice(this.#read);
      const found = typeof expected === 'string' ? unread.indexOf(expected) : unread.search(expected);
      if (found !== -1) {
        const [text = ''] = typeof expected === 'string' ? [expected] : (expected.exec(unread) ?? []);
        const end = found + text.length;
        this.#read += end;
        return unread.slice(0, end);
      }
      await once(this.#changed, 'data', { signal: deadline }).catch(() => {
        throw new Error(`Expected to see ${expected}, but saw:\n${unread}`);
      });
    }
  }

  /** The meter that is shown next: tokens, window, percent. */
  async meter(): Promise<{ tokens: number; contextWindow: number; percent: number }> {
    const seen = await this.sees(/[\d,]+ \/ [\d,]+ tokens, \d+ %/);
    const [percent = 0, contextWindow = 0, tokens = 0] = [...seen.replaceAll(',', '').matchAll(/\d+/g)].map(Number).reverse();
    return { tokens, contextWindow, percent };
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.#pty.kill('SIGKILL');
    await this.ended;
  }
}

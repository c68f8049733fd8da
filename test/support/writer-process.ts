import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Another process that writes to a session of a folder. */
export interface WriterProcess {
  process: ChildProcess;
  /** Tells it what to do. */
  tell(command: 'load' | 'close'): void;
  /** Lets it append so many events: how many it stored, and what it was refused with. */
  write(count: number): Promise<string>;
  end(): void;
}

export function startWriter(script: string, directory: string, name: string): WriterProcess {
  const child = spawn(process.execPath, [script, directory, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const tell = (command: string): void => {
    child.stdin.write(`${command}\n`);
  };
  return {
    process: child,
    tell,
    write: async (count) => {
      tell(`write ${count}`);
      const answer = await answers.next();
      return answer.done ? 'ended' : answer.value;
    },
    end: () => {
      child.kill('SIGKILL');
    },
  };
}

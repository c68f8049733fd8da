import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChatTerminal } from '../support/chat-terminal.ts';

let directory: string;
let terminals: ChatTerminal[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'chat-'));
  terminals = [];
});

afterEach(async () => {
  await Promise.all(terminals.map((terminal) => terminal.kill().catch(() => undefined)));
  rmSync(directory, { recursive: true, force: true });
});

/** A terminal whose prompt is there. */
async function open(...more: string[]): Promise<ChatTerminal> {
  const terminal = new ChatTerminal(['--session', 'main', '--directory', directory, ...more]);
  terminals.push(terminal);
  await terminal.sees('/help lists the commands.');
  return terminal;
}

function storedKinds(): string[] {
  const lines = readFileSync(join(directory, 'main.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => /"kind":"(\w+)"/.exec(line)?.[1] ?? line);
}

/** Nearly as much as the window holds. */
async function fillWindow(terminal: ChatTerminal): Promise<void> {
  for (let round = 0; round < 3; round++) {
    terminal.say('Read 4 pages of the log.');
    await terminal.sees('I have read 4 more pages');
    await terminal.sees(' tokens, ');
  }
}

describe('automatic compaction', () => {
  it('is told in one line, without its text, and the turn goes on', async () => {
    const terminal = await open();
    await fillWindow(terminal);
    terminal.say('Now read 4 pages more.');
    await terminal.sees('Compacting...');
    await terminal.sees('Context compacted automatically.');
    await terminal.sees('You asked: “Now read 4 pages more.”');
    const { percent } = await terminal.meter();
    expect(percent).toBeLessThan(60);
    expect(terminal.output).not.toContain('## Goal');
    expect(storedKinds()).toContain('compaction_applied');
  });

  it('K47: Esc cancels it alone, and the turn goes on', async () => {
    const terminal = await open();
    await fillWindow(terminal);
    terminal.say('Read 2 pages more, and summarize slowly.');
    await terminal.sees('Compacting...');
    terminal.press('escape');
    await terminal.sees('I have read 2 more pages');
    await terminal.sees(' tokens, ');
    expect(terminal.output).not.toContain('compacted automatically');
    expect(storedKinds()).not.toContain('compaction_applied');
  });

  it('K47: Ctrl+C during it stops the turn, and the chat goes on', async () => {
    const terminal = await open();
    await fillWindow(terminal);
    terminal.say('Read 4 pages more, and summarize slowly.');
    await terminal.sees('Compacting...');
    terminal.press('interrupt');
    await terminal.sees('Stopped.');
    terminal.say('Hello.');
    await terminal.sees('Before that you said: “Read 4 pages more, and summarize slowly.”');
  });
});

describe('/compact', () => {
  it('K26: shows the summary while it is written, then makes room', async () => {
    const terminal = await open();
    await fillWindow(terminal);
    terminal.say('/compact the error of request 150');
    await terminal.sees('Compacting...');
    await terminal.sees('## Goal');
    await terminal.sees('Context compacted.');
    const { percent } = await terminal.meter();
    expect(percent).toBeLessThan(20);
    expect(storedKinds().at(-1)).toBe('compaction_applied');
  });

  it('K29: Esc cancels it, nothing has changed, and input that came meanwhile is answered', async () => {
    const terminal = await open();
    await fillWindow(terminal);
    terminal.say('/compact summarize slowly');
    await terminal.sees('Compacting...');
    terminal.press('interrupt'); // swallowed
    terminal.say('What now?');
    await terminal.sees('1 waiting');
    terminal.press('escape');
    await terminal.sees('Compaction cancelled.');
    await terminal.sees('You asked: “What now?”');
    await terminal.sees('Before that you said: “Read 4 pages of the log.”');
    expect(storedKinds()).not.toContain('compaction_applied');
  });

  it('K29: input that came while it succeeded is answered behind the summary', async () => {
    const terminal = await open();
    await fillWindow(terminal);
    terminal.say('/compact\rWhat now?');
    await terminal.sees('Context compacted.');
    await terminal.sees('You asked: “What now?”');
    await terminal.meter();
    expect(storedKinds().slice(-3)).toEqual(['compaction_applied', 'user_message', 'assistant_turn']);
  });

  it('K24: cancels the one before it', async () => {
    const terminal = await open();
    await fillWindow(terminal);
    terminal.say('/compact summarize slowly');
    await terminal.sees('Compacting...');
    terminal.say('/compact');
    await terminal.sees('Compaction cancelled.');
    await terminal.sees('Context compacted.');
  });

  it('says why there is nothing to compact', async () => {
    const terminal = await open();
    terminal.say('/compact');
    await terminal.sees(/Compaction failed: .+/);
    terminal.say('Hello.');
    await terminal.sees('It is the first thing that you said.');
  });
});

describe('a turn', () => {
  it('is stopped by Ctrl+C, what was visible stays, and the chat goes on', async () => {
    const terminal = await open();
    terminal.say('Please answer slowly.');
    await terminal.sees('You asked:');
    terminal.press('interrupt');
    await terminal.sees('Stopped.');
    terminal.say('Hello.');
    await terminal.sees('Before that you said: “Please answer slowly.”');
    await terminal.meter();
    expect(storedKinds()).toEqual(['session_started', 'user_message', 'assistant_turn', 'user_message', 'assistant_turn']);
    expect(readFileSync(join(directory, 'main.jsonl'), 'utf8')).toContain('"interrupted":true');
  });

  it('takes input that was typed meanwhile when it is over', async () => {
    const terminal = await open();
    terminal.say('Please answer slowly.');
    await terminal.sees('You asked:');
    terminal.say('Second.');
    await terminal.sees('1 waiting');
    terminal.press('interrupt');
    await terminal.sees('You asked: “Second.”');
  });
});

describe('a session', () => {
  it('goes on after kill -9, with the same meter', async () => {
    const first = await open();
    first.say('Read 4 pages of the log.');
    await first.sees('I have read 4 more pages');
    const before = await first.meter();
    await first.kill();

    const second = await open();
    expect(second.output).toContain('Resumed session main');
    expect(await second.meter()).toEqual(before);
    second.say('And now?');
    await second.sees('Before that you said: “Read 4 pages of the log.”');
  });

  it('keeps what was said before a kill -9 in the middle of a turn', async () => {
    const first = await open();
    first.say('Please answer slowly.');
    await first.sees('You asked:');
    await first.kill();

    const second = await open();
    await second.sees('> Please answer slowly.');
    second.say('And now?');
    await second.sees('Before that you said: “Please answer slowly.”');
  });

  it('goes on from a compaction after kill -9', async () => {
    const first = await open();
    await fillWindow(first);
    first.say('/compact');
    await first.sees('Context compacted.');
    const before = await first.meter();
    await first.kill();

    const second = await open();
    await second.sees('## Goal');
    expect(await second.meter()).toEqual(before);
    second.say('Hello.');
    await second.sees('Before that you said: “## Goal');
  });

  it('is refused to a second process while the first one lives', async () => {
    const first = await open();
    first.say('Hello.');
    await first.sees('It is the first thing that you said.');
    const second = await open();
    second.say('Hello?');
    await second.sees('Session "main" is in use by another process');
    expect(await second.ended).toBe(1);
    first.say('Still here?');
    await first.sees('Before that you said: “Hello.”');
  });

  it('is listed by /sessions', async () => {
    const terminal = await open();
    terminal.say('Hello.');
    await terminal.meter();
    terminal.say('/sessions');
    await terminal.sees('main (this one)');
  });
});

describe('the meter', () => {
  it.each([
    [0.65, 'nothing'],
    [0.72, 'tokens, 72 % · /compact makes room'],
    [0.82, 'tokens, 82 % · the window is filling up: /compact makes room'],
    [0.96, 'tokens, 96 % · the window is almost full: /compact makes room'],
  ])('K30: at %d of the window it says %s', async (part, advice) => {
    const filled = await open('--window', '100000');
    filled.say('Read 4 pages of the log.');
    await filled.sees('I have read 4 more pages');
    const { tokens } = await filled.meter();
    filled.press('end');
    expect(await filled.ended).toBe(0);

    const terminal = await open('--window', String(Math.floor(tokens / (part + 0.005))));
    if (advice !== 'nothing') await terminal.sees(advice);
    else await terminal.meter();
    expect(terminal.output.includes('makes room')).toBe(advice !== 'nothing');
  });
});

describe('the end', () => {
  it.each(['interrupt', 'end'] as const)('comes at the prompt with %s', async (key) => {
    const terminal = await open();
    terminal.press(key);
    expect(await terminal.ended).toBe(0);
  });

  it('comes with /quit, after what was asked before', async () => {
    const terminal = await open();
    terminal.say('Hello.\r/quit');
    await terminal.sees('It is the first thing that you said.');
    await terminal.sees('Go on with --session main');
    expect(await terminal.ended).toBe(0);
  });
});

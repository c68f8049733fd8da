import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChatTerminal, type ChatTerminalOptions } from '../support/chat-terminal.ts';
import { sendEvents, startServer, type TestServer } from '../support/http-server.ts';

let directory: string;
let terminals: ChatTerminal[];
let server: TestServer | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'chat-'));
  terminals = [];
});

afterEach(async () => {
  await Promise.all(terminals.map((terminal) => terminal.kill().catch(() => undefined)));
  await server?.close();
  server = undefined;
  rmSync(directory, { recursive: true, force: true });
});

/** A terminal whose chat is about to start. */
function start(options?: ChatTerminalOptions): ChatTerminal {
  const terminal = new ChatTerminal(['--session', 'main', '--directory', directory], options);
  terminals.push(terminal);
  return terminal;
}

/** A terminal whose prompt is there. */
async function open(options?: ChatTerminalOptions): Promise<ChatTerminal> {
  const terminal = start(options);
  await terminal.sees('/help lists the commands.');
  await terminal.meter();
  return terminal;
}

function stored(): string {
  return readFileSync(join(directory, 'main.jsonl'), 'utf8');
}

describe('a pasted text', () => {
  it('is one input, whatever lines it has', async () => {
    const terminal = await open();
    terminal.paste('first\rsecond\r\n\tthird\n');
    await terminal.sees('first⏎second⏎  third⏎');
    terminal.press('enter');
    await terminal.sees('You asked: “first second   third”.');
    await terminal.meter();
    expect(stored()).toContain('first\\nsecond\\n  third"');
    expect(stored().match(/"user_message"/g)).toHaveLength(1);
  });

  it('is marked by the terminal, for as long as the chat runs', async () => {
    const terminal = await open();
    await expect.poll(() => terminal.raw, { timeout: 20_000 }).toContain('\x1b[?2004h');
    terminal.press('end');
    await expect.poll(() => terminal.raw, { timeout: 20_000 }).toContain('\x1b[?2004l');
  });

  it('presses no keys', async () => {
    const terminal = await open();
    terminal.paste('before\x03\x04\x1b[A\x9bafter');
    terminal.press('enter');
    await terminal.sees('You asked: “before[Aafter”.');
    expect(terminal.raw).not.toContain('\x9b');
  });

  it('comes back with the arrow keys', async () => {
    const terminal = await open();
    terminal.paste('first\rsecond');
    terminal.press('enter');
    await terminal.sees('You asked: “first second”.');
    await terminal.meter();
    terminal.press('up');
    await terminal.sees('first⏎second');
    terminal.say(' third');
    await terminal.sees('You asked: “first second third”.');
  });
});

describe('keys', () => {
  it('that are pressed while the chat starts are not lost', async () => {
    const terminal = start();
    terminal.say('Hello.');
    await terminal.sees('You asked: “Hello.”.');
  });

  it('Ctrl+C deletes what was typed, then ends the chat', async () => {
    const terminal = await open();
    terminal.type('No matter.');
    await terminal.sees('No matter.');
    terminal.press('interrupt');
    terminal.say('Hello.');
    await terminal.sees('You asked: “Hello.”.');
    await terminal.meter();
    terminal.press('interrupt');
    expect(await terminal.ended).toBe(0);
  });

  it('Ctrl+D in a turn ends the chat after it, and Ctrl+C still stops the turn', async () => {
    const terminal = await open();
    terminal.say('Please answer slowly.');
    await terminal.sees('You asked:');
    terminal.press('end');
    await terminal.sees('The chat ends when this is answered.');
    terminal.press('interrupt');
    await terminal.sees('Stopped.');
    expect(await terminal.ended).toBe(0);
    expect(stored()).toContain('"interrupted":true');
  });

  it('K29: Ctrl+D does nothing while /compact runs', async () => {
    const terminal = await open();
    terminal.say('Read 4 pages of the log.');
    await terminal.sees('I have read 4 more pages');
    await terminal.meter();
    terminal.say('/compact summarize slowly');
    await terminal.sees('## Goal');
    terminal.press('end');
    terminal.press('escape');
    await terminal.sees('Compaction cancelled.');
    terminal.say('Hello.');
    await terminal.sees('You asked: “Hello.”.');
  });
});

describe('a terminal', () => {
  it('may be left with Ctrl+Z and taken up again', async () => {
    const terminal = await open();
    terminal.press('suspend');
    // Pasted text is marked again: the shell has switched that off.
    while (terminal.raw.split('\x1b[?2004h').length < 3) {
      terminal.signal('SIGCONT'); // counts only after the key was read
      await delay(100);
    }
    terminal.say('Hello.');
    await terminal.sees('You asked: “Hello.”.');
  });

  it('that becomes narrow is drawn anew from the first row of what was there', async () => {
    const terminal = await open({ columns: 90 });
    terminal.type('x'.repeat(80));
    await terminal.sees('x'.repeat(80));
    const { length } = terminal.raw;
    terminal.resize(40);
    await terminal.meter();
    expect(terminal.raw.slice(length)).toContain('\x1b[?2026h\x1b[3A'); // the meter, and two rows of input before the cursor's
  });

  it('may be very narrow', async () => {
    const terminal = start({ columns: 12 });
    await terminal.sees('A scripted\nmodel');
  });

  it('without a cursor that moves gets plain lines', async () => {
    const terminal = await open({ name: 'dumb' });
    terminal.say('Hello.');
    await terminal.sees('You asked: “Hello.”.');
    await terminal.meter();
    expect(terminal.raw).not.toContain('\x1b');
    terminal.press('interrupt');
    expect(await terminal.ended).toBe(0);
  });

  it('gets no control characters of a model, in its text or in its calls', async () => {
    server = await startServer((body, response) => {
      const { length } = (body as { messages: unknown[] }).messages;
      const call = {
        id: '0',
        index: 0,
        type: 'function',
        function: { name: 'x\x1b]0;evil\x07', arguments: '{"path":"\x9b2J"}' },
      };
      const delta = length > 2 ? { content: 'Do\x1b]0;evil\x07ne\x9b2J.' } : { tool_calls: [call] };
      const choices = [{ index: 0, delta, finish_reason: length > 2 ? 'stop' : 'tool_calls' }];
      sendEvents(response, [{ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices }, '[DONE]']);
      response.end();
    });
    const terminal = await open({ env: { OPENAI_API_KEY: 'test-key', OPENAI_BASE_URL: server.url } });
    terminal.say('Go.');
    await terminal.sees('· x]0;evil {"path":"2J"}');
    await terminal.sees('Do]0;evilne2J.');
    for (const control of ['\x1b]', '\x07', '\x9b']) expect(terminal.raw).not.toContain(control);
  });
});

it('/sessions names this one before anything is stored', async () => {
  const terminal = await open();
  terminal.say('/sessions');
  await terminal.sees('main (this one)');
});

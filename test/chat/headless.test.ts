import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChatOutcome, runChat } from '../support/chat-process.ts';
import { sendEvents, sendJson, startServer, type TestServer } from '../support/http-server.ts';

let directory: string;
let server: TestServer | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'chat-'));
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const place = () => ['--session', 'task', '--directory', directory];

/** Chunks as OpenAI sends them. */
function chunk(delta: object, finish: string | null = null): object {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

function keyFor({ url }: TestServer): NodeJS.ProcessEnv {
  return { OPENAI_API_KEY: 'test-key', OPENAI_BASE_URL: url };
}

/** The one object on stdout. */
function reportOf({ output }: ChatOutcome): Record<string, unknown> {
  expect(output.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(output);
}

describe('--headless', () => {
  it('K53: prints one object with all that was said, before compactions and after', async () => {
    const outcome = await runChat([...place(), '--window', '8000', '--headless', 'Read 12 pages of the log.']);
    expect(outcome.code).toBe(0);
    expect(outcome.errors).toBe('');
    const report = reportOf(outcome);
    expect(Object.keys(report)).toEqual(['text', 'tools', 'usage', 'compactions', 'session']);
    const pages = Array.from({ length: 12 }, (_, index) => index + 1);
    expect(report.text).toMatch(new RegExp(`^${pages.map((page) => `Reading page ${page}\\. `).join('')}You asked: `));
    expect(report.text).not.toContain('## Goal');
    expect(report.tools).toEqual(pages.map((page) => ({ name: 'read_log', input: { page }, status: 'success' })));
    expect(report.compactions).toBeGreaterThan(0);
    expect(report.usage).toEqual({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
    expect(report.session).toBe('task');
  });

  it('goes on with a session', async () => {
    await runChat([...place(), '--headless', 'Hello.']);
    const report = reportOf(await runChat([...place(), '--headless', 'And now?']));
    expect(report.text).toContain('Before that you said: “Hello.”');
  });

  it('K53: prints what was said until a failure, and the error, and exits with 1', async () => {
    server = await startServer((_body, response) => {
      sendEvents(response, [chunk({ role: 'assistant', content: 'Half of ' })]);
      response.end(); // without saying that it is finished
    });
    const outcome = await runChat([...place(), '--headless', 'Tell me.'], { env: keyFor(server) });
    expect(outcome.code).toBe(1);
    expect(reportOf(outcome)).toMatchObject({ text: 'Half of ', error: expect.stringContaining('finished') });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('prints what was said until %s, and exits with 1', async (signal) => {
    let child: ChildProcess | undefined;
    server = await startServer((body, response) => {
      const { length } = (body as { messages: unknown[] }).messages;
      if (length > 2) return child?.kill(signal); // it waits for the second reply
      const call = { id: '0', index: 0, type: 'function', function: { name: 'list_files', arguments: '{"path":"examples"}' } };
      sendEvents(response, [chunk({ content: 'Half of ' }), chunk({ tool_calls: [call] }, 'tool_calls'), '[DONE]']);
      response.end();
    });
    const outcome = await runChat([...place(), '--headless', 'Tell me.'], {
      env: keyFor(server),
      onStart: (started) => {
        child = started;
      },
    });
    expect(outcome.code).toBe(1);
    expect(reportOf(outcome)).toMatchObject({ text: 'Half of ', error: 'The task was interrupted.' });
  });

  it('prints no character that commands a terminal', async () => {
    const text = 'a\x1b]0;title\x07b\x9b2Jc\x7f';
    server = await startServer((_body, response) => {
      sendEvents(response, [chunk({ content: text }), chunk({}, 'stop'), '[DONE]']);
      response.end();
    });
    const outcome = await runChat([...place(), '--headless', 'Tell me.'], { env: keyFor(server) });
    expect(reportOf(outcome).text).toBe(text);
    expect(outcome.output.trimEnd()).not.toMatch(/\p{Cc}/u);
  });

  it('prints the error of a provider that refuses, and exits with 1', async () => {
    server = await startServer((_body, response) => sendJson(response, 400, { error: { message: 'No such model.' } }));
    const outcome = await runChat([...place(), '--headless', 'Tell me.', '--model', 'none'], { env: keyFor(server) });
    expect(outcome.code).toBe(1);
    expect(reportOf(outcome)).toMatchObject({ text: '', session: 'task', error: expect.stringContaining('No such model.') });
  });

  it('prints the error of a folder that cannot be used, and exits with 1', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const outcome = await runChat(['--session', 'task', '--directory', file, '--headless', 'Hello.']);
    expect(outcome.code).toBe(1);
    expect(reportOf(outcome)).toMatchObject({ text: '', error: expect.stringContaining('"task"') });
  });
});

describe('a real provider', () => {
  it('is asked through the official SDK, may look at files of the folder, and is told of tools that fail', async () => {
    server = await startServer((body, response) => {
      const { length } = (body as { messages: unknown[] }).messages;
      const call = (id: string, name: string, path: string) => ({
        id,
        index: Number(id),
        type: 'function',
        function: { name, arguments: JSON.stringify({ path }) },
      });
      const calls = [call('0', 'list_files', 'examples'), call('1', 'read_file', '../../etc/passwd'), call('2', 'delete', '.')];
      const events = length > 2 ? [chunk({ content: 'Done.' }), chunk({}, 'stop')] : [chunk({ tool_calls: calls }, 'tool_calls')];
      sendEvents(response, [...events, '[DONE]']);
      response.end();
    });
    const outcome = await runChat([...place(), '--headless', 'Look.', '--model', 'some-model'], { env: keyFor(server) });
    expect(reportOf(outcome)).toMatchObject({
      text: 'Done.',
      tools: [
        { name: 'list_files', status: 'success' },
        { name: 'read_file', status: 'error' },
        { name: 'delete', status: 'error' },
      ],
    });
    expect(server.bodies).toHaveLength(2);
    expect(server.bodies[1]).toMatchObject({
      model: 'some-model',
      messages: [
        { role: 'system' },
        { role: 'user', content: 'Look.' },
        { role: 'assistant' },
        { role: 'tool', content: expect.stringContaining('chat.ts') },
        { role: 'tool', content: expect.stringContaining('Error: ') },
        { role: 'tool', content: 'Error: There is no tool "delete".' },
      ],
    });
  });
});

describe('input from a pipe', () => {
  it('is answered line by line', async () => {
    const { code, output } = await runChat(place(), { input: 'Hello.\n/nonsense\nAnd now?\n/quit\nNever read.\n' });
    expect(code).toBe(0);
    expect(output).toContain('> Hello.\nYou asked: “Hello.”');
    expect(output).toContain('There is no /nonsense. /help lists the commands.');
    expect(output).toContain('Before that you said: “Hello.”');
    expect(output).not.toContain('Never read.');
  });

  it('is a demonstration where there is none', async () => {
    const { code, output } = await runChat(place());
    expect(code).toBe(0);
    expect(output).toContain('Context compacted automatically.');
    expect(output).toContain('Context compacted.');
    expect(output).toContain('Usage: ');
  });

  it('is refused in one line where the session cannot be read', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const { code, errors } = await runChat(['--session', 'task', '--directory', file], { input: 'Hello.\n' });
    expect(code).toBe(1);
    expect(errors.trimEnd().split('\n')).toEqual([expect.stringContaining('"task"')]);
  });

  it('moves no cursor, whatever a model says', async () => {
    server = await startServer((_body, response) => {
      sendEvents(response, [chunk({ content: 'a\x1b]0;title\x07\x1b[2Jb' }), chunk({}, 'stop'), '[DONE]']);
      response.end();
    });
    const { output } = await runChat(place(), { input: 'Hello.\n', env: keyFor(server) });
    expect(output).toContain('a]0;title[2Jb');
  });
});

describe('output that nobody reads', () => {
  it.each([
    ['a task', ['--headless', 'Hello.'], ''],
    ['the help', ['--help'], ''],
    ['a conversation', [], 'Nobody reads the output any more.\n'],
  ])('of %s is a failure in one line at most', async (_name, args, errors) => {
    const outcome = await runChat([...place(), ...args], { input: 'Hello.\nAnd now?\n', unread: true });
    expect(outcome).toEqual({ code: 1, output: '', errors });
  });
});

describe('the command line', () => {
  it.each([
    [['--session', 'Two Words'], 'Expected --session to be 1 to 60'],
    [['--window', 'large'], 'Expected --window to be a whole number'],
    [['--headless', ' '], 'Expected --headless to be a task'],
    [['--colour'], '--colour'],
  ])('%j is refused, on stderr alone', async (args, message) => {
    const { code, output, errors } = await runChat(args);
    expect(code).toBe(1);
    expect(output).toBe('');
    expect(errors).toContain(message);
    expect(errors).toContain('Usage: ');
  });
});

import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/message.ts';
import { readConversation } from '../../../src/summarize/extractive/conversation.ts';
import { listErrors } from '../../../src/summarize/extractive/errors-seen.ts';
import { tool } from './short-messages.ts';

const errors = (messages: Message[]) => listErrors(readConversation(messages)).map((entry) => entry.text);
const failed = (output: string) => errors(tool('bash', { command: 'run' }, output, true));

describe('listErrors', () => {
  it.each([
    ['Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: \'name\'', "KeyError: 'name'"],
    [
      'compiling\nsrc/a.ts(3,5): error TS2304: Cannot find name x.\nFound 1 error.',
      'src/a.ts(3,5): error TS2304: Cannot find name x.',
    ],
    ['error[E0308]: mismatched types\n --> src/main.rs:4:5', 'error[E0308]: mismatched types'],
    ['fatal: not a git repository\n', 'fatal: not a git repository'],
    ["ls: cannot access 'x': No such file or directory\n\nexit code: 2", "ls: cannot access 'x': No such file or directory"],
    ['ERROR:\nNo replacement was performed, the text was not found.', 'No replacement was performed, the text was not found.'],
    ['check a .... Passed\nsomething odd happened\ncheck b .... Passed', 'something odd happened'],
    ['\u001b[31mTypeError:\u001b[0m x is\tnot a function', 'TypeError: x is not a function'],
  ])('takes the line that says most from %j', (output, error) => {
    expect(failed(output)).toEqual([`Error [run] ${error}`]);
  });

  it('knows a failure by its exit code', () => {
    expect(errors(tool('bash', { command: 'run' }, 'boom happened\nProcess exited with code 3'))).toEqual([
      'Error [run] boom happened',
    ]);
    expect(errors(tool('bash', { command: 'run' }, 'all fine\n<returncode>0</returncode>'))).toEqual([]);
  });

  it('knows a plain error in a result that does not call itself one', () => {
    expect(errors(tool('bash', { command: 'run' }, 'start\nSyntaxError: Unexpected token'))).toEqual([
      'Error [run] SyntaxError: Unexpected token',
    ]);
  });

  it('takes no line of a shown file or of a search for an error', () => {
    const source = 'throw new Error("x")\nError: this is documentation\nexit code 1';
    expect(
      errors([
        ...tool('read', { path: 'a.md' }, source),
        ...tool('grep', { pattern: 'Error' }, source),
        ...tool('bash', { command: 'cat a.md' }, 'Error: an example'),
      ]),
    ).toEqual([]);
  });

  it('takes a search that finds nothing for no error, and a silent failure of a command for one', () => {
    expect(errors(tool('bash', { command: 'grep x a.ts' }, '(exit code 1)', true))).toEqual([]);
    expect(failed('')).toEqual(['Error [run] failed without a word']);
  });

  it('tells a repeated error once, as the newest, and that one must stay', () => {
    const messages = ['Error: a', 'Error: b', 'Error: a'].flatMap((output) => tool('bash', { command: 'run' }, output, true));
    const entries = listErrors(readConversation(messages));
    expect(entries.map(({ text, must }) => [text, must])).toEqual([
      ['Error [run] Error: b', undefined],
      ['Error [run] Error: a', 'error'],
    ]);
  });

  it('cuts a very long line between code points', () => {
    const [line = ''] = failed(`Error: ${'😀'.repeat(100_000)}`);
    expect(line.length).toBeLessThan(450);
    expect(line.isWellFormed()).toBe(true);
  });
});

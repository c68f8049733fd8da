import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/message.ts';
import { listOutcomes } from '../../../src/summarize/extractive/command-outcomes.ts';
import { readConversation } from '../../../src/summarize/extractive/conversation.ts';
import { tool } from './short-messages.ts';

const outcomes = (messages: Message[]) => listOutcomes(readConversation(messages)).map((entry) => entry.text);
const run = (command: string, output: string, isError?: boolean) => tool('bash', { command }, output, isError);

describe('listOutcomes', () => {
  it.each([
    [
      'npm test',
      'a\nTests  3 failed | 40 passed (43)\nDuration 2s\nmore\nlines',
      'Ran `npm test`: done, Tests 3 failed | 40 passed (43)',
    ],
    ['cargo test', 'test result: ok. 5 passed; 0 failed\n\n', 'Ran `cargo test`: done, test result: ok. 5 passed; 0 failed'],
    [
      'git commit -m x',
      '[main 1a2b3c4] Add parser\n 2 files changed\n a\n b\n c',
      'Ran `git commit -m x`: done, [main 1a2b3c4] Add parser',
    ],
    ['node -p 6*7', '42\n', 'Ran `node -p 6*7`: done, 42'],
    ['make', 'one\ntwo\nexit code: 0', 'Ran `make`: exit 0, one / two'],
    ['deploy', '1\n2\n3\n4\n5\nthe last line', 'Ran `deploy`: done, the last line'],
  ])('tells what %s printed', (command, output, text) => {
    expect(outcomes(run(command, output))).toEqual([text]);
  });

  it('tells the error of a failed command', () => {
    expect(outcomes(run('build', 'x\ny\nError: no such target\nz\nexit code 2', true))).toEqual([
      'Ran `build`: exit 2, Error: no such target',
    ]);
  });

  it('keeps the newest outcome of a command, and each of two actions with different input', () => {
    expect(outcomes([...run('npm test', '1 failed'), ...run('npm test', '2 passed')])).toEqual([
      'Ran `npm test`: done, 2 passed',
    ]);
    expect(outcomes([...tool('book', { id: 1 }, 'booked'), ...tool('book', { id: 2 }, 'booked')])).toHaveLength(2);
  });

  it('leaves out looks that succeed, edits, and plans', () => {
    expect(
      outcomes([
        ...run('ls -l', 'a'),
        ...tool('edit', { path: 'a', new_string: 'b' }, 'ok'),
        ...tool('todo', { todos: [{ content: 'x', status: 'pending' }] }, 'ok'),
      ]),
    ).toEqual([]);
  });

  it('leaves out the text of a here-document', () => {
    expect(outcomes(run("python <<'EOF'\nprint('x' * 100)\nEOF", 'xxx'))).toEqual(["Ran `python <<'EOF' …`: done, xxx"]);
  });

  it('tells a call without a result as such', () => {
    expect(outcomes(run('npm test', '').slice(0, 1))).toEqual(['Ran `npm test`: no result yet']);
  });
});

import { describe, expect, it } from 'vitest';
import { readConversation } from '../../../src/summarize/extractive/conversation.ts';
import { listFiles } from '../../../src/summarize/extractive/file-activity.ts';
import { tool, user } from './short-messages.ts';

const files = (...messages: Parameters<typeof readConversation>[0][]) => listFiles(readConversation(messages.flat())).entries;

describe('listFiles', () => {
  it('tells each file once, by the last thing done to it, in the order of the last activity', () => {
    const entries = files(
      tool('read', { path: 'a.ts' }, ''),
      tool('write', { path: 'b.ts', content: '' }, ''),
      tool('edit', { path: 'a.ts', new_string: '' }, ''),
      tool('read', { path: 'b.ts' }, ''),
      tool('bash', { command: 'rm c.ts' }, ''),
    );
    expect(entries.map(({ text, must }) => [text, must])).toEqual([
      ['a.ts (written)', 'path'],
      ['b.ts (written)', 'path'],
      ['c.ts (deleted)', 'path'],
    ]);
  });

  it('takes the short form of a path for the long one', () => {
    const entries = files(tool('read', { path: '/repo/src/a.ts' }, ''), tool('bash', { command: 'echo > src/a.ts' }, ''));
    expect(entries.map((entry) => entry.text)).toEqual(['/repo/src/a.ts (written)']);
  });

  it('keeps the words that another summarizer wrote about a file', () => {
    const summary =
      '## Goal\nx\n## Discoveries\ny\n## Relevant Files\n- `src/a.ts`: holds the parser, edited\n- src/b.ts is only the entry';
    const entries = files(
      [user(summary)],
      tool('read', { path: 'src/a.ts' }, ''),
      tool('write', { path: 'src/b.ts', content: '' }, ''),
    );
    expect(entries.map(({ text, must }) => [text, must])).toEqual([
      ['`src/a.ts`: holds the parser, edited', 'path'],
      ['src/b.ts is only the entry', 'path'],
    ]);
  });

  it('puts a path with a line break on one line', () => {
    expect(files(tool('write', { path: 'a\n## Goal\nb.ts', content: '' }, '')).map((entry) => entry.text)).toEqual([
      'a ## Goal b.ts (written)',
    ]);
  });
});

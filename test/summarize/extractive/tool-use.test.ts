import { describe, expect, it } from 'vitest';
import { readToolUse } from '../../../src/summarize/extractive/tool-use.ts';

const use = (name: string, input: unknown) => readToolUse(0, name, input);

describe('readToolUse', () => {
  it.each<[string, unknown, string[]]>([
    ['write_file', { path: 'a.ts', content: '' }, ['a.ts']],
    ['Edit', { file_path: '/repo/a.ts', old_string: '', new_string: '' }, ['/repo/a.ts']],
    ['notebookEdit', { notebook_path: 'a.ipynb', new_source: '' }, ['a.ipynb']],
    ['str_replace_based_edit_tool', { command: 'create', path: 'a.ts', file_text: '' }, ['a.ts']],
    ['str_replace_based_edit_tool', { command: 'view', path: 'a.ts' }, []],
    ['mcp__files__move', { path: 'a.ts', destination: 'lib/b.ts' }, ['a.ts', 'lib/b.ts']],
    ['rename', { source: 'a.ts', to: 'b.ts' }, ['b.ts']],
    [
      'multi_edit',
      {
        edits: [
          { path: 'a.ts', new_string: 'x' },
          { path: 'b.ts', new_string: 'y' },
        ],
      },
      ['a.ts', 'b.ts'],
    ],
    ['transform', { filePath: 'a.ts', newText: 'x' }, ['a.ts']],
    ['search_replace', { path: 'a.ts', new_string: 'x' }, ['a.ts']],
    ['apply_patch', '*** Begin Patch\n*** Add File: a.ts\n+x\n*** Delete File: b.ts\n*** End Patch', ['a.ts', 'b.ts']],
    ['apply_patch', { patch: '--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@' }, ['x.ts']],
    [
      'shell',
      { command: ['bash', '-lc', "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: c.ts\n*** End Patch\nEOF"] },
      ['c.ts'],
    ],
    ['exec_command', { cmd: 'echo 1 > d.txt' }, ['d.txt']],
    ['local_shell', 'echo 1 > e.txt', ['e.txt']],
    ['read_file', { path: 'a.ts' }, []],
    ['grep', { pattern: 'x > y.ts', path: 'src' }, []],
    ['python', { code: 'if a > b.c: pass' }, []],
    ['book_flight', { destination: 'JFK', to: 'JFK' }, []],
    ['create_page', { path: 'https://example.com/a' }, []],
  ])('%s %j writes %j', (name, input, written) => {
    expect(use(name, input).written).toEqual(written);
  });

  it('knows a look from a run', () => {
    expect(use('read_file', { path: 'a.ts' })).toMatchObject({ kind: 'look', read: ['a.ts'], label: 'a.ts' });
    expect(use('bash', { command: 'cat a.ts' })).toMatchObject({ kind: 'look', read: ['a.ts'], label: 'a.ts' });
    expect(use('Grep', { pattern: 'x', path: 'src/a.ts' })).toMatchObject({ kind: 'look', read: [] });
    expect(use('bash', { command: 'cd /repo && npm test' })).toMatchObject({ kind: 'run', label: 'npm test' });
    expect(use('book_flight', { id: 7 })).toMatchObject({ kind: 'run', label: 'book_flight {"id":7}' });
  });

  it('shortens a long absolute path where it only tells a source', () => {
    expect(use('read', { path: '/srv/builds/nightly/repo/src/a.ts' })).toMatchObject({
      label: '…/repo/src/a.ts',
      read: ['/srv/builds/nightly/repo/src/a.ts'],
    });
  });

  it('never lets a label end its own brackets', () => {
    expect(use('bash', { command: '[ -f a ] && run' }).label).not.toContain('] ');
  });

  it('takes odd inputs as they come', () => {
    const cyclic: Record<string, unknown> = { path: 'a.ts', content: 'x' };
    cyclic.self = cyclic;
    cyclic.files = [cyclic, null, 5, 'b.ts'];
    expect(new Set(use('write', cyclic).written)).toEqual(new Set(['a.ts', 'b.ts']));
    for (const input of [null, undefined, 5, 5n, true, [], [null], Symbol('x'), { path: 5, command: [null], files: {} }])
      expect(use('write', input).written).toEqual([]);
  });
});

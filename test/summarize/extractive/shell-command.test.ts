import { describe, expect, it } from 'vitest';
import { parseShell } from '../../../src/summarize/extractive/shell-command.ts';

const redirected = (text: string) => parseShell(text).flatMap((command) => command.redirectedTo);
const words = (text: string) => parseShell(text).map((command) => command.words);

describe('parseShell', () => {
  it('splits commands at every operator and keeps quoted words whole', () => {
    expect(words(`cd "my dir" && ls -l | grep 'a b';echo x\\ y & wait`)).toEqual([
      ['cd', 'my dir'],
      ['ls', '-l'],
      ['grep', 'a b'],
      ['echo', 'x y'],
      ['wait'],
    ]);
  });

  it.each([
    ['echo a > out.txt', ['out.txt']],
    ['echo a >> "my log.txt"', ['my log.txt']],
    ['make >build.log 2>&1', ['build.log']],
    ['make &> all.log', ['all.log']],
    ['make 2> errors.log 1>out.log', ['errors.log', 'out.log']],
    ['cat a >| b.txt', ['b.txt']],
    ['{ echo a; } > braces.txt', ['braces.txt']],
    ['(cd x && ls) > "a(1).txt"', ['a(1).txt']],
  ])('finds the files of %s', (text, files) => {
    expect(redirected(text)).toEqual(files);
  });

  it.each([
    `echo "a > b"`,
    `awk '$1 > 5' data`,
    'echo a \\> b',
    '# echo a > b',
    'if [[ $a > $b ]]; then ls; fi',
    '(( a > b ))',
    'diff <(sort a) <(sort b > c)',
    'echo $(cat x > y)',
    'cat <<< "a > b"',
    'command 2>&1 >&-',
  ])('finds none in %s', (text) => {
    expect(redirected(text)).toEqual([]);
  });

  it('passes over the text of here-documents', () => {
    const text = `cat > a.ts <<'EOF'\nif (a > b) return;\nEOF\necho done > c.txt\ncat <<-END >> d.txt\n\tx > y\n\tEND\nls`;
    expect(redirected(text)).toEqual(['a.ts', 'c.txt', 'd.txt']);
    expect(words(text).at(-1)).toEqual(['ls']);
  });

  it.each(['"', "'", '`', '$(', '((', '<<EOF', '>', '<', '\\', 'a"b\'c`', '2>', '&>'])('survives the unfinished %s', (text) => {
    expect(Array.isArray(parseShell(text))).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { readShellFiles } from '../../../src/summarize/extractive/shell-files.ts';

describe('readShellFiles', () => {
  it.each([
    ['tee -a log.txt < in.txt', ['log.txt']],
    ['sed -i "s/a/b/" src/a.ts src/b.ts', ['src/a.ts', 'src/b.ts']],
    ["sed -i '' -e 's/a/b/' src/a.ts", ['src/a.ts']],
    ['cp -r a.ts src/b.ts', ['src/b.ts']],
    ['git mv old.ts new.ts', ['new.ts']],
    ['rm -rf dist/a.js', ['dist/a.js']],
    ['sudo touch /etc/app.conf', ['/etc/app.conf']],
    ['FOO=1 BAR=2 node x.js > $OUT/x.txt', ['$OUT/x.txt']],
    ['curl -sL https://example.com/a -o a.tgz', ['a.tgz']],
    ['bash -lc "echo 1 > inner.txt"', ['inner.txt']],
    ['ls > /dev/null 2>&1', []],
    ['for f in *; do echo > $f; done', []],
    ['echo a > 5', []],
  ])('%s writes %j', (text, files) => {
    expect(readShellFiles(text).written).toEqual(files);
  });

  it('tells deleted files apart', () => {
    expect(readShellFiles('rm a.ts && git rm b.ts && touch c.ts')).toMatchObject({
      written: ['a.ts', 'b.ts', 'c.ts'],
      deleted: ['a.ts', 'b.ts'],
    });
  });

  it('tells which files are shown', () => {
    expect(readShellFiles("cat src/a.ts | head -5; sed -n '1,20p' src/b.ts").read).toEqual(['src/a.ts', 'src/b.ts']);
  });

  it.each([
    ['cat a.txt | grep x | wc -l', true],
    ['cd src && git status && git log --oneline', true],
    ['npm test', false],
    ['git commit -m x', false],
    ['cat a > b', false],
    ['bash -c "ls -l"', true],
  ])('%s only looks: %s', (text, readOnly) => {
    expect(readShellFiles(text).readOnly).toBe(readOnly);
  });

  it('goes only so deep into shells within shells', () => {
    const nested = Array.from({ length: 6 }).reduce<string>((inner) => `bash -c ${JSON.stringify(inner)}`, 'touch a.txt');
    expect(readShellFiles(nested).written).toEqual([]);
  });
});

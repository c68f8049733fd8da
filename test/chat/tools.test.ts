import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileTools } from '../../examples/chat/tools.ts';

/** A folder inside the one in which the tests run: that is as far as the tools see. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join('test', 'chat', 'files-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function call(name: string, input: unknown): Promise<string> {
  return fileTools.find(({ definition }) => definition.function.name === name)!.run(input);
}

it('lists a folder and reads a file', async () => {
  writeFileSync(join(folder, 'a.txt'), 'A file.');
  expect(await call('list_files', { path: folder })).toBe('a.txt');
  expect(await call('read_file', { path: join(folder, 'a.txt') })).toBe('A file.');
});

it('cuts a file that is very long', async () => {
  writeFileSync(join(folder, 'a.txt'), 'x'.repeat(50_000));
  expect(await call('read_file', { path: join(folder, 'a.txt') })).toMatch(/^x{40000}\n\(cut: 50000 characters\)$/);
});

it('does not wait for a pipe', async () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')]);
  await expect(call('read_file', { path: join(folder, 'pipe') })).rejects.toThrow('Expected the path of a file.');
});

it('follows no path and no link out of the folder of the chat', async () => {
  symlinkSync(tmpdir(), join(folder, 'link'));
  for (const path of ['..', '../..', tmpdir(), join(folder, 'link')])
    await expect(call('list_files', { path })).rejects.toThrow('inside the folder');
});

it('names the argument that is missing', async () => {
  await expect(call('read_file', {})).rejects.toThrow('Expected the argument "path".');
  await expect(call('read_file', 'no object')).rejects.toThrow('Expected the argument "path".');
});

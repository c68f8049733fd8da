import { parseShell, type ShellCommand } from './shell-command.ts';

/** What a shell text does to files. `readOnly` is true where it only looks. */
export interface ShellFiles {
  written: string[];
  /** Those of the written ones that are gone afterwards. */
  deleted: string[];
  read: string[];
  readOnly: boolean;
}

const longestPath = 1_024;
const wrappers = new Set(['sudo', 'time', 'env', 'nohup', 'command', 'exec', 'then', 'do', 'else', 'if', 'while', '!', '{']);
const shells = new Set(['bash', 'sh', 'zsh', 'dash']);
const readers = new Set(['cat', 'head', 'tail', 'less', 'more', 'nl', 'bat', 'wc', 'sed', 'jq', 'od', 'xxd', 'strings']);
const onlookers =
  'cd ls pwd echo printf grep egrep rg ag find fd tree file stat which type du df ps env date whoami test true cut sort uniq tr awk diff [ [[ fi done'.split(
    ' ',
  );
const lookers = new Set([...readers, ...onlookers]);
const lookingAtGit = new Set('status log diff show branch remote blame ls-files rev-parse describe grep'.split(' '));

/** The files that a shell text writes (redirections, `tee`, `sed -i`, `cp`, `mv`, `rm`, ...) and those that it shows. */
export function readShellFiles(text: string, depth = 0): ShellFiles {
  const files: ShellFiles = { written: [], deleted: [], read: [], readOnly: true };
  for (const command of parseShell(text)) {
    const words = withoutWrappers(command.words);
    const name = nameOf(words[0] ?? '');
    const script = shells.has(name) && depth < 3 ? scriptOf(words) : undefined;
    const inner = script === undefined ? undefined : readShellFiles(script, depth + 1);
    const written = [...command.redirectedTo, ...writtenBy(name, words), ...(inner?.written ?? [])].filter(isFile);
    // One by one: as arguments of one `push` a hundred thousand paths would overflow the stack.
    for (const path of written) files.written.push(path);
    for (const path of [...deletedBy(name, words), ...(inner?.deleted ?? [])]) if (isFile(path)) files.deleted.push(path);
    for (const path of [...readBy(name, words), ...(inner?.read ?? [])]) files.read.push(path);
    const looks = inner?.readOnly ?? (lookers.has(name) || (name === 'git' && lookingAtGit.has(words[1] ?? '')));
    files.readOnly &&= written.length === 0 && (looks || isEmpty(command, words));
  }
  return files;
}

function writtenBy(name: string, words: string[]): string[] {
  if (name === 'git' && /^(?:mv|rm)$/.test(words[1] ?? '')) return writtenBy(words[1] ?? '', words.slice(1));
  const operands = operandsOf(words);
  if (name === 'tee' || name === 'touch' || name === 'rm' || name === 'unlink' || name === 'truncate') return operands;
  if (/^(?:mv|cp|install|ln|rsync)$/.test(name)) return operands.length > 1 ? operands.slice(-1) : [];
  if ((name === 'sed' || name === 'perl') && words.some((word) => /^-[A-Za-z]*i|^--in-place/.test(word))) {
    const scriptIsOption = words.some((word) => /^-[A-Za-z]*e$|^--expression/.test(word));
    return scriptIsOption ? operands.filter((operand) => !looksLikeScript(operand)) : operands.slice(1);
  }
  if (name === 'curl' || name === 'wget') return words.filter((_, at) => /^-[oO]$|^--output/.test(words[at - 1] ?? ''));
  if (name === 'dd') return words.filter((word) => word.startsWith('of=')).map((word) => word.slice(3));
  return [];
}

function deletedBy(name: string, words: string[]): string[] {
  if (name === 'git' && words[1] === 'rm') return operandsOf(words.slice(1));
  return name === 'rm' || name === 'unlink' ? operandsOf(words) : [];
}

function readBy(name: string, words: string[]): string[] {
  if (!readers.has(name)) return [];
  return operandsOf(words).filter(
    (word) => isFile(word) && /^[\w@~./-]*\w$/.test(word) && /[./]/.test(word) && !looksLikeScript(word),
  );
}

function operandsOf(words: string[]): string[] {
  return words.slice(1).filter((word) => word !== '' && !word.startsWith('-'));
}

function looksLikeScript(word: string): boolean {
  return /^(?:s|y|tr)\W|[\^$]|^\/.*\/[a-z]*$|^\d+[a-z]/.test(word);
}

function withoutWrappers(words: string[]): string[] {
  let at = 0;
  while (at < words.length && (wrappers.has(words[at] ?? '') || /^\w+=/.test(words[at] ?? ''))) at++;
  return words.slice(at);
}

function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

function scriptOf(words: string[]): string | undefined {
  const option = words.findIndex((word) => /^-[a-z]*c$/.test(word));
  return option < 0 ? undefined : words[option + 1];
}

function isFile(path: string): boolean {
  // `$file`, `.` and `>(...)` name no file; `$folder/name` is kept as it stands.
  return (
    path !== '' &&
    path.length <= longestPath &&
    !path.startsWith('/dev/') &&
    !/^[&(]|^\d+$|^\$\w+$|^\$\{\w+\}$|^\.{1,2}\/?$|^[<>$]\(/.test(path)
  );
}

function isEmpty(command: ShellCommand, words: string[]): boolean {
  return words.length === 0 && command.redirectedTo.length === 0;
}

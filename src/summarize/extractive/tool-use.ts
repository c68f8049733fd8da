import { clip, endsOf, linesOf, toOneLine } from './line-text.ts';
import { type PlanStep, planOf } from './plan-items.ts';
import { readShellFiles } from './shell-files.ts';
import { describeInput, isPath, readToolInput } from './tool-input.ts';
import { readToolVerb } from './tool-verb.ts';

/** What a call does, as far as its name and its input tell. */
interface Effects {
  /** `look`: reads, lists or searches. `write`: changes files only. `run`: a command, or any other action. */
  kind: 'look' | 'write' | 'run';
  /** The command, where it is one. */
  command?: string;
  written: string[];
  /** Those of the written ones that are gone afterwards. */
  deleted: string[];
  read: string[];
  /** New text of the written files. */
  content: string[];
}

/** One tool call with its result. */
export interface ToolUse extends Effects {
  at: number;
  /** Position of the message with the result; undefined while there is none. */
  answeredAt: number | undefined;
  /** What its output is quoted after: the file, the command, or the action. On one line, at most 100 code units. */
  label: string;
  /** The tool's name and input. */
  action: string;
  /** The steps that the call sets, where its input is a plan. */
  plan: PlanStep[] | undefined;
  output: string;
  isError: boolean | undefined;
  /** Code units of the input. */
  length: number;
}

const longestLabel = 100;
const longestAction = 4_000;
const longestName = 200;
const deepestPath = 4;

/** Reads a call of a tool that is not known: by the words of its name and the keys of its input. */
export function readToolUse(at: number, name: string, input: unknown): ToolUse {
  const described = describeInput(input);
  const effects = effectsOf(name, input);
  const action = `${name.slice(0, longestName)} ${described.slice(0, longestAction)}`.trim();
  return {
    ...effects,
    at,
    answeredAt: undefined,
    label: labelOf(effects, action),
    action,
    plan: planOf(input),
    output: '',
    isError: undefined,
    length: described.length,
  };
}

function effectsOf(name: string, input: unknown): Effects {
  const { paths, destinations, content, replaces, command: text, patches } = readToolInput(input);
  // `command` beside a path is a verb: `view`, `str_replace`. Otherwise it is a shell's.
  const isVerb = paths.length > 0 && text !== undefined && text.length <= longestLabel && /^[a-z_-]+$/i.test(text);
  const verb = readToolVerb(isVerb ? text : name);
  const command = isVerb || (typeof input === 'string' && !verb.shell) ? undefined : text;
  const shell = command === undefined ? undefined : readShellFiles(command);

  const patch = patches.find((one) => one.includes('*** Begin Patch') || (verb.patches && patchMark.test(one)));
  if (patch !== undefined) {
    const { written, deleted } = readPatch(patch);
    return { kind: 'write', written: [...written, ...(shell?.written ?? [])], deleted, read: [], content: [endsOf(patch)] };
  }
  const writes = verb.kind === 'write' || (replaces && !(verb.kind === 'look' && !verb.searches));
  if (writes && paths.length > 0) {
    const written = verb.moves ? [...paths, ...destinations] : paths;
    return { kind: 'write', written, deleted: verb.deletes ? paths : [], read: [], content: content.map(endsOf) };
  }
  if (command !== undefined && shell) {
    const { written, deleted, read, readOnly } = shell;
    return { kind: readOnly ? 'look' : 'run', command, written, deleted, read, content: [] };
  }
  if (verb.moves && destinations.length > 0) return { kind: 'write', written: destinations, deleted: [], read: [], content: [] };
  const read = verb.searches ? [] : paths.filter((path) => !/^[./\\]*$/.test(path));
  return { kind: verb.kind === 'look' ? 'look' : 'run', written: [], deleted: [], read, content: [] };
}

const patchMark = /^(?:\+\+\+ |\*\*\* \w+ File: )/m;

function readPatch(patch: string): { written: string[]; deleted: string[] } {
  const written: string[] = [];
  const deleted: string[] = [];
  for (const [, mark = '', name = ''] of patch.matchAll(
    /^(\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b\/)?)([^\t\r\n]+)/gm,
  )) {
    const path = name.trim();
    if (path === '/dev/null' || !isPath(path)) continue;
    written.push(path);
    if (mark.includes('Delete')) deleted.push(path);
  }
  return { written, deleted };
}

function labelOf({ kind, command, written, read }: Effects, action: string): string {
  const looksAtOne = kind === 'look' && read.length === 1;
  const path = command === undefined || looksAtOne ? (written[0] ?? read[0]) : undefined;
  const label = path === undefined ? (command === undefined ? action : firstLineOf(command)) : shorten(path);
  return toSource(clip(toOneLine(label), longestLabel));
}

/** `] ` ends a source where a summary is read again, so that a source must not hold it. */
export function toSource(label: string): string {
  return label.replaceAll('] ', ']');
}

/** The end of a long absolute path: the whole of it stands in the list of files. */
function shorten(path: string): string {
  const parts = path.split(/[/\\]/);
  return parts.length > deepestPath + 1 && /^(?:[/~]|[A-Z]:)/.test(path) ? `…/${parts.slice(1 - deepestPath).join('/')}` : path;
}

function firstLineOf(command: string): string {
  const [first = ''] = linesOf(command.slice(0, longestAction));
  const line = toOneLine(first);
  return line.replace(/^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?/, '').replace(/\s*<<-?\s*['"]?\w+['"]?.*$/, '') || line;
}

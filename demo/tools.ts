import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTestFile } from './run-test-file.ts';

/** The repository that the agent explores: this one. */
export const repository: string = realpathSync(fileURLToPath(new URL('..', import.meta.url)));

/** A tool in neutral form; each agent writes it in its provider's shape. */
export interface Tool {
  name: string;
  description: string;
  /** Name and meaning of each argument; all are strings or numbers, those with a `?` may be left out. */
  parameters: Record<string, { type: 'string' | 'integer'; description: string; optional?: true }>;
  run(input: ToolInput): string | Promise<string>;
}

export interface ToolInput {
  path?: unknown;
  text?: unknown;
  from?: unknown;
}

export interface ToolOutput {
  text: string;
  isError: boolean;
}

/** No tool returns more characters than this, however large the repository becomes. */
const outputLimit = 3600;

const pathParameter = { type: 'string', description: 'Path inside the repository, for instance src/budget' } as const;

export const tools: readonly Tool[] = [
  {
    name: 'list',
    description: 'Lists all files below a folder with their sizes in bytes.',
    parameters: { path: pathParameter },
    run: ({ path }) =>
      filesBelow(locate(path))
        .map((file) => `${inRepository(file)} ${statSync(file).size}`)
        .join('\n'),
  },
  {
    name: 'read',
    description: 'Reads a text file. Long files are cut: read on with `from`.',
    parameters: {
      path: pathParameter,
      from: { type: 'integer', description: 'First line to read, counted from 1. Default 1.', optional: true },
    },
    run: ({ path, from }) => readLines(locate(path), typeof from === 'number' ? from : 1),
  },
  {
    name: 'grep',
    description: 'Finds the lines that contain a plain text, in a file or in all files below a folder.',
    parameters: { text: { type: 'string', description: 'The text to find; no pattern.' }, path: pathParameter },
    run: ({ text, path }) => findText(String(text ?? ''), locate(path)),
  },
  {
    name: 'run_test',
    description: 'Runs one test file and reports how many of its tests passed and failed.',
    parameters: { path: { type: 'string', description: 'Path of the test file, for instance test/budget/meter.test.ts' } },
    run: ({ path }) => runTestFile(repository, inRepository(locate(path))),
  },
];

/** For a model whose words beside its calls get lost on the way. */
export const noteTool: Tool = {
  name: 'note',
  description: 'Keeps a fact in view, in one line that begins with "Noted:".',
  parameters: { text: { type: 'string', description: 'The line.' } },
  run: ({ text }) => String(text ?? ''),
};

/** Runs a tool by its name. What goes wrong is told to the model, as its result. */
export async function runTool(name: string, input: ToolInput): Promise<ToolOutput> {
  try {
    const tool = [...tools, noteTool].find((candidate) => candidate.name === name);
    if (!tool) throw new Error(`there is no tool ${name}; there are ${tools.map((candidate) => candidate.name).join(', ')}`);
    return { text: bound(await tool.run(input)) || '(nothing)', isError: false };
  } catch (error) {
    return { text: `Error: ${error instanceof Error ? error.message : String(error)}`, isError: true };
  }
}

/** JSON schema of a tool's arguments. */
export function schemaOf(tool: Pick<Tool, 'parameters'>): {
  type: 'object';
  properties: Record<string, { type: 'string' | 'integer'; description: string }>;
  required: string[];
} {
  const entries = Object.entries(tool.parameters);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { type, description }]) => [name, { type, description }])),
    required: entries.filter(([, parameter]) => !parameter.optional).map(([name]) => name),
  };
}

/** The real path of a file or folder, which must be a visible part of the repository. */
function locate(path: unknown): string {
  if (typeof path !== 'string') throw new Error(`path must be a text, not ${typeof path}`);
  const found = realpathSync(resolve(repository, path));
  const inside = relative(repository, found);
  if (inside === '..' || inside.startsWith(`..${sep}`) || inside.split(sep).some(isHidden))
    throw new Error(`${path} is not part of the repository`);
  return found;
}

/** Dot files may hold secrets, and what is installed or built is not the repository. */
function isHidden(name: string): boolean {
  return name.startsWith('.') || ['node_modules', 'dist', 'coverage'].includes(name);
}

function inRepository(path: string): string {
  return relative(repository, path).split(sep).join('/');
}

function filesBelow(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  const entries = readdirSync(path, { withFileTypes: true }).filter((entry) => !isHidden(entry.name));
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  return entries.flatMap((entry: Dirent) => {
    if (entry.isDirectory()) return filesBelow(join(path, entry.name));
    return entry.isFile() ? [join(path, entry.name)] : [];
  });
}

function readLines(path: string, from: number): string {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .slice(Math.max(0, from - 1));
  return `${inRepository(path)} from line ${from}\n${lines.join('\n')}`;
}

function findText(text: string, path: string): string {
  if (text.trim() === '') throw new Error('text must not be blank');
  const hits: string[] = [];
  for (const file of filesBelow(path))
    for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries())
      if (line.includes(text)) hits.push(`${inRepository(file)}:${index + 1}: ${line.trim().slice(0, 200)}`);
  return hits.join('\n');
}

/** Cut at a line break, so that no number and no path is cut in two. */
function bound(text: string): string {
  if (text.length <= outputLimit) return text;
  const kept = text.slice(0, text.lastIndexOf('\n', outputLimit) + 1 || outputLimit);
  return `${kept}[${text.slice(kept.length).split('\n').length} more lines]`;
}

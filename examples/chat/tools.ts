import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type OpenAI from 'openai';
import { readLogPage } from '../support/offline.ts';

/** What a model may call. */
export interface Tool {
  definition: OpenAI.ChatCompletionFunctionTool;
  /** What it rejects with is told to the model. */
  run(input: unknown): Promise<string>;
}

/** For the scripted model: a log whose pages are long enough to fill a small window. */
export const logTools: readonly Tool[] = [
  {
    definition: defineTool('read_log', 'Reads one page of the log.', { page: { type: 'number' } }),
    run: async (input) => readLogPage(Number(readField(input, 'page'))),
  },
];

const mostCharacters = 40_000;

/** For a real model: it may look at the folder in which the chat was started, and change nothing. */
export const fileTools: readonly Tool[] = [
  {
    definition: defineTool('list_files', 'Lists a folder of the project.', { path: { type: 'string' } }),
    run: async (input) => {
      const entries = await readdir(await findInside(readField(input, 'path')), { withFileTypes: true });
      return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).join('\n');
    },
  },
  {
    definition: defineTool('read_file', 'Reads a text file of the project.', { path: { type: 'string' } }),
    run: async (input) => {
      const path = await findInside(readField(input, 'path'));
      // A pipe would be waited for, for ever.
      if (!(await stat(path)).isFile()) throw new Error('Expected the path of a file.');
      const text = await readFile(path, 'utf8');
      return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n(cut: ${text.length} characters)` : text;
    },
  },
];

function defineTool(name: string, description: string, properties: Record<string, { type: string }>): Tool['definition'] {
  const parameters = { type: 'object', properties, required: Object.keys(properties) };
  return { type: 'function', function: { name, description, parameters } };
}

function readField(input: unknown, name: string): string {
  const value: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, name) : undefined;
  if (value === undefined) throw new Error(`Expected the argument ${JSON.stringify(name)}.`);
  return String(value);
}

/** Links are followed before it is decided what is inside. */
async function findInside(path: string): Promise<string> {
  const root = await realpath('.');
  const found = await realpath(resolve(root, path));
  const way = relative(root, found);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new Error(`Expected a path inside the folder of the chat, got ${JSON.stringify(path)}.`);
  return found;
}

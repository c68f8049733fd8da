/** The fields of a call's input that can be read without knowing the tool. Only own keys are read, one list deep: cycles do no harm. */
export interface ToolInput {
  paths: string[];
  destinations: string[];
  /** New text of files. */
  content: string[];
  /** True where a field holds new text by its very name, so that whatever the tool is called it writes. */
  replaces: boolean;
  /** What a shell is given, or a verb where a path stands beside it. */
  command: string | undefined;
  /** Texts that may hold a patch. */
  patches: string[];
}

type Fields = Record<string, unknown>;

const longestPath = 1_024;
const pathKeys =
  'path file_path filePath filepath file filename file_name fileName absolute_path absolutePath relative_path notebook_path target_file targetFile target_path'.split(
    ' ',
  );
const destinationKeys = 'destination dest destination_path new_path newPath to target output_path'.split(' ');
const replacementKeys =
  'content contents file_text new_string newString new_str newText new_text replacement replacement_text'.split(' ');
const contentKeys = [...replacementKeys, 'replace', 'text', 'insert_text'];
const listKeys = ['files', 'edits', 'changes', 'operations', 'paths', 'file_paths', 'replacements'];
const patchKeys = ['patch', 'input', 'diff'];

export function readToolInput(input: unknown): ToolInput {
  if (typeof input === 'string')
    return { paths: [], destinations: [], content: [], replaces: false, command: input, patches: [input] };
  const fields = fieldsOf(input);
  const all = (keys: readonly string[]) => fields.flatMap((field) => textsOf(field, keys));
  const command = fields[0] && (commandOf(fields[0].command) ?? commandOf(fields[0].cmd));
  return {
    paths: all(pathKeys).filter(isPath),
    destinations: all(destinationKeys).filter((value) => isPath(value) && /[./\\]/.test(value)),
    content: all(contentKeys),
    replaces: fields.some((field) => replacementKeys.some((key) => key in field)),
    command,
    patches: command === undefined ? all(patchKeys) : [...all(patchKeys), command],
  };
}

/** A value that may name a file: not blank, not a URL, not longer than a path can be. */
export function isPath(value: string): boolean {
  return value.trim() !== '' && value.length <= longestPath && !/^(?!file:)[a-z][a-z\d+.-]+:\/\//i.test(value);
}

/** The input as JSON, empty where it cannot be written as such. */
export function describeInput(input: unknown): string {
  try {
    return typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
  } catch {
    return '';
  }
}

/** The input's own fields, then those of the objects in its lists of files and edits. */
function fieldsOf(input: unknown): Fields[] {
  if (!isFields(input)) return [];
  const lists = listKeys.flatMap((key) => (Array.isArray(input[key]) ? input[key] : []));
  return [input, ...lists.map((item: unknown) => (typeof item === 'string' ? { path: item } : item)).filter(isFields)];
}

function textsOf(field: Fields, keys: readonly string[]): string[] {
  return keys.map((key) => field[key]).filter((value): value is string => typeof value === 'string' && value !== '');
}

function commandOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string') || value.length === 0) return undefined;
  return /^-[a-z]*c$/.test(value[1] ?? '') && value.length > 2 ? value.slice(2).join(' ') : value.join(' ');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { describe, type Fields, isRecord, type Report } from '../report.ts';

export interface WireBlock {
  /** The key that says what the block is. */
  kind: string;
  /** What it holds under that key. */
  value: unknown;
  /** The same where it is an object, else empty. */
  fields: Fields;
  path: string;
}

export interface WireMessage {
  role: 'user' | 'assistant' | 'system';
  blocks: readonly WireBlock[];
  path: string;
}

const kinds = new Set([
  'text',
  'image',
  'document',
  'video',
  'audio',
  'toolUse',
  'toolResult',
  'guardContent',
  'cachePoint',
  'reasoningContent',
  'citationsContent',
  'searchResult',
  'toolAddition',
  'toolRemoval',
  // What the SDK makes of a block that it does not know.
  '$unknown',
]);
const resultKinds = new Set(['text', 'json', 'image', 'document', 'video', 'searchResult', 'cachePoint', '$unknown']);

/** The messages with a legal role and content; the others are reported. */
export function readMessages(list: readonly unknown[], report: Report): WireMessage[] {
  if (list.length === 0) report('no-messages', 'messages', 'Expected at least one message.');
  return list.flatMap((value, index) => {
    const path = `messages[${index}]`;
    const role = isRecord(value) ? value.role : undefined;
    if (!isRecord(value) || (role !== 'user' && role !== 'assistant' && role !== 'system')) {
      report('message-role', path, 'Expected an object with the role user, assistant or system.');
      return [];
    }
    const { content } = value;
    if (Array.isArray(content) && content.length === 0) report('content-empty', `${path}.content`, 'Expected content.');
    return [{ role, blocks: readBlocks(content, `${path}.content`, report, kinds), path }];
  });
}

/** The content of a `toolResult`. */
export function readResultContent(content: unknown, path: string, report: Report): WireBlock[] {
  return readBlocks(content, path, report, resultKinds);
}

/** A block has exactly one of the known keys; the SDK drops the keys that it does not know. */
function readBlocks(content: unknown, path: string, report: Report, known: ReadonlySet<string>): WireBlock[] {
  if (!Array.isArray(content)) {
    report('content-type', path, `Expected an array of blocks, got ${describe(content)}.`);
    return [];
  }
  return content.flatMap((block: unknown, index): WireBlock[] => {
    const blockPath = `${path}[${index}]`;
    const keys = isRecord(block) ? Object.keys(block).filter((key) => known.has(key) && block[key] !== undefined) : [];
    const [kind, ...others] = keys;
    if (!isRecord(block) || kind === undefined || others.length > 0) {
      report('block-shape', blockPath, 'Expected an object with one key that says what the block is.');
      return [];
    }
    const value = block[kind];
    return [{ kind, value, fields: isRecord(value) ? value : {}, path: blockPath }];
  });
}

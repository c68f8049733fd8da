import { type Fields, isRecord, type Report } from '../report.ts';

export interface WireBlock {
  type: string;
  fields: Fields;
  path: string;
}

export interface WireMessage {
  role: 'user' | 'assistant' | 'system';
  fields: Fields;
  blocks: readonly WireBlock[];
  path: string;
}

/** Consecutive messages of one role, without the system messages between them. */
export interface WireTurn {
  role: 'user' | 'assistant';
  blocks: readonly WireBlock[];
  path: string;
}

/** The messages with a legal role and content; the others are reported. */
export function readMessages(list: readonly unknown[], report: Report): WireMessage[] {
  return list.flatMap((value, index) => {
    const path = `messages[${index}]`;
    const role = isRecord(value) ? value.role : undefined;
    if (!isRecord(value) || (role !== 'user' && role !== 'assistant' && role !== 'system')) {
      report('message-role', path, 'Expected an object with the role user, assistant or system.');
      return [];
    }
    return [{ role, fields: value, blocks: readBlocks(value.content, `${path}.content`, report), path }];
  });
}

/** A string is one text block. */
export function readBlocks(content: unknown, path: string, report: Report): WireBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', fields: { type: 'text', text: content }, path }];
  if (!Array.isArray(content)) {
    if (content !== undefined && content !== null) report('block-shape', path, 'Expected a string or an array of blocks.');
    return [];
  }
  return content.flatMap((fields: unknown, index) => {
    const blockPath = `${path}[${index}]`;
    if (isRecord(fields) && typeof fields.type === 'string') return [{ type: fields.type, fields, path: blockPath }];
    report('block-shape', blockPath, 'Expected an object with a type.');
    return [];
  });
}

export function mergeTurns(messages: readonly WireMessage[]): WireTurn[] {
  const turns: { role: WireTurn['role']; blocks: WireBlock[]; path: string }[] = [];
  for (const { role, blocks, path } of messages) {
    if (role === 'system') continue;
    const last = turns.at(-1);
    if (last?.role === role) for (const block of blocks) last.blocks.push(block);
    else turns.push({ role, blocks: [...blocks], path });
  }
  return turns;
}

/** A call or a result of a tool that the provider runs. */
export function isServerTool({ type }: WireBlock): boolean {
  return isServerCall(type) || isServerResult(type);
}

export function isServerCall(type: string): boolean {
  return type.endsWith('_tool_use');
}

export function isServerResult(type: string): boolean {
  return type.endsWith('_tool_result');
}

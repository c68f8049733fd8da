import { isRecord, type Report } from '../report.ts';
import { isServerResult, readBlocks, type WireBlock, type WireMessage } from './turns.ts';

const onlyAssistant = new Set(['tool_use', 'thinking', 'redacted_thinking', 'server_tool_use', 'mcp_tool_use', 'compaction']);
const onlySystem = new Set(['tool_addition', 'tool_removal']);

/** What a message and its blocks must hold by themselves. */
export function checkBlocks(messages: readonly WireMessage[], report: Report): void {
  for (const { role, fields, blocks, path } of messages) {
    const settingsOnly = role === 'system' && isRecord(fields.output_config);
    if (blocks.length === 0 && !settingsOnly) report('content-empty', `${path}.content`, 'Expected content.');
    for (const block of blocks) {
      if (!isAllowed(block.type, role)) report('block-role', block.path, `Expected no ${block.type} block in a ${role} message.`);
      checkBlock(block, report);
    }
  }
}

function isAllowed(type: string, role: WireMessage['role']): boolean {
  if (role === 'system') return type === 'text' || onlySystem.has(type);
  if (onlySystem.has(type)) return false;
  if (role === 'user') return !onlyAssistant.has(type) && !isServerResult(type);
  return type !== 'tool_result' && type !== 'image' && type !== 'document';
}

function checkBlock({ type, fields, path }: WireBlock, report: Report): void {
  if (type === 'text') checkText(fields.text, path, report);
  else if (type === 'image' || type === 'document') {
    if (!isRecord(fields.source)) report('block-shape', path, `Expected a source of the ${type}.`);
  } else if (type === 'tool_use') {
    if (typeof fields.name !== 'string' || !isRecord(fields.input))
      report('tool-input', path, 'Expected the name of a tool and an object as its input.');
  } else if (type === 'tool_result') checkResult(fields, path, report);
  else if (type === 'compaction' && !(typeof fields.content === 'string' && fields.content !== ''))
    report('compaction-empty', path, 'Expected the summary of a compaction.');
}

function checkText(text: unknown, path: string, report: Report): void {
  if (typeof text !== 'string') report('block-shape', path, 'Expected a text.');
  else if (!/\S/.test(text)) report('text-blank', path, 'Expected text that is not only white space.');
}

function checkResult(fields: WireBlock['fields'], path: string, report: Report): void {
  const inner = readBlocks(fields.content, `${path}.content`, report);
  if (fields.is_error === true && inner.length === 0) report('error-empty', path, 'Expected an error result to say something.');
  for (const block of inner) if (block.type === 'text') checkText(block.fields.text, block.path, report);
}

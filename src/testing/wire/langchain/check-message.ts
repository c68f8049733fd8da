import { describe, type Fields, isRecord, type Report } from '../report.ts';
import { type Kind, kindOf } from './message-kind.ts';

/** Beside an empty content, an assistant may say these. */
const saysOtherwise = ['tool_calls', 'function_call', 'audio', 'refusal'];

export function checkMessage(message: unknown, path: string, report: Report): void {
  const kind = kindOf(message);
  if (!isRecord(message)) report('message-type', path, `Expected a message, got ${describe(message)}.`);
  else if (!kind)
    report('unknown-type', `${path}.type`, `Expected human, ai, system or tool, got ${describe(message.type ?? message.role)}.`);
  else {
    checkContent(message, kind, `${path}.content`, report);
    if (kind === 'tool' && (typeof message.tool_call_id !== 'string' || message.tool_call_id === ''))
      report('tool-call-id', `${path}.tool_call_id`, `Expected the id of a call, got ${describe(message.tool_call_id)}.`);
    if (kind !== 'ai' && Array.isArray(message.tool_calls) && message.tool_calls.length > 0)
      report('calls-not-allowed', `${path}.tool_calls`, 'Expected calls in messages of the model only.');
  }
}

function checkContent(message: Fields, kind: Kind, path: string, report: Report): void {
  const { content } = message;
  const mayBeEmpty = kind === 'tool' || (kind === 'ai' && standsWithoutContent(message));
  if (typeof content === 'string') {
    if (!/\S/.test(content) && !mayBeEmpty) report('blank-content', path, 'Expected text that is not blank.');
  } else if (!Array.isArray(content))
    report('content-type', path, `Expected a text or an array of blocks, got ${describe(content)}.`);
  else if (content.length === 0 && !mayBeEmpty) report('blank-content', path, 'Expected at least one block.');
  else for (const [index, block] of content.entries()) checkBlock(block, kind, `${path}[${index}]`, report);
}

function standsWithoutContent({ tool_calls, additional_kwargs: extra }: Fields): boolean {
  const extras = isRecord(extra) ? extra : {};
  return (Array.isArray(tool_calls) && tool_calls.length > 0) || saysOtherwise.some((key) => extras[key]);
}

function checkBlock(block: unknown, kind: Kind, path: string, report: Report): void {
  if (!isRecord(block) || typeof block.type !== 'string') {
    report('block-type', path, `Expected a block with a type, got ${describe(block)}.`);
    return;
  }
  const { type } = block;
  if (type === 'text' && (typeof block.text !== 'string' || !/\S/.test(block.text)))
    report('blank-content', `${path}.text`, 'Expected text that is not blank.');
  if (type === 'thinking' && (typeof block.signature !== 'string' || block.signature === ''))
    report('unsigned-thinking', `${path}.signature`, 'Expected a signature.');
  if (/^(redacted_)?thinking$|^reasoning/.test(type) && kind !== 'ai')
    report('block-not-allowed', path, `Expected ${type} in messages of the model only.`);
  if (kind === 'system' && type !== 'text') report('block-not-allowed', path, `Expected text in a system message, got ${type}.`);
}

import { isBytes } from '../../../any-realm.ts';
import { type Fields, isRecord, type Report } from '../report.ts';
import type { WireBlock, WireMessage } from './messages.ts';
import { readThinking } from './parameters.ts';

/**
 * Claude takes reasoning with its signature, never as the last word of the assistant, and with thinking enabled an open tool loop begins
 * with it. Other models take no signature.
 */
export function checkReasoning(input: Fields, messages: readonly WireMessage[], report: Report): void {
  const model = typeof input.modelId === 'string' ? input.modelId : '';
  const isClaude = /claude/.test(model);
  const isOther = /(?:^|[./])(?:amazon|deepseek|meta|mistral|openai|qwen|moonshot|minimax|zai|writer|cohere|ai21)\./.test(model);
  for (const { role, blocks } of messages) {
    const last = blocks.at(-1);
    if (isClaude && role === 'assistant' && last && isReasoning(last))
      report('reasoning-last', last.path, 'Expected an assistant message not to end in reasoning.');
    for (const block of blocks) if (isReasoning(block)) checkBlock(block, { isClaude, isOther }, report);
  }
  if (!isClaude || readThinking(input)?.type !== 'enabled') return;
  const opening = openLoop(messages)?.blocks[0];
  if (opening && !isReasoning(opening))
    report('reasoning-first', opening.path, `Expected the open tool loop to start with reasoning, found ${opening.kind}.`);
}

function checkBlock(
  { fields, path }: WireBlock,
  { isClaude, isOther }: { isClaude: boolean; isOther: boolean },
  report: Report,
): void {
  const { reasoningText, redactedContent } = fields;
  if (isRecord(reasoningText)) {
    const { text, signature } = reasoningText;
    if (typeof text !== 'string') report('reasoning-shape', path, 'Expected the text of the reasoning.');
    if (signature !== undefined && (typeof signature !== 'string' || signature === ''))
      report('reasoning-signature', path, 'Expected a signature that says something.');
    else if (isClaude && signature === undefined) report('reasoning-signature', path, 'Expected reasoning with its signature.');
    else if (isOther && signature !== undefined)
      report('reasoning-signature', path, 'Expected no signature: this model has none.');
  } else if (!(isBytes(redactedContent) && redactedContent.byteLength > 0))
    report('reasoning-shape', path, 'Expected a text of reasoning, or redacted content as a Uint8Array.');
}

/** The assistant message that started the tool loop in which the request ends. */
function openLoop(messages: readonly WireMessage[]): WireMessage | undefined {
  const turns = messages.filter(({ role }) => role !== 'system');
  if (!turns.at(-1)?.blocks.some(isResult)) return undefined;
  const start = turns.findLastIndex(({ role, blocks }) => role === 'user' && !blocks.some(isResult));
  return turns[start + 1];
}

function isResult({ kind }: WireBlock): boolean {
  return kind === 'toolResult';
}

function isReasoning({ kind }: WireBlock): boolean {
  return kind === 'reasoningContent';
}

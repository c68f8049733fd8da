import { isRecord, type Report } from '../report.ts';
import type { WireBlock, WireTurn } from './turns.ts';

/** Thinking is signed and never the last word of the assistant, and with thinking enabled an open tool loop begins with it. */
export function checkThinking(thinking: unknown, turns: readonly WireTurn[], report: Report): void {
  for (const { role, blocks } of turns) {
    const last = blocks.at(-1);
    if (role === 'assistant' && last && isThinking(last))
      report('thinking-last', last.path, 'Expected an assistant turn not to end in thinking.');
    for (const { type, fields, path } of blocks) {
      const seal = type === 'thinking' ? fields.signature : type === 'redacted_thinking' ? fields.data : 'none needed';
      if (typeof seal !== 'string' || seal === '') report('thinking-signature', path, 'Expected thinking with its signature.');
    }
  }
  if (!isRecord(thinking) || thinking.type !== 'enabled') return;
  const opening = openLoop(turns)?.blocks.find(({ type }) => type !== 'compaction');
  if (opening && !isThinking(opening))
    report('thinking-first', opening.path, `Expected the open tool loop to start with thinking, found ${opening.type}.`);
}

/** The assistant turn that started the tool loop in which the request ends. */
function openLoop(turns: readonly WireTurn[]): WireTurn | undefined {
  if (!turns.at(-1)?.blocks.some(isResult)) return undefined;
  const start = turns.findLastIndex(({ role, blocks }) => role === 'user' && !blocks.some(isResult));
  const opening = turns[start + 1];
  return opening?.role === 'assistant' ? opening : undefined;
}

function isResult({ type }: WireBlock): boolean {
  return type === 'tool_result';
}

function isThinking({ type }: WireBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

import type { MediaPart, NativePart, ReasoningPart, TextPart } from '../../message.ts';
import { type Fields, isNothing, isRecord, listOf, stringOf, withoutFields } from '../fields.ts';
import { nativePart, textParts } from '../neutral-parts.ts';
import { readMedia } from './read-media.ts';

type ContentPart = TextPart | ReasoningPart | MediaPart | NativePart;

/** Blocks that say again what `tool_calls` says. */
const callBlocks: ReadonlySet<unknown> = new Set([
  'tool_use',
  'input_json_delta',
  'tool_call',
  'tool_call_chunk',
  'invalid_tool_call',
]);

/** Markers of the prompt cache move with every step: they are no content. */
const cacheMarkers = ['cache_control', 'cachePoint', 'prompt_cache_breakpoint'];

/** The content of a message: a text, or blocks of LangChain and of any provider. */
export function readContent(content: unknown): ContentPart[] {
  if (typeof content === 'string') return textParts(content);
  if (Array.isArray(content)) return listOf(content).flatMap(readBlock);
  return isNothing(content) ? [] : [nativePart({ content })];
}

/** What a tool returned: text and media. */
export function readResultContent(content: unknown): (TextPart | MediaPart | NativePart)[] {
  return readContent(content).map((part) => (part.type === 'reasoning' ? { type: 'text', text: part.text } : part));
}

export function isCallBlock(block: unknown): boolean {
  return isRecord(block) && (callBlocks.has(block.type) || isRecord(block.functionCall));
}

/** The text of a block of text; undefined for any other. */
export function textOfBlock(block: unknown): string | undefined {
  if (typeof block === 'string') return block;
  if (!isRecord(block) || typeof block.text !== 'string') return undefined;
  return block.type === 'text' || block.type === 'text_delta' || block.type === 'output_text' ? block.text : undefined;
}

function readBlock(block: unknown): ContentPart[] {
  const text = textOfBlock(block);
  if (text !== undefined) return textParts(text);
  if (!isRecord(block)) return isNothing(block) ? [] : [nativePart(block)];
  if (isCallBlock(block)) return [];
  if (block.type === 'refusal') return textParts(stringOf(block.refusal));
  const plain = withoutFields(block, cacheMarkers);
  if (Object.keys(plain).every((key) => key === 'type') && plain !== block) return []; // a marker alone
  return [readThought(plain) ?? readMedia(plain) ?? nativePart(plain)];
}

/** Thoughts that only their maker can read have no text, and are carried as they are. */
function readThought(block: Fields): ReasoningPart | undefined {
  const text = stringOf(block.type === 'thinking' ? block.thinking : block.type === 'reasoning' ? block.reasoning : '');
  return text === '' ? undefined : { type: 'reasoning', text };
}

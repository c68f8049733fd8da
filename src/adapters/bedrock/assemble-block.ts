import { isBytes } from '../../any-realm.ts';
import { type Fields, isRecord, listOf, stringOf } from '../fields.ts';
import { memberOf } from './blocks.ts';
import type { BedrockBlock } from './shape.ts';

/** A block as far as it came. */
export interface AssembledBlock {
  block: BedrockBlock;
  /** The provider said that it ends here. */
  closed: boolean;
  /** False where the arguments of a call are no JSON. */
  readable: boolean;
}

/** Puts one block together. */
export interface BlockAssembler {
  start(start: unknown): void;
  add(delta: unknown): void;
  close(): void;
  /** Undefined where nothing came that is known. */
  finish(): AssembledBlock | undefined;
}

export function assembleBlock(onText?: (text: string) => void): BlockAssembler {
  let start: Fields = {};
  let closed = false;
  let text: string | undefined;
  let json = '';
  const citations: unknown[] = [];
  const results: Fields[] = [];
  const reasoning: { text?: string; signature?: string } = {};
  const redacted: Uint8Array[] = [];
  let image: Fields = {};
  const imageBytes: Uint8Array[] = [];

  function addReasoning(delta: Fields): void {
    if (typeof delta.text === 'string') reasoning.text = (reasoning.text ?? '') + delta.text;
    if (typeof delta.signature === 'string') reasoning.signature = (reasoning.signature ?? '') + delta.signature;
    if (isBytes(delta.redactedContent)) redacted.push(delta.redactedContent);
  }

  function addResult(piece: unknown): void {
    if (!isRecord(piece)) return;
    const last = results.at(-1);
    if (typeof piece.text === 'string' && typeof last?.text === 'string') last.text += piece.text;
    else results.push({ ...piece });
  }

  function addImage(delta: Fields): void {
    const { source, ...rest } = delta;
    const bytes = isRecord(source) ? source.bytes : undefined;
    if (isBytes(bytes)) imageBytes.push(bytes);
    image = { ...image, ...rest, ...(bytes === undefined && source !== undefined && { source }) };
  }

  function buildBlock(): BedrockBlock | undefined {
    const result = memberOf(start, 'toolResult');
    if (result) return { toolResult: { ...result, content: results } };
    const picture = memberOf(start, 'image');
    if (picture) {
      const source = imageBytes.length > 0 ? { source: { bytes: joinBytes(imageBytes) } } : {};
      return { image: { ...picture, ...image, ...source } };
    }
    if (redacted.length > 0) return { reasoningContent: { redactedContent: joinBytes(redacted) } };
    if (reasoning.text !== undefined || reasoning.signature !== undefined)
      return { reasoningContent: { reasoningText: { text: '', ...reasoning } } };
    if (citations.length > 0) return { citationsContent: { content: [{ text: text ?? '' }], citations } };
    return text === undefined ? undefined : { text };
  }

  return {
    start(given) {
      if (isRecord(given)) start = given;
    },
    add(delta) {
      if (!isRecord(delta)) return;
      if (typeof delta.text === 'string') {
        text = (text ?? '') + delta.text;
        if (delta.text !== '') onText?.(delta.text);
      }
      json += stringOf(memberOf(delta, 'toolUse')?.input);
      listOf(delta.toolResult).forEach(addResult);
      if (isRecord(delta.reasoningContent)) addReasoning(delta.reasoningContent);
      if (isRecord(delta.citation)) citations.push(delta.citation);
      if (isRecord(delta.image)) addImage(delta.image);
    },
    close() {
      closed = true;
    },
    finish() {
      const call = memberOf(start, 'toolUse');
      if (!call) {
        const block = buildBlock();
        return block && { block, closed, readable: true };
      }
      const input = parseInput(json);
      return { block: { toolUse: { ...call, input } }, closed, readable: input !== undefined };
    },
  };
}

/** A call without arguments sends none. Undefined for what is no JSON. */
function parseInput(json: string): unknown {
  if (json === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.byteLength;
  }
  return joined;
}

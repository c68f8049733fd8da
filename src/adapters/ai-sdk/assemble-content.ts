import { isNothing, isRecord, stringOf } from '../fields.ts';
import { isPart, type Part } from './parts.ts';
import { optionOf } from './provider-options.ts';

/** A reply as far as it came. */
export interface RawReply {
  content: readonly Part[];
  /** Undefined where the stream ended without saying how. */
  finishReason: unknown;
  usage: unknown;
}

export interface ContentAssembler {
  take(part: unknown): void;
  finish(): RawReply;
}

/** Parts of a stream that come whole and stand in the content as they are. */
const wholeTypes: ReadonlySet<string> = new Set(['tool-call', 'tool-result', 'tool-approval-request', 'file', 'source']);

/** Puts the content of a reply together from the parts of a stream. Unknown parts are ignored. */
export function assembleContent(onText?: (text: string) => void): ContentAssembler {
  const content: Part[] = [];
  const open = new Map<string, Part & { text: string }>();
  let finishReason: unknown;
  let usage: unknown;

  function takePiece(kind: string, part: Part): void {
    const key = `${kind} ${stringOf(part.id)}`;
    const isNew = part.type.endsWith('-start') || !open.has(key);
    const block = (isNew ? undefined : open.get(key)) ?? { type: kind, text: '' };
    if (isNew) content.push(block);
    open.set(key, block);
    if (!isNothing(part.providerMetadata)) block.providerMetadata = part.providerMetadata;
    const delta = stringOf(part.delta);
    block.text += delta;
    if (kind === 'text' && delta !== '' && !isCommentary(block)) onText?.(delta);
  }

  return {
    take(part) {
      if (!isPart(part)) return;
      const [, kind] = /^(text|reasoning)-(?:start|delta|end)$/.exec(part.type) ?? [];
      if (kind) takePiece(kind, part);
      else if (wholeTypes.has(part.type)) content.push(part);
      else if (part.type === 'error') throw part.error;
      else if (part.type === 'finish') {
        finishReason = part.finishReason;
        usage = part.usage;
      }
    },
    finish: () => ({ content, finishReason, usage }),
  };
}

/** The commentary of a model at work is no part of its answer. */
export function isCommentary({ providerMetadata }: Part): boolean {
  return isRecord(providerMetadata) && optionOf(providerMetadata, 'phase') === 'commentary';
}

import { type Fields, isRecord, listOf } from '../fields.ts';
import { callIn } from './function-parts.ts';
import type { GeminiContent, GeminiPart } from './shape.ts';

/** The contents of a streamed reply. There are several where the SDK runs tools by itself: then the results are among them. */
export interface ContentAssembly {
  add(content: unknown): void;
  contents(): GeminiContent[];
}

/**
 * Puts the pieces of a streamed reply together. Texts that follow each other are one, unless a signature belongs to one of them. What
 * says nothing is left out.
 */
export function assembleContents(): ContentAssembly {
  const contents: { role: string; parts: Fields[] }[] = [];
  return {
    add(content) {
      if (!isRecord(content)) return;
      const role = content.role === 'user' || content.role === 'function' ? 'user' : 'model';
      for (const part of listOf(content.parts)) {
        if (!isRecord(part) || isEmptyText(part)) continue;
        let last = contents.at(-1);
        if (last?.role !== role) {
          last = { role, parts: [] };
          contents.push(last);
        }
        const before = last.parts.at(-1);
        if (before && continues(before, part)) before.text = `${before.text}${part.text}`;
        else last.parts.push({ ...part });
      }
    },
    contents: () => contents.map(({ role, parts }): GeminiContent => ({ role, parts: parts as readonly GeminiPart[] })),
  };
}

function isEmptyText(part: Fields): boolean {
  return Object.entries(part).every(([key, value]) => key === 'thought' || (key === 'text' && value === ''));
}

/** Both are nothing but text, thought or said. */
function continues(before: Fields, part: Fields): boolean {
  return isPlainText(before) && isPlainText(part) && (before.thought === true) === (part.thought === true);
}

function isPlainText(part: Fields): boolean {
  return typeof part.text === 'string' && Object.keys(part).every((key) => key === 'text' || key === 'thought');
}

/** A call whose arguments come in pieces is not read: its first piece says nothing of them. */
export function isCallInPieces(part: unknown): boolean {
  const call = callIn(part);
  return call !== undefined && (call.willContinue === true || 'partialArgs' in call);
}

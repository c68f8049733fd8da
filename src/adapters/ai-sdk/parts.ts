import { type Fields, isBlank, isRecord } from '../fields.ts';
import type { AiSdkMessage, AiSdkPart } from './shape.ts';

/** A part whose other fields are read or written. */
export type Part = Fields & AiSdkPart;

export function isPart(value: unknown): value is Part {
  return isRecord(value) && typeof value.type === 'string' && value.type !== '';
}

/** The parts of a message: a string is one text. */
export function partsOf({ content }: AiSdkMessage): readonly AiSdkPart[] {
  return typeof content === 'string' ? [textPart(content)] : (content ?? []);
}

export function textPart(text: string): Part {
  return { type: 'text', text };
}

export function isBlankText(part: unknown): boolean {
  return isRecord(part) && part.type === 'text' && (typeof part.text !== 'string' || isBlank(part.text));
}

/** A call of one of the caller's own tools. */
export function isClientCall(part: unknown): part is Part & { toolName: string } {
  return isPart(part) && part.type === 'tool-call' && part.providerExecuted !== true && typeof part.toolName === 'string';
}

/** The provider's own tools run in between, and so do the caller's. */
export function isToolActivity({ type }: AiSdkPart): boolean {
  return type === 'tool-call' || type === 'tool-result' || type === 'tool-approval-request';
}

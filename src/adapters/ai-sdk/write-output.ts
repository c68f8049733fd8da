import type { ToolResultPart } from '../../message.ts';
import { isBlank } from '../fields.ts';
import { errorWithoutText } from '../placeholders.ts';
import { isPart, type Part, textPart } from './parts.ts';

/** What a tool returned, as the SDK takes it. An attachment leaves no place for the mark of an error. */
export function writeOutput({ content, isError }: ToolResultPart): Part {
  if (content.every((part) => part.type === 'text')) {
    const text = content.map((part) => part.text.toWellFormed()).join('\n');
    return isError ? { type: 'error-text', value: isBlank(text) ? errorWithoutText : text } : { type: 'text', value: text };
  }
  const value = content.flatMap((part): unknown[] => {
    if (part.type === 'text') return isBlank(part.text) ? [] : [textPart(part.text.toWellFormed())];
    return isPart(part.value) ? [part.value] : [];
  });
  return { type: 'content', value };
}

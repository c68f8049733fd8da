import { textOf } from '../../message.ts';
import { isBlank } from '../fields.ts';
import { isInstruction } from '../openai-responses/item-kinds.ts';
import { readItem } from '../openai-responses/read-item.ts';
import type { ResponsesItem, ResponsesRequest } from '../openai-responses/shape.ts';

/**
 * The request with the system text of its items in `instructions`, where alone the backend takes it: trimmed, with a blank line between.
 */
export function moveInstructions<R extends ResponsesRequest>(request: R, items: readonly ResponsesItem[]): R {
  const moved = new Set(items.filter(isTextual));
  if (moved.size === 0) return request;
  const texts = [request.instructions ?? '', ...[...moved].map(readText)]
    .filter((text) => !isBlank(text))
    .map((text) => text.trim());
  return { ...request, instructions: texts.join('\n\n'), input: items.filter((item) => !moved.has(item)) };
}

/** What is more than text has no other place. */
function isTextual(item: ResponsesItem): boolean {
  return isInstruction(item) && readContent(item).every(({ parts }) => parts.every(({ type }) => type === 'text'));
}

function readText(item: ResponsesItem): string {
  return readContent(item).map(textOf).join('\n');
}

function readContent({ role, content }: ResponsesItem) {
  return readItem({ role, content });
}

import { isNothing, isRecord } from '../fields.ts';
import { describeValue, invalidRequest, refuseOtherShape } from '../invalid-request.ts';
import { heldBefore } from './held-item.ts';
import { isRole } from './read-item.ts';
import type { ResponsesItem, ResponsesRequest } from './shape.ts';

/**
 * The conversation, with an item in front that stands for what the server holds of it.
 *
 * @throws CompactionError `invalid-request` that names the item.
 */
export function readItems(request: ResponsesRequest, provider = 'openai-responses'): readonly ResponsesItem[] {
  const input = readInput(request, provider);
  const held = heldBefore(request);
  return held ? [held, ...input] : input;
}

/**
 * The part of the conversation that the request holds; empty where it has none.
 *
 * @throws CompactionError `invalid-request` that names the item.
 */
export function readInput(request: ResponsesRequest, provider = 'openai-responses'): readonly ResponsesItem[] {
  const input: unknown = isRecord(request) ? request.input : request;
  if (input === undefined && isRecord(request)) {
    if (!heldBefore(request) && isNothing(request.prompt)) refuseOtherShape(provider, 'input', request);
    return [];
  }
  if (typeof input === 'string' && isRecord(request))
    return input === '' ? [] : [{ type: 'message', role: 'user', content: input }];
  if (!Array.isArray(input))
    throw invalidRequest(provider, `Expected \`input\` to be a text or an array of items, got ${describeValue(input)}.`);
  input.forEach((item: unknown, index) => {
    const problem = findProblem(item, `input[${index}]`);
    if (problem) throw invalidRequest(provider, problem);
  });
  // Checked just now, as far as the bound asks for it.
  return input as readonly ResponsesItem[];
}

/** What keeps an item from being read. */
function findProblem(item: unknown, name: string): string | undefined {
  if (!isRecord(item)) return `Expected \`${name}\` to be an object, got ${describeValue(item)}.`;
  const { type, role, id } = item;
  if (type === 'message' || (isNothing(type) && typeof role === 'string'))
    return isRole(role)
      ? undefined
      : `Expected \`${name}.role\` to be user, assistant, system or developer, got ${describeValue(role)}.`;
  if (typeof type === 'string' && type !== '') return undefined;
  if (type !== undefined && type !== null) return `Expected \`${name}.type\` to be a type, got ${describeValue(type)}.`;
  if (typeof id === 'string') return undefined;
  return `Expected \`${name}\` to have a type, a role or an id, got ${describeValue(type)}.`;
}

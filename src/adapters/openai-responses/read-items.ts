import { CompactionError } from '../../errors.ts';
import { isRecord } from '../openai-chat/fields.ts';
import type { ResponsesItem, ResponsesRequest } from './shape.ts';

const provider = 'openai-responses';

/**
 * The conversation; empty where the request has none of its own.
 *
 * @throws CompactionError `invalid-request` that names the item.
 */
export function readItems(request: ResponsesRequest): readonly ResponsesItem[] {
  const input: unknown = isRecord(request) ? request.input : request;
  if (input === undefined && isRecord(request)) return [];
  if (typeof input === 'string' && isRecord(request))
    return input === '' ? [] : [{ type: 'message', role: 'user', content: input }];
  if (!Array.isArray(input)) throw invalid(`Expected \`input\` to be a text or an array of items, got ${describe(input)}.`);
  input.forEach(checkItem);
  // Checked just now, as far as the bound asks for it.
  return input as readonly ResponsesItem[];
}

function checkItem(item: unknown, index: number): void {
  const name = `input[${index}]`;
  if (!isRecord(item)) throw invalid(`Expected \`${name}\` to be an object, got ${describe(item)}.`);
  const { type, role, id } = item;
  if (typeof type === 'string' && type !== '') return;
  if (type !== undefined && type !== null) throw invalid(`Expected \`${name}.type\` to be a type, got ${describe(type)}.`);
  if (typeof role !== 'string' && typeof id !== 'string')
    throw invalid(`Expected \`${name}\` to have a type, a role or an id, got ${describe(type)}.`);
}

function invalid(message: string): CompactionError {
  return new CompactionError('invalid-request', message, { provider });
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return Array.isArray(value) ? 'an array' : typeof value;
}

import { type Fields, isBlank, isNothing, isRecord, withoutFields } from '../fields.ts';
import { repairArguments } from '../tool-call.ts';
import { kindOf } from './item-kinds.ts';
import type { ResponsesItem } from './shape.ts';

/** What SDKs add to the items of a reply, and the provider refuses in a request. */
const addedFields = ['created_by', 'parsed', 'parsed_arguments'];

/**
 * See `ProviderAdapter.repairItem`. What the model itself put out stays, even where its text is blank: reasoning may be tied to it.
 * Arguments that are broken JSON stay: nobody knows what they were to be, and the history may still need the call.
 */
export function repairItem(item: ResponsesItem): ResponsesItem | undefined {
  const plain = withoutAddedFields(item);
  switch (kindOf(item)) {
    case 'message':
      return repairMessage(plain);
    case 'function_call':
      return sameOr(plain, repairArguments({ ...plain }), 'arguments');
    case 'function_call_output':
    case 'custom_tool_call_output':
      return plain.output === null || plain.output === undefined ? { ...plain, output: '' } : plain;
    default:
      return plain;
  }
}

/** The item without what SDKs add to it: the same object where nothing is added. */
export function withoutAddedFields(item: ResponsesItem): ResponsesItem {
  const cleaned = withoutFields({ ...item }, addedFields);
  for (const key of ['content', 'output']) {
    const list = cleaned[key];
    if (!Array.isArray(list) || !list.some(hasAddedFields)) continue;
    cleaned[key] = list.map((part: unknown) => (isRecord(part) ? withoutFields(part, addedFields) : part));
  }
  const original: Fields = { ...item };
  const same = Object.keys(original).every((key) => Object.is(original[key], cleaned[key]));
  return same ? item : cleaned;
}

/** The item without the id under which the server would look for it. */
export function withoutServerId(item: ResponsesItem): ResponsesItem {
  const { id: _id, status: _status, ...rest } = item;
  return rest;
}

function hasAddedFields(value: unknown): value is Fields {
  return isRecord(value) && addedFields.some((key) => key in value);
}

function sameOr(item: ResponsesItem, repaired: Fields, key: 'arguments'): ResponsesItem {
  return Object.is(item[key], repaired[key]) ? item : repaired;
}

function repairMessage(item: ResponsesItem): ResponsesItem | undefined {
  const { content } = item;
  if (!Array.isArray(content)) {
    const blank = typeof content === 'string' ? isBlank(content) : isNothing(content);
    return blank ? undefined : item;
  }
  const isOutput = item.role === 'assistant' && typeof item.id === 'string';
  const kept = content.filter((part) => !isNothing(part) && (isOutput || !isBlankPart(part)));
  if (kept.length === 0) return undefined;
  return kept.length === content.length ? item : { ...item, content: kept };
}

function isBlankPart(part: unknown): boolean {
  if (!isRecord(part)) return false;
  const text = part.type === 'refusal' ? part.refusal : /text$/.test(String(part.type)) ? part.text : undefined;
  return typeof text === 'string' && isBlank(text);
}

import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';
import { checkMessage, checkParts } from './check-message.ts';
import type { InputItem } from './read-input.ts';

/** Fields that are texts in each kind of item. */
const texts: ReadonlyMap<string, readonly string[]> = new Map([
  ['function_call', ['call_id', 'name', 'arguments']],
  ['custom_tool_call', ['call_id', 'name', 'input']],
  ['function_call_output', ['call_id']],
  ['custom_tool_call_output', ['call_id']],
  ['compaction', ['encrypted_content']],
  ['item_reference', ['id']],
]);
/** The texts that may be empty: a model decides about them. */
const maybeEmpty = new Set(['arguments', 'input']);

/** Code units of the id of a call. */
const longestId = 64;

const idPrefixes: ReadonlyMap<string, string> = new Map([
  ['function_call', 'fc'],
  ['reasoning', 'rs'],
]);

/** What SDKs add to the items of a reply. */
const addedFields = ['created_by', 'parsed_arguments'];

export function checkItem({ kind, item, path }: InputItem, report: Report): void {
  for (const field of addedFields)
    if (field in item) report('unknown-field', `${path}.${field}`, 'Expected no field that an SDK added.');
  const prefix = idPrefixes.get(kind);
  if (prefix && typeof item.id === 'string' && !item.id.startsWith(prefix))
    report('item-id', `${path}.id`, `Expected an id that begins with ${prefix}, got ${describe(item.id)}.`);
  for (const field of texts.get(kind) ?? []) {
    const value = item[field];
    // The output of a hand-off names its tool in place of a call.
    if (field === 'call_id' && isAbsent(value) && kind === 'function_call_output' && typeof item.name === 'string') continue;
    if (typeof value !== 'string' || (value === '' && !maybeEmpty.has(field)))
      report('item-field', `${path}.${field}`, `Expected a text, got ${describe(value)}.`);
  }
  if (typeof item.call_id === 'string' && item.call_id.length > longestId)
    report('call-id-long', `${path}.call_id`, `Expected at most ${longestId} characters, got ${item.call_id.length}.`);
  if (kind === 'message') checkMessage(item, path, report);
  else if (kind === 'reasoning') checkSummary(item, path, report);
  else if (kind === 'function_call_output' || kind === 'custom_tool_call_output') checkOutput(item, path, report);
}

function checkSummary({ summary }: Fields, path: string, report: Report): void {
  if (!Array.isArray(summary) || !summary.every((part) => isRecord(part) && typeof part.text === 'string'))
    report('reasoning-summary', `${path}.summary`, `Expected an array of summary texts, got ${describe(summary)}.`);
}

/** A tool may return nothing, but it must say so. */
function checkOutput({ output }: Fields, path: string, report: Report): void {
  if (typeof output === 'string') return;
  if (Array.isArray(output)) checkParts(output, 'user', `${path}.output`, report);
  else report('output-type', `${path}.output`, `Expected a text or an array of content parts, got ${describe(output)}.`);
}

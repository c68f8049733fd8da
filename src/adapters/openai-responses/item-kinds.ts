import { stringOf } from '../fields.ts';
import type { ResponsesItem } from './shape.ts';

/** The type of an item, which messages and references may leave out. */
export function kindOf(item: ResponsesItem): string {
  return stringOf(item.type) || (typeof item.role === 'string' ? 'message' : 'item_reference');
}

/** What a provider gives the model beside its output: it never completes a thought of the model. */
const inputKinds = new Set(['additional_tools', 'compaction_trigger', 'mcp_approval_response']);

/** True for what a model puts out, its reasoning included. Unknown items count: new ones come from the provider's side. */
export function isModelItem(item: ResponsesItem): boolean {
  const kind = kindOf(item);
  if (kind === 'message') return item.role === 'assistant';
  return !kind.endsWith('_output') && !inputKinds.has(kind);
}

/** True for a message that instructs the model. */
export function isInstruction(item: ResponsesItem): boolean {
  return kindOf(item) === 'message' && (item.role === 'system' || item.role === 'developer');
}

export function isReasoning(item: ResponsesItem): boolean {
  return kindOf(item) === 'reasoning';
}

/** The commentary of a model at work is no part of its answer. */
export function isCommentary(item: ResponsesItem): boolean {
  return item.phase === 'commentary';
}

/** The provider's own tools run in between, and so do the caller's. */
export function isToolActivity(item: ResponsesItem): boolean {
  return /(?:_call|_output|^program)$|^mcp_/.test(kindOf(item));
}

/** What a call waits for, as a key that its result has, too; undefined for what no caller answers. */
export function callKey(item: ResponsesItem): string | undefined {
  const kind = kindOf(item);
  if (kind === 'mcp_approval_request') return keyOf(kind, item.id);
  if (!kind.endsWith('_call') && kind !== 'program') return undefined;
  // Run by the provider, or holding its own result.
  if (('execution' in item && item.execution === 'server') || 'output' in item) return undefined;
  return keyOf(kind, item.call_id);
}

/** The key of the call that an item answers; undefined for other items, hand-off outputs without a call among them (B020). */
export function resultKey(item: ResponsesItem): string | undefined {
  const kind = kindOf(item);
  if (kind === 'mcp_approval_response')
    return keyOf('mcp_approval_request', 'approval_request_id' in item ? item.approval_request_id : undefined);
  if (kind === 'tool_search_output') return keyOf('tool_search_call', item.call_id);
  if (!kind.endsWith('_call_output') && kind !== 'program_output') return undefined;
  // Only `local_shell_call_output` has the call's id in its own.
  const id = kind === 'local_shell_call_output' ? (item.call_id ?? item.id) : item.call_id;
  return keyOf(kind.slice(0, -'_output'.length), id);
}

/** True for the calls that the library can answer itself: those of the caller's own tools. */
export function isOwnCall(item: ResponsesItem): boolean {
  const kind = kindOf(item);
  return (kind === 'function_call' || kind === 'custom_tool_call') && callKey(item) !== undefined;
}

/** True for the results of the caller's own tools. */
export function isOwnResult(item: ResponsesItem): boolean {
  const kind = kindOf(item);
  return (kind === 'function_call_output' || kind === 'custom_tool_call_output') && resultKey(item) !== undefined;
}

const writtenKinds = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call']);

/** True for what the model was writing when the stream was cut. The provider's own tools have a progress of their own. */
export function isUnfinished(item: ResponsesItem): boolean {
  return item.status === 'in_progress' && writtenKinds.has(kindOf(item)) && isModelItem(item);
}

function keyOf(kind: string, id: unknown): string | undefined {
  return typeof id === 'string' && id !== '' ? `${kind} ${id}` : undefined;
}

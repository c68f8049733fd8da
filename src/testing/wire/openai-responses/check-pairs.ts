import { describe, type Report } from '../report.ts';
import type { InputItem } from './read-input.ts';

/**
 * Each call is answered once, anywhere behind it, by a result of its own kind. What the server holds, behind a reference or in front of
 * the request, may be the other half.
 */
export function checkPairs(items: readonly InputItem[], resolvable: boolean, report: Report): void {
  const waiting = new Map<string, InputItem[]>();
  for (const entry of items) {
    const call = callOf(entry);
    if (call !== undefined) {
      const others = waiting.get(call);
      if (others) others.push(entry);
      else waiting.set(call, [entry]);
    }
    const result = resultOf(entry);
    if (result === undefined || waiting.get(result)?.pop()) continue;
    if (waiting.has(result)) report('duplicate-output', entry.path, `Expected one result for ${describe(result)}, got another.`);
    else if (!resolvable) report('orphan-output', entry.path, `Expected the call ${describe(result)} before its result.`);
  }
  if (resolvable && items.some(({ kind }) => kind === 'item_reference')) return;
  for (const [call, entries] of waiting)
    for (const { kind, path } of entries)
      if (kind !== 'mcp_approval_request') report('unanswered-call', path, `Expected a result for ${describe(call)} behind it.`);
}

/** Calls that the caller answers: not those that the provider ran, and not those that hold their own result. */
function callOf({ kind, item }: InputItem): string | undefined {
  if (kind === 'mcp_approval_request') return pairOf(kind, item.id); // which may stay without an answer
  if (!kind.endsWith('_call') || item.execution === 'server' || 'output' in item) return undefined;
  return pairOf(kind, item.call_id);
}

function resultOf({ kind, item }: InputItem): string | undefined {
  if (kind === 'mcp_approval_response') return pairOf('mcp_approval_request', item.approval_request_id);
  if (kind === 'tool_search_output') return pairOf('tool_search_call', item.call_id);
  if (!kind.endsWith('_call_output')) return undefined;
  // The result of a local shell has the id of its call as its own.
  const id = kind === 'local_shell_call_output' ? (item.call_id ?? item.id) : item.call_id;
  return pairOf(kind.slice(0, -'_output'.length), id);
}

function pairOf(kind: string, id: unknown): string | undefined {
  return typeof id === 'string' && id !== '' ? `${kind} ${id}` : undefined;
}

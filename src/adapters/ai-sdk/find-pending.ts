import { isRecord } from '../fields.ts';
import { isClientCall, partsOf } from './parts.ts';
import { optionOf } from './provider-options.ts';
import type { AiSdkMessage, AiSdkPart } from './shape.ts';

/**
 * Why the conversation must not be touched now; undefined where the next thing is simply the model's reply. Looks at the last turn alone:
 * what it left open is over once the assistant has gone on.
 */
export function findPending(items: readonly AiSdkMessage[]): string | undefined {
  const last = items.findLastIndex(({ role }) => role === 'assistant');
  const assistant = items[last];
  if (!assistant) return undefined;
  const after = items.slice(last + 1).filter(({ role }) => role !== 'system');
  // A prefill, or a paused turn that must go back unmodified: a prompt does not tell which.
  if (after.length === 0) return 'assistant-last';
  const parts = partsOf(assistant);
  const approvals = parts.filter((part) => approvalOf(part) !== undefined);
  const run = new Set(approvals.filter((part) => hasResult(part, parts)).map(approvalOf));
  // The caller's own tools have run when the SDK calls the model; those of the provider run in the very call. B011
  if (after.flatMap(partsOf).some((part) => part?.type === 'tool-approval-response' && !run.has(part.approvalId)))
    return 'tool-approval-response';
  if (approvals.length > run.size) return 'tool-approval-request';
  return parts.some((part) => isClientCall(part) && isCalledByCode(part.providerOptions)) ? 'provider-executed tool' : undefined;
}

/** The approval that a call of a provider's tool waits for; undefined where it waits for none. */
function approvalOf(part: AiSdkPart): unknown {
  return part?.type === 'tool-call' ? optionOf(part.providerOptions, 'approvalRequestId') : undefined;
}

function hasResult({ toolCallId }: AiSdkPart, parts: readonly AiSdkPart[]): boolean {
  return parts.some((part) => part?.type === 'tool-result' && part.toolCallId === toolCallId);
}

/** A call that a program made which runs at the provider, and goes on there with the result. */
function isCalledByCode(options: unknown): boolean {
  const caller = optionOf(options, 'caller');
  return isRecord(caller) && typeof caller.toolId === 'string';
}

import { isPart, partsOf } from './parts.ts';
import type { AiSdkMessage, AiSdkPart } from './shape.ts';

/**
 * The items without what the user said to approvals whose calls stood before them in the prompt and are gone. A prompt does not tell which
 * approval is of which call: those of one turn go together. B011
 */
export function dropApprovals(items: readonly AiSdkMessage[], before: readonly AiSdkMessage[]): readonly AiSdkMessage[] {
  const kept = new Set(items.flatMap(partsOf));
  const gone = new Set<AiSdkPart>();
  let calls: readonly AiSdkPart[] = [];
  for (const item of before) {
    if (item.role === 'tool') {
      const answers = partsOf(item).filter((part) => isPart(part) && part.type === 'tool-approval-response');
      if (calls.length > 0 && !calls.some((call) => kept.has(call))) for (const answer of answers) gone.add(answer);
    } else if (item.role !== 'system')
      calls = partsOf(item).filter((part) => isPart(part) && part.type === 'tool-call' && part.providerExecuted === true);
  }
  if (gone.size === 0) return items;
  return items.flatMap((item) => {
    const parts = partsOf(item);
    const rest = parts.filter((part) => !gone.has(part));
    if (rest.length === parts.length) return [item];
    return rest.length > 0 ? [{ ...item, content: rest }] : [];
  });
}

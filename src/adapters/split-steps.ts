import type { Message, Part } from '../message.ts';
import { hashText } from './hash-text.ts';

/**
 * A message of an assistant that holds the results of its own calls, as hosts keep them, in the steps in which it happened: what was
 * said, the calls, their results, and so on. Calls that have no id get one. K13
 */
export function splitSteps(message: Message): Message[] {
  const { role, parts } = message;
  if (role !== 'assistant' || !parts.some((part) => part.type === 'toolResult')) return [message];
  const steps: Message[] = [];
  let said: Part[] = [];
  let results: Part[] = [];
  const endStep = (): void => {
    if (said.length > 0) steps.push({ role: 'assistant', parts: said });
    if (results.length > 0) steps.push({ role: 'tool', parts: results });
    said = [];
    results = [];
  };
  for (const part of nameCalls(parts)) {
    if (part.type === 'toolResult') results.push(part);
    else {
      // Calls without a word between them were made together.
      if (results.length > 0 && part.type !== 'toolCall') endStep();
      said.push(part);
    }
  }
  endStep();
  return steps;
}

/**
 * Ids for calls that have none, the same for the same message; their results belong to them in order, and have the names of their tools.
 */
function nameCalls(parts: readonly Part[]): Part[] {
  const hash = hashText(JSON.stringify(parts.flatMap((part) => (part.type === 'toolCall' ? [part.name, part.input] : []))));
  let calls = 0;
  let results = 0;
  const names = new Map<string, string>();
  return parts.map((part) => {
    if (part.type === 'toolCall') {
      const id = part.id || `historical_${hash}_${calls++}`;
      names.set(id, part.name);
      return { ...part, id };
    }
    if (part.type !== 'toolResult') return part;
    const callId = part.callId || `historical_${hash}_${results++}`;
    const name = part.name ?? names.get(callId);
    return { ...part, callId, ...(name !== undefined && { name }) };
  });
}

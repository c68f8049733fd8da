import type { RequestContext } from '../adapter.ts';
import { fieldsOf, isNothing, isRecord, listOf } from '../fields.ts';
import { purposeOf } from './parts.ts';
import { readItems } from './read-items.ts';
import type { GenkitRequest } from './shape.ts';

/** Where plugins take the output cap: the first is Genkit's own, the others reach OpenAI-compatible servers and DeepSeek. */
export const capFields = ['maxOutputTokens', 'max_completion_tokens', 'max_tokens', 'maxTokens'] as const;

/** The name of the model is not in its request; nothing is held by a server or pending between two requests. */
export function readContext(request: GenkitRequest): RequestContext {
  const config = fieldsOf(request.config);
  const cap = capFields.map((field) => config[field]).find((value) => typeof value === 'number' && value > 0);
  const tools = isNothing(config.tools) ? request.tools : [...listOf(request.tools), ...listOf(config.tools)];
  return {
    model: typeof config.version === 'string' ? config.version : undefined,
    system: holdsDocuments(request) ? undefined : request.docs,
    tools: isNothing(tools) ? undefined : tools,
    // Listed above are numbers alone.
    outputCap: typeof cap === 'number' ? cap : undefined,
  };
}

/** Genkit writes the documents into the newest message of the user, once: from then on they are counted there. */
function holdsDocuments(request: GenkitRequest): boolean {
  if (isNothing(request.docs)) return true;
  const newest = readItems(request).findLast(({ role }) => role === 'user');
  return listOf(newest?.content).some((part) => purposeOf(part) === 'context' && !isPending(part));
}

/** A place that was kept free for them. */
function isPending(part: unknown): boolean {
  return isRecord(part) && isRecord(part.metadata) && Boolean(part.metadata.pending);
}

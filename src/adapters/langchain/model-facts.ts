import { type Fields, fieldsOf, isRecord, stringOf } from '../fields.ts';

/** Where models and their settings have the output cap. */
export const capFields = [
  'maxTokens',
  'max_tokens',
  'maxOutputTokens',
  'max_output_tokens',
  'maxCompletionTokens',
  'max_completion_tokens',
] as const;

/** What is in a chat model, under what was wrapped around it. */
function unwrap(model: unknown): Fields {
  let inner = fieldsOf(model);
  for (let depth = 0; depth < 5 && isRecord(inner.bound); depth++) inner = inner.bound;
  // `initChatModel` makes the model when it is called.
  return isRecord(inner._defaultConfig) ? { ...inner._defaultConfig } : inner;
}

export function modelName(model: unknown): string | undefined {
  if (typeof model === 'string') return model;
  const { model: name, modelName: older } = unwrap(model);
  return stringOf(name) || stringOf(older) || undefined;
}

/** The output cap among these settings, or that of the model. */
export function outputCap(model: unknown, settings: unknown): number | undefined {
  for (const fields of [fieldsOf(settings), unwrap(model)])
    for (const key of capFields) {
      const cap = fields[key];
      if (typeof cap === 'number' && cap > 0) return cap;
    }
  return undefined;
}

/** Of these the packages send `none` as their providers know it. That for Bedrock throws; that for Anthropic loses the cache, or a tool. */
const knowNone: ReadonlySet<string> = new Set(['openai', 'azure_openai', 'google', 'google-genai', 'googlegenerativeai']);

/** True where tools can be forbidden without a price. Elsewhere attempts are denied. */
export function canForbidTools(model: unknown): boolean {
  const inner = unwrap(model);
  const { modelProvider, _llmType: typeOf } = inner;
  return knowNone.has(stringOf(modelProvider) || (typeof typeOf === 'function' ? stringOf(typeOf.call(inner)) : ''));
}

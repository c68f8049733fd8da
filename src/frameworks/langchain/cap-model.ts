import { type Fields, fieldsOf, isNothing, isRecord, withoutFields } from '../../adapters/fields.ts';
import { capFields } from '../../adapters/langchain/model-facts.ts';

/** What a private call must not do. Among a model's own fields and what it sends besides. */
const neutralized = ['n', 'stop', 'stopSequences', 'candidateCount'];

/**
 * The model with another output cap, one answer and no stop words: a copy, or the very same object where it has no such fields. Packages
 * read these from the model alone; no option of a call reaches them.
 */
export function capModel(model: object, maxTokens: number): object {
  const fields: Fields = { ...model };
  const changes: Fields = {};
  const cap = maxTokens + thinkingBudget(fields);
  for (const key of capFields) if (key in fields) changes[key] = cap;
  for (const key of neutralized) if (!isNothing(fields[key])) changes[key] = undefined;
  if (isRecord(fields.modelKwargs)) changes.modelKwargs = withoutFields(fields.modelKwargs, [...neutralized, ...capFields]);
  // `initChatModel` makes the model when it is called, by whichever package: each has its own name for the cap.
  if (isRecord(fields._defaultConfig)) {
    const config = withoutFields(fields._defaultConfig, neutralized);
    changes._defaultConfig = { ...config, maxTokens: cap, maxOutputTokens: cap };
  }
  // What was wrapped, and to what the package for OpenAI hands a call on.
  for (const key of ['bound', 'completions', 'responses']) {
    const inner = fields[key];
    if (isRecord(inner)) changes[key] = capModel(inner, maxTokens);
  }
  if (Object.entries(changes).every(([key, value]) => value === fields[key])) return model;
  return Object.create(Object.getPrototypeOf(model), Object.getOwnPropertyDescriptors({ ...fields, ...changes }));
}

/** Thinking counts against the cap. */
function thinkingBudget({ thinking, thinkingConfig, thinkingBudget }: Fields): number {
  const budget = fieldsOf(thinking).budget_tokens ?? fieldsOf(thinkingConfig).thinkingBudget ?? thinkingBudget;
  return typeof budget === 'number' && budget > 0 ? budget : 0;
}

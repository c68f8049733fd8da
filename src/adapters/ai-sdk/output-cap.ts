import { type Fields, isRecord } from '../fields.ts';
import { optionOf } from './provider-options.ts';
import type { AiSdkRequest } from './shape.ts';

/** The cap that the provider is sent, where the request has one. */
export function readOutputCap({ maxOutputTokens, providerOptions }: AiSdkRequest): number | undefined {
  const cap = maxOutputTokens ?? optionOf(providerOptions, 'maxCompletionTokens');
  return typeof cap === 'number' && cap > 0 ? cap + addedThinking(providerOptions) : undefined;
}

/** For Claude the SDK adds the budget of thinking tokens to the cap by itself. */
function addedThinking(options: unknown): number {
  const thinking = thinkingByBudget(options);
  return thinking ? readBudget(thinking, 'budgetTokens') : 0;
}

/** How the model thinks, where it has a budget for that: Claude. */
export function thinkingByBudget(options: unknown): Fields | undefined {
  return ['thinking', 'reasoningConfig']
    .map((key) => optionOf(options, key))
    .filter(isRecord)
    .find(({ type }) => type === 'enabled');
}

/** Gemini's thinking tokens count against the cap, which has to hold them. */
export function includedThinking(options: unknown): number {
  const thinking = optionOf(options, 'thinkingConfig');
  return isRecord(thinking) ? readBudget(thinking, 'thinkingBudget') : 0;
}

function readBudget(thinking: Fields, key: string): number {
  const budget = thinking[key];
  return typeof budget === 'number' && Number.isFinite(budget) && budget > 0 ? budget : 0;
}

import type { TokenFamily } from '../adapters/adapter.ts';
import { isClaude47OrLater, type ModelMaker, makerOf } from './model-name.ts';

/** Measured on a mix of source, JSON, diffs, logs and prose, except Claude's, whose tokenizer is not public: published figures. */
const ratios: Record<Exclude<ModelMaker, 'anthropic'>, number> = {
  openai: 1,
  google: 1.2,
  qwen: 1.1,
  llama: 1,
  deepseek: 1.03,
};

/** Between the makers' own: an unknown vocabulary of today is rarely better than o200k. */
const genericRatio = 1.1;

/**
 * How many tokens of a model one o200k token is, before usage has taught better: Claude up to 4.6 1.15, later Claude 1.5, Gemini 1.2,
 * Qwen 1.1, DeepSeek 1.03, Llama and OpenAI 1. By the model's name where it tells, else by family; `generic` is 1.1.
 *
 * @example
 * tokenRatio('openai', 'openrouter/qwen/qwen3-coder'); // 1.1
 */
export function tokenRatio(family: TokenFamily, model?: string): number {
  const maker = makerOf(model) ?? family;
  if (maker === 'generic') return genericRatio;
  if (maker === 'anthropic') return isClaude47OrLater(model) ? 1.5 : 1.15;
  return ratios[maker];
}

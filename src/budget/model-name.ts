/** A model's name in lower case, cut where no real name is that long: patterns are searched in it. */
export function normalizeModelName(model: string | undefined): string {
  return (model ?? '').slice(0, 256).toLowerCase();
}

/** Who made a model, where its name tells. */
export type ModelMaker = 'openai' | 'anthropic' | 'google' | 'qwen' | 'llama' | 'deepseek';

/** Distilled models carry two names, and the first of this list is whose tokenizer they use. `ollama/` is no Llama. */
const makers: readonly (readonly [ModelMaker, RegExp])[] = [
  ['anthropic', /claude|(?:^|[^a-z])(?:opus|sonnet|haiku|fable|mythos)(?:[^a-z]|$)/],
  ['google', /gemini|gemma|learnlm/],
  ['qwen', /qwen|qwq|qvq/],
  ['llama', /(?<!o)llama/],
  ['deepseek', /deepseek/],
  ['openai', /gpt|codex|davinci|computer-use-preview|(?:^|[^a-z0-9])o[134](?:[^a-z0-9]|$)/],
];

/**
 * Who made the model of that name, also inside names of gateways and clouds; undefined where the name does not tell.
 *
 * @example
 * makerOf('us.anthropic.claude-opus-4-7-v1:0'); // 'anthropic'
 */
export function makerOf(model: string | undefined): ModelMaker | undefined {
  const name = normalizeModelName(model);
  return makers.find(([, pattern]) => pattern.test(name))?.[0];
}

/**
 * True for Claude 4.7 and everything after it: a new tokenizer and larger images came with it. A name without a version
 * (`claude-opus-latest`) is the newest.
 *
 * @example
 * isClaude47OrLater('claude-sonnet-4-20250514'); // false: 4.0, then a date
 */
export function isClaude47OrLater(model: string | undefined): boolean {
  const version = /(?:claude|opus|sonnet|haiku|fable|mythos)\D*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(normalizeModelName(model));
  if (!version) return true;
  const major = Number(version[1]);
  return major > 4 || (major === 4 && Number(version[2] ?? 0) >= 7);
}

import type { ErrorFacts } from './read-error.ts';

/** Sizes in tokens, where an error tells them. */
export interface OverflowSizes {
  limit?: number;
  requested?: number;
}

const overflowCodes = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'model_context_window_exceeded',
  'exceed_context_size_error',
  'contextwindowexceedederror',
  'contextoverflowerror', // LangChain
]);

/** Digits, also in groups: `128,000`, `128.000`, `128 000`, `128_000`. */
const number = "\\d{1,3}(?:[,._' \\u00a0\\u202f]\\d{3})+|\\d+";

/**
 * Wordings of public errors. `#limit`, `#requested` and `#more` stand for numbers. The first that matches with a number wins, so the
 * exact ones stand before the loose ones.
 */
const overflowWordings: readonly RegExp[] = [
  // OpenAI, Azure, vLLM, OpenRouter, DeepSeek
  'maximum context length is #limit tokens.{0,60}?(?:resulted in|you requested(?: about)?) #requested tokens',
  'maximum context length (?:is|of) (?:only )?#limit',
  'exceeds? the configured limit of #limit tokens(?:.{0,60}?resulted in #requested tokens)?',
  'exceed(?:s|ed)? (?:the|this) (?:model.?s )?context window',
  // vLLM
  'you passed #requested input tokens.{0,100}?context length is only #limit',
  'prompt \\(length #requested\\) is longer than the maximum model length of #limit',
  // Anthropic
  'prompt is too long: #requested tokens > #limit maximum',
  'exceed context limit: #requested \\+ #more > #limit',
  // Fireworks
  'prompt is too long: #requested, model maximum context length: #limit',
  'prompt is too long',
  // Bedrock; Nova
  'input is too long',
  'number of input tokens exceeds maximum length',
  'too many total text bytes',
  // Google
  'input token count \\(?#requested\\)? exceeds the maximum number of tokens allowed \\(?#limit\\)?',
  'input token count.{0,40}?exceeds the maximum',
  'input token count is #requested but (?:the )?model only supports up to #limit',
  // xAI
  'maximum prompt length is #limit(?:.{0,40}?contains #requested tokens)?',
  // llama.cpp
  'request \\(#requested tokens\\) exceeds the available context size \\(#limit tokens\\)',
  'exceeds the available context size',
  // LM Studio, Ollama
  'greater than the context length',
  'context length of only #limit tokens',
  'input length exceeds the context length',
  // Copilot
  'prompt token count of #requested exceeds the limit of #limit',
  // Mistral
  'prompt contains #requested tokens.{0,60}?too large for model with #limit maximum context length',
  'too large for model with #limit maximum context length',
  // Moonshot
  'exceeded model token limit: #limit(?:.{0,20}?requested: #requested)?',
  // MiniMax
  'context window exceeds limit',
  // Poolside
  'exceeds the maximum allowed input length of #limit tokens',
  // Qwen
  'range of input length should be \\[\\d+, ?#limit\\]',
  // z.ai
  'prompt exceeds max length',
  // Cohere
  'tokens in the prompt cannot exceed #limit(?:.{0,20}?received #requested)?',
  // Text Generation Inference
  'max_new_tokens` must be <= #limit\\. given: #requested',
  // Groq, Cerebras
  'reduce the length of the (?:messages|prompt|input|completion)(?:.{0,40}?current length is #requested while limit is #limit)?',
  // What others say, without numbers. V40
  'context (?:length|window) exceeded',
  'maximum context (?:length|window)',
  'context window is too small',
  'exceeds (?:the )?(?:model.?s )?maximum context|exceeds model context|request exceeds the context',
  'input token count exceeds|exceeds the maximum number of tokens|maximum input tokens|too many tokens in the prompt',
  // Names that gateways put into the text of an error
  'context_length_exceeded|model_context_window_exceeded|exceed_context_size|contextwindowexceedederror',
].map(compile);

/** A single request that is larger than what a whole minute allows: waiting never helps, a smaller request does. */
const overRateLimit = compile('request too large.{0,120}?tokens per min.{0,60}?limit:? #limit.{0,20}?requested:? #requested');

/** Undefined where the error is not about the size of the context. */
export function matchOverflow({ codes, texts, limit, requested }: ErrorFacts): OverflowSizes | undefined {
  let found: OverflowSizes | undefined;
  for (const text of texts)
    for (const wording of overflowWordings) {
      const sizes = match(wording, text);
      if (sizes?.limit !== undefined) return sizes;
      found ??= sizes;
    }
  for (const code of codes) if (overflowCodes.has(code)) found ??= {};
  return found && { ...(limit === undefined ? {} : { limit }), ...(requested === undefined ? {} : { requested }) };
}

export function matchRequestOverRateLimit(texts: readonly string[]): OverflowSizes | undefined {
  for (const text of texts) {
    const sizes = match(overRateLimit, text);
    if (sizes && (sizes.requested ?? 0) > (sizes.limit ?? 0)) return sizes;
  }
  return undefined;
}

function match(wording: RegExp, text: string): OverflowSizes | undefined {
  const groups = wording.exec(text);
  if (!groups) return undefined;
  const { limit, requested, more } = groups.groups ?? {};
  const sizes: OverflowSizes = {};
  const most = parse(limit);
  const asked = parse(requested);
  if (most !== undefined) sizes.limit = most;
  if (asked !== undefined) sizes.requested = asked + (parse(more) ?? 0);
  return sizes;
}

function parse(digits: string | undefined): number | undefined {
  const value = Number(digits?.replace(/\D/g, '') || Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}

function compile(wording: string): RegExp {
  return new RegExp(
    wording.replace(/#(\w+)/g, (_, name: string) => `(?<${name}>${number})`),
    'i',
  );
}

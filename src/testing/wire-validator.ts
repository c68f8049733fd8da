import { CompactionError } from '../errors.ts';
import type { ProviderName } from './provider-kits.ts';
import { validateAiSdk } from './wire/ai-sdk.ts';
import { validateAnthropic } from './wire/anthropic.ts';
import { validateBedrock } from './wire/bedrock.ts';
import { validateGenkit } from './wire/genkit.ts';
import { validateGemini } from './wire/google-genai.ts';
import { validateLangchain } from './wire/langchain.ts';
import { validateOpenAiChat } from './wire/openai-chat.ts';
import { validateOpenAiCodex } from './wire/openai-codex.ts';
import { validateOpenAiResponses } from './wire/openai-responses.ts';
import type { WireViolation } from './wire/violation.ts';

const validators: Record<ProviderName, (request: unknown) => WireViolation[]> = {
  'openai-chat': validateOpenAiChat,
  'openai-responses': validateOpenAiResponses,
  'openai-codex': validateOpenAiCodex,
  anthropic: validateAnthropic,
  bedrock: validateBedrock,
  genkit: validateGenkit,
  'google-genai': validateGemini,
  'ai-sdk': validateAiSdk,
  langchain: validateLangchain,
};

/**
 * What says whether a provider would take a request, without asking it. It gives every rule that the request breaks; unknown fields are let
 * through. A request in which the assistant has the last word (a prefill) is refused, as the newest models do.
 *
 * @throws CompactionError `invalid-options` for a provider that is not known.
 * @example
 * const validate = wireValidator('anthropic');
 * validate({ model: 'claude', max_tokens: 100, messages: [] }).map(({ rule }) => rule); // ['no-messages']
 */
export function wireValidator(provider: ProviderName): (request: unknown) => WireViolation[] {
  const validator = Object.hasOwn(validators, provider) ? validators[provider] : undefined;
  if (validator) return validator;
  const known = Object.keys(validators).join(', ');
  throw new CompactionError('invalid-options', `Expected \`provider\` to be one of ${known}, got ${JSON.stringify(provider)}.`);
}

import { countTokens as countWith } from 'gpt-tokenizer/encoding/o200k_base';

const asText = { disallowedSpecial: new Set<string>() };

/** Tokens of a text in o200k. What looks like a special token is counted as the text that it is. */
export function countTokens(text: string): number {
  return countWith(text, asText);
}

/** How urgently a user interface should offer to compact by hand. */
export type CompactionSuggestion = 'none' | 'suggest' | 'warn' | 'critical';

/** From which part of the window on, most urgent first. K30 */
const levels = [
  [0.95, 'critical'],
  [0.8, 'warn'],
  [0.7, 'suggest'],
] as const;

/**
 * Whether a user interface should offer `/compact`: from 70 % of the window on, more urgently from 80 and from 95 %. `none` where either
 * number is not known.
 *
 * @param size `inputTokens`: the whole input of the last request, as the provider reported it. `contextWindow`: of the model, in tokens.
 * @example
 * suggestCompaction({ inputTokens: 90_000, contextWindow: 128_000 }); // 'suggest'
 */
export function suggestCompaction(size: {
  inputTokens: number | undefined;
  contextWindow: number | undefined;
}): CompactionSuggestion {
  const { inputTokens, contextWindow } = size;
  if (!isKnown(inputTokens) || !isKnown(contextWindow)) return 'none';
  return levels.find(([part]) => inputTokens >= contextWindow * part)?.[1] ?? 'none';
}

function isKnown(tokens: number | undefined): tokens is number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0;
}

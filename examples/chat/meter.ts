import { type CompactionSuggestion, suggestCompaction } from 'context-compactor';
import type { Tone } from './view.ts';

const advice: Record<CompactionSuggestion, { text: string; tone: Tone }> = {
  none: { text: '', tone: 'quiet' },
  suggest: { text: ' · /compact makes room', tone: 'good' },
  warn: { text: ' · the window is filling up: /compact makes room', tone: 'warning' },
  critical: { text: ' · the window is almost full: /compact makes room', tone: 'error' },
};

/** The context meter, with the advice of 70, 80 and 95 %. K30 */
export function describeSize({ tokens, contextWindow }: { tokens: number; contextWindow: number }): { text: string; tone: Tone } {
  const { text, tone } = advice[suggestCompaction({ inputTokens: tokens, contextWindow })];
  const percent = Math.floor((tokens / contextWindow) * 100);
  return { text: `${format(tokens)} / ${format(contextWindow)} tokens, ${percent} %${text}`, tone };
}

function format(tokens: number): string {
  return tokens.toLocaleString('en-US');
}

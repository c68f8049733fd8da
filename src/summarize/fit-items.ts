import { CompactionError } from '../errors.ts';
import { sumTokens, takeNewestItems } from '../history/newest-groups.ts';
import { type CutOptions, previewItems } from '../history/preview-items.ts';
import type { SizedItem } from '../history/protocol-groups.ts';

/** With less than this nothing can be said. */
const leastTokens = 64;

/**
 * @throws CompactionError `summarizer-overflow` where there is no room for anything of a conversation.
 */
export function requireRoom(tokens: number): void {
  if (tokens < leastTokens) throw tooLittleRoom(tokens);
}

export function tooLittleRoom(tokens: number): CompactionError {
  return new CompactionError(
    'summarizer-overflow',
    `Expected room for a part of the conversation in the summary request, but the window has only ${Math.max(0, tokens)} tokens for it.`,
  );
}

/**
 * All items where they fit; else the newest protocol groups, of the last of these but its newest steps; and where not even the newest fits,
 * previews of everything. V29
 *
 * @throws CompactionError `summarizer-overflow` where nothing of it fits.
 */
export function fitItems<Item>(
  items: readonly SizedItem<Item>[],
  room: number,
  options: CutOptions<Item>,
): readonly SizedItem<Item>[] {
  if (sumTokens(items) <= room) return items;
  const kept = takeNewestItems(items, room) ?? previewItems(items, room, options);
  const tokens = sumTokens(kept);
  if (kept.length === 0 || tokens > room)
    throw new CompactionError(
      'summarizer-overflow',
      `Expected the newest turn to fit the summary request in part, but it has ${tokens} tokens where there is room for ${room}.`,
    );
  return kept;
}

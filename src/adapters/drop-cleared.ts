/** How a shape tells that a message of the system is for one turn alone. */
export interface TurnScope<Item> {
  isPassing: (item: Item) => boolean;
  /** True for what ends such a turn: the next message of the user, results among them. */
  endsTurn: (item: Item) => boolean;
}

/**
 * The items without passing messages of the system that the model saw no more, because their turn was over, where what followed them or
 * what ended their turn is gone: behind a new beginning they would speak again. All others stay. V33
 */
export function dropCleared<Item>(items: readonly Item[], before: readonly Item[], scope: TurnScope<Item>): readonly Item[] {
  if (!items.some(scope.isPassing)) return items;
  const kept = new Set(items);
  const followers = new Map(items.map((item, index) => [item, items[index + 1]]));
  const cleared = new Set<Item>();
  // A host may put the very same object behind every message of the user: one of them is still shown.
  const shown = new Set<Item>();
  let end: Item | undefined;
  let follower: Item | undefined;
  for (const item of before.toReversed()) {
    if (scope.isPassing(item)) {
      const stays = end === undefined || (kept.has(end) && followers.get(item) === follower);
      (stays ? shown : cleared).add(item);
    } else if (scope.endsTurn(item)) end = item;
    follower = item;
  }
  return cleared.size === 0 ? items : items.filter((item) => !cleared.has(item) || shown.has(item));
}

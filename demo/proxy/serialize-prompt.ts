/**
 * A prompt in pieces, in the order in which a provider puts it together. The content of a message is apart from what stands around it, so
 * that a message that something is added to still begins like the one it was. Cache markers say what to cache, not what the model sees.
 */
export function serializePrompt(tools: unknown, system: unknown, items: readonly unknown[]): string[] {
  return [
    ...listOf(tools).filter(isSeen).map(serialize),
    ...listOf(system)
      .filter(isSeen)
      .map((block) => serialize(['system', block])),
    ...items.flatMap(serializeItem),
  ];
}

function serializeItem(item: unknown): string[] {
  if (typeof item !== 'object' || item === null) return [serialize(item)];
  const { content, parts = content, ...rest } = item as { content?: unknown; parts?: unknown; role?: unknown }; // any object may have them
  const blocks = typeof parts === 'string' ? [{ type: 'text', text: parts }] : listOf(parts);
  return [serialize(rest), ...blocks.filter(isSeen).map((block) => serialize([rest.role, block]))];
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** Bedrock's cache markers are blocks of their own. */
function isSeen(block: unknown): boolean {
  return typeof block !== 'object' || block === null || !('cachePoint' in block);
}

function serialize(value: unknown): string {
  return JSON.stringify(value, (key, inner) =>
    key === 'cache_control' || key === 'prompt_cache_breakpoint' ? undefined : inner,
  );
}

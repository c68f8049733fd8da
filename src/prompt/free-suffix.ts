/**
 * A suffix for delimiters that no text has: empty, `_2`, `_3` … Text that contains our delimiters stays as it is: the delimiters
 * change instead. Deterministic. The last group of the pattern, which must be global, is the suffix of what it finds.
 */
export function freeSuffix(texts: Iterable<string>, pattern: RegExp): string {
  const taken = new Set<string>();
  for (const text of texts) for (const match of text.matchAll(pattern)) taken.add(match.at(-1) ?? '');
  let suffix = '';
  for (let number = 2; taken.has(suffix); number++) suffix = `_${number}`;
  return suffix;
}

/**
 * What blocks say, as one text: citations cut a text into adjacent blocks; what something else stands between (undefined) is a paragraph of
 * its own.
 */
export function joinTexts(texts: readonly (string | undefined)[]): string {
  let joined = '';
  let isAdjacent = true;
  for (const text of texts) {
    if (text !== undefined) joined += joined !== '' && !isAdjacent ? `\n\n${text}` : text;
    isAdjacent = text !== undefined;
  }
  return joined;
}

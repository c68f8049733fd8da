import type { RequestRecord } from './request-record.ts';

/**
 * For each summary request, against the last turn request before it: the share of that turn's serialized blocks (tools, system,
 * content) which the summary request repeats as its beginning. 1 is all of it.
 */
export function prefixReuse(records: readonly RequestRecord[]): number[] {
  const shares: number[] = [];
  let turn: readonly string[] = [];
  for (const { purpose, blocks } of records) {
    if (purpose === 'summary') shares.push(repeatedShare(turn, blocks));
    else turn = blocks;
  }
  return shares;
}

function repeatedShare(earlier: readonly string[], later: readonly string[]): number {
  const firstDifference = earlier.findIndex((block, index) => block !== later[index]);
  const repeated = firstDifference === -1 ? earlier : earlier.slice(0, firstDifference);
  return lengthOf(earlier) === 0 ? 0 : lengthOf(repeated) / lengthOf(earlier);
}

function lengthOf(blocks: readonly string[]): number {
  return blocks.reduce((sum, block) => sum + block.length, 0);
}

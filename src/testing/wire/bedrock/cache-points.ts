import { type Fields, isRecord, type Report } from '../report.ts';
import type { WireMessage } from './messages.ts';

const mostPoints = 4;

/** Few cache points, each behind what it marks, and those that last an hour before those that last five minutes. */
export function checkCachePoints({ toolConfig, system }: Fields, messages: readonly WireMessage[], report: Report): void {
  for (const { blocks } of messages)
    blocks.forEach(({ kind, path }, index) => {
      if (kind !== 'cachePoint') return;
      const before = blocks[index - 1]?.kind;
      if (before === undefined) report('cache-point-first', path, 'Expected something before a cache point in its message.');
      if (before === 'reasoningContent') report('cache-point-after-reasoning', path, 'Expected no cache point behind reasoning.');
    });
  // In the order in which a prompt is made of them.
  const points = [
    ...pointsIn(isRecord(toolConfig) ? toolConfig.tools : undefined),
    ...pointsIn(system),
    ...messages.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === 'cachePoint').map(({ fields }) => fields)),
  ];
  if (points.length > mostPoints)
    report('cache-points', 'messages', `Expected at most ${mostPoints} cache points, found ${points.length}.`);
  const lasting = points.map(({ ttl }) => ttl === '1h');
  if (lasting.includes(false) && lasting.lastIndexOf(true) > lasting.indexOf(false))
    report('cache-point-order', 'messages', 'Expected cache points of an hour before those of five minutes.');
}

function pointsIn(list: unknown): Fields[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((block) => (isRecord(block) && isRecord(block.cachePoint) ? [block.cachePoint] : []));
}

import { type Fields, isRecord, type Report } from '../report.ts';

const mostMarkers = 4;

/** Few markers, and those that last an hour before those that last five minutes. */
export function checkCacheMarkers(body: Fields, report: Report): void {
  const markers = markersOf(body);
  if (markers.length > mostMarkers)
    report('cache-markers', 'cache_control', `Expected at most ${mostMarkers} cache markers, found ${markers.length}.`);
  const lasting = markers.map((marker) => isRecord(marker) && marker.ttl === '1h');
  if (lasting.lastIndexOf(true) > lasting.indexOf(false) && lasting.includes(false))
    report('cache-marker-order', 'cache_control', 'Expected cache markers of an hour before those of five minutes.');
}

/** In the order in which a prompt is made of them: tools, system blocks, blocks of messages and those inside, the request itself. */
function markersOf({ cache_control, tools, system, messages }: Fields): unknown[] {
  const contents = listOf(messages).flatMap((message) => (isRecord(message) ? listOf(message.content) : []));
  const blocks = contents.flatMap((block) => [...(isRecord(block) ? listOf(block.content) : []), block]);
  const marked = [...listOf(tools), ...listOf(system), ...blocks].map((block) =>
    isRecord(block) ? block.cache_control : undefined,
  );
  return [...marked, cache_control].filter(Boolean);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

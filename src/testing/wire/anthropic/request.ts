import { type Fields, isRecord, type Report, type WireTurn } from './turns.ts';

const mostMarkers = 4;

/** The parameters beside the messages. */
export function checkRequest(body: Fields, turns: readonly WireTurn[], report: Report): void {
  if (typeof body.model !== 'string' || body.model === '') report('model', 'model', 'Expected the name of a model.');
  checkOutputCap(body, report);
  checkToolParameters(body, turns, report);
  const markers = countMarkers(body);
  if (markers > mostMarkers)
    report('cache-markers', 'cache_control', `Expected at most ${mostMarkers} cache markers, found ${markers}.`);
}

function checkOutputCap({ max_tokens, thinking }: Fields, report: Report): void {
  const cap = Number.isSafeInteger(max_tokens) ? Number(max_tokens) : -1;
  if (cap < 0) report('max-tokens', 'max_tokens', 'Expected a number of tokens.');
  if (cap < 0 || !isRecord(thinking) || thinking.type !== 'enabled') return;
  const budget = Number(thinking.budget_tokens);
  if (!(budget >= 1024 && budget < cap))
    report('thinking-budget', 'thinking.budget_tokens', `Expected at least 1024 and less than max_tokens, found ${budget}.`);
}

function checkToolParameters({ tools, tool_choice }: Fields, turns: readonly WireTurn[], report: Report): void {
  if (Array.isArray(tools) && tools.length > 0) return;
  if (tool_choice) report('tool-choice-without-tools', 'tool_choice', 'Expected tools beside a tool choice.');
  const used = turns.flatMap(({ blocks }) => blocks).find(({ type }) => type === 'tool_use' || type === 'tool_result');
  if (used) report('tools-missing', used.path, 'Expected the tools whose calls are in the messages.');
}

/** Markers stand on the request, its tools, its system blocks, blocks of messages, and blocks inside those. */
function countMarkers({ cache_control, tools, system, messages }: Fields): number {
  const contents = listOf(messages).flatMap((message) => (isRecord(message) ? listOf(message.content) : []));
  const inner = contents.flatMap((block) => (isRecord(block) ? listOf(block.content) : []));
  const marked = [...listOf(tools), ...listOf(system), ...contents, ...inner].filter(
    (block) => isRecord(block) && block.cache_control,
  );
  return marked.length + (cache_control ? 1 : 0);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

import { claudeEfforts } from '../../../adapters/claude-efforts.ts';
import { checkLevel } from '../check-level.ts';
import { type Fields, isRecord, type Report } from '../report.ts';
import { checkCacheMarkers } from './cache-markers.ts';
import type { WireTurn } from './turns.ts';

/** The parameters beside the messages. */
export function checkRequest(body: Fields, turns: readonly WireTurn[], report: Report): void {
  if (typeof body.model !== 'string' || body.model === '') report('model', 'model', 'Expected the name of a model.');
  checkOutputCap(body, report);
  if (isRecord(body.output_config)) checkLevel(body.output_config.effort, claudeEfforts, 'output_config.effort', report);
  checkToolParameters(body, turns, report);
  checkSystem(body.system, report);
  checkCacheMarkers(body, report);
}

function checkOutputCap({ max_tokens, thinking, betas }: Fields, report: Report): void {
  const cap = Number.isSafeInteger(max_tokens) ? Number(max_tokens) : -1;
  if (cap < 0) report('max-tokens', 'max_tokens', 'Expected a number of tokens.');
  if (cap < 0 || !isRecord(thinking) || thinking.type !== 'enabled') return;
  const budget = Number(thinking.budget_tokens);
  // Between calls of tools there may be more thinking than one reply can hold. The header that says so is not in every body.
  const isInterleaved = Array.isArray(betas) && betas.some((beta) => String(beta).startsWith('interleaved-thinking'));
  if (!(budget >= 1024 && (budget < cap || isInterleaved)))
    report('thinking-budget', 'thinking.budget_tokens', `Expected at least 1024 and less than max_tokens, found ${budget}.`);
}

function checkSystem(system: unknown, report: Report): void {
  if (!Array.isArray(system)) return;
  for (const [index, block] of system.entries())
    if (isRecord(block) && block.type === 'text' && !/\S/.test(String(block.text)))
      report('system-blank', `system[${index}]`, 'Expected text that is not only white space.');
}

function checkToolParameters({ tools, tool_choice, thinking }: Fields, turns: readonly WireTurn[], report: Report): void {
  if (Array.isArray(tools) && tools.length > 0) {
    const chosen = isRecord(tool_choice) && tool_choice.type === 'tool' ? tool_choice.name : undefined;
    if (chosen !== undefined && !tools.some((tool) => isRecord(tool) && tool.name === chosen))
      report('tool-choice-unknown', 'tool_choice.name', `Expected a tool of the request, found ${String(chosen)}.`);
    const isForced = isRecord(tool_choice) && (tool_choice.type === 'any' || tool_choice.type === 'tool');
    if (isForced && isRecord(thinking) && thinking.type === 'enabled')
      report('tool-choice-forced', 'tool_choice.type', 'Expected no forced tool while thinking is enabled.');
    return;
  }
  if (tool_choice) report('tool-choice-without-tools', 'tool_choice', 'Expected tools beside a tool choice.');
  const used = turns.flatMap(({ blocks }) => blocks).find(({ type }) => type === 'tool_use' || type === 'tool_result');
  if (used) report('tools-missing', used.path, 'Expected the tools whose calls are in the messages.');
}

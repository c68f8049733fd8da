import type { Report } from '../report.ts';
import type { WireBlock, WireTurn } from './turns.ts';

const legalId = /^[a-zA-Z0-9_-]{1,64}$/;

/** No two calls of a request have one id. Each is answered exactly once, at the head of the user turn that follows it. */
export function checkTools(turns: readonly WireTurn[], report: Report): void {
  const earlier = new Set<string>();
  turns.forEach((turn, index) => {
    if (turn.role === 'assistant') checkCalls(turn, turns[index + 1], earlier, report);
    else checkResults(turn, turns[index - 1], report);
  });
}

function checkCalls(turn: WireTurn, next: WireTurn | undefined, earlier: Set<string>, report: Report): void {
  const answered = new Set(next?.blocks.map(answeredId));
  const seen = new Set<string>();
  for (const { type, fields, path } of turn.blocks) {
    if (type !== 'tool_use') continue;
    const id = String(fields.id);
    if (typeof fields.id !== 'string' || !legalId.test(id))
      report('tool-id', `${path}.id`, 'Expected 1 to 64 letters, digits, _ or -.');
    if (seen.has(id)) report('tool-id-twice', `${path}.id`, `Expected ids that differ within a turn, found ${id} again.`);
    else if (!answered.has(id)) report('call-unanswered', path, `Expected a result of ${id} in the next user turn.`);
    else if (earlier.has(id))
      report(
        'tool-id-repeated',
        `${path}.id`,
        `Expected ids that differ within a request, found ${id} of an earlier turn again.`,
      );
    seen.add(id);
  }
  for (const id of seen) earlier.add(id);
}

function checkResults(turn: WireTurn, previous: WireTurn | undefined, report: Report): void {
  const called = new Set(previous?.blocks.filter(({ type }) => type === 'tool_use').map(({ fields }) => fields.id));
  const seen = new Set<unknown>();
  let others = false;
  for (const block of turn.blocks) {
    if (block.type !== 'tool_result') {
      others = true;
      continue;
    }
    const id = answeredId(block);
    if (!called.has(id)) report('result-orphan', block.path, `Expected a call ${String(id)} in the assistant turn before.`);
    else if (seen.has(id)) report('result-twice', block.path, `Expected one result of ${String(id)}.`);
    if (others) report('results-first', block.path, 'Expected the results before everything else in the turn.');
    seen.add(id);
  }
}

function answeredId({ type, fields }: WireBlock): unknown {
  return type === 'tool_result' ? fields.tool_use_id : undefined;
}

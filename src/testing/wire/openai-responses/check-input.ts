import { describe, type Fields, isAbsent, type Report } from '../report.ts';
import { checkItem } from './check-item.ts';
import { checkPairs } from './check-pairs.ts';
import { checkReasoning } from './check-reasoning.ts';
import { checkUnstored } from './check-unstored.ts';
import { type InputItem, readInput } from './read-input.ts';

export function checkInput(body: Fields, report: Report): void {
  const { input, prompt, conversation, previous_response_id, store } = body;
  const held = !isAbsent(conversation) || !isAbsent(previous_response_id);
  if (isAbsent(input)) {
    if (!held && isAbsent(prompt)) report('input-missing', 'input', 'Expected a text or an array of items.');
    return;
  }
  if (typeof input === 'string') {
    if (!/\S/.test(input)) report('blank-content', 'input', 'Expected text that is not blank.');
    return;
  }
  if (!Array.isArray(input)) {
    report('input-type', 'input', `Expected a text or an array of items, got ${describe(input)}.`);
    return;
  }
  if (input.length === 0) {
    report('input-empty', 'input', 'Expected at least one item.');
    return;
  }
  const items = readInput(input, report);
  for (const item of items) checkItem(item, report);
  checkIds(items, report);
  checkReasoning(items, report);
  if (store === false) checkUnstored(items, report);
  const resolvable = held || items.some(({ kind }) => kind === 'item_reference');
  checkPairs(items, resolvable, report);
  checkOrder(items, resolvable || !isAbsent(prompt), report);
}

/** Ids of the server: each once, and none longer than it makes them. */
function checkIds(items: readonly InputItem[], report: Report): void {
  const ids = new Set<string>();
  for (const { kind, item, path } of items) {
    // The result of a local shell has the id of its call.
    if (typeof item.id !== 'string' || kind === 'local_shell_call_output') continue;
    if (item.id.length > 64) report('item-id', `${path}.id`, 'Expected an id of at most 64 characters.');
    if (ids.has(item.id)) report('duplicate-item-id', `${path}.id`, `Expected ids that differ, got ${describe(item.id)} twice.`);
    ids.add(item.id);
  }
}

function checkOrder(items: readonly InputItem[], standsElsewhere: boolean, report: Report): void {
  items.forEach(({ kind, path }, index) => {
    if (kind === 'compaction_trigger' && index < items.length - 1)
      report('trigger-not-last', path, 'Expected a trigger of compaction to be the last item.');
  });
  const said = items.filter(({ item }) => item.role !== 'system' && item.role !== 'developer');
  const compacted = said.some(({ kind }) => kind === 'compaction');
  if (!standsElsewhere && !compacted && !said.some(({ item }) => item.role === 'user'))
    report('no-user-message', 'input', 'Expected at least one message of the user.');
  const last = said.at(-1);
  // Under instructions, the model answers the user or a tool: its own turn is not continued.
  if (last?.kind === 'message' && last.item.role === 'assistant')
    report('last-message', last.path, 'Expected the user or a tool to have the last word, got the assistant.');
}

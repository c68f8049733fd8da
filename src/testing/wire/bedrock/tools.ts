import type { Report } from '../report.ts';
import type { WireBlock, WireMessage } from './messages.ts';

const legalId = /^[a-zA-Z0-9_.:-]{1,64}$/;
const legalName = /^[a-zA-Z0-9_-]{1,64}$/;

/** No two calls of a request have one id. Each is answered exactly once, at the head of the user message that follows it. */
export function checkTools(messages: readonly WireMessage[], model: string, report: Report): void {
  const turns = messages.filter(({ role }) => role !== 'system');
  const known = new Set<unknown>();
  turns.forEach((turn, index) => {
    if (turn.role === 'assistant') {
      checkCalls(turn, turns[index + 1], known, report);
      checkServerTools(turn, report);
    } else checkResults(turn, turns[index - 1], report);
    if (separatesTools(model)) checkMixture(turn, report);
  });
}

/** A call that the provider runs itself. */
export function isServerCall({ kind, fields }: WireBlock): boolean {
  return kind === 'toolUse' && typeof fields.type === 'string';
}

function checkCalls({ blocks }: WireMessage, next: WireMessage | undefined, known: Set<unknown>, report: Report): void {
  const answered = new Set(next?.blocks.filter(isResult).map(idOf));
  for (const block of blocks) {
    if (block.kind !== 'toolUse') continue;
    const id = idOf(block);
    if (typeof id !== 'string' || !legalId.test(id))
      report('tool-id', block.path, 'Expected 1 to 64 letters, digits, _, ., : or -.');
    if (typeof block.fields.name === 'string' && !legalName.test(block.fields.name))
      report('tool-name', block.path, 'Expected 1 to 64 letters, digits, _ or -.');
    if (isServerCall(block)) continue;
    if (known.has(id))
      report('tool-id-repeated', block.path, `Expected ids that differ within a request, found ${String(id)} again.`);
    else if (!answered.has(id)) report('call-unanswered', block.path, `Expected a result of ${String(id)} in the next message.`);
    known.add(id);
  }
}

function checkResults({ blocks }: WireMessage, previous: WireMessage | undefined, report: Report): void {
  const calls = new Set(previous?.blocks.filter((block) => block.kind === 'toolUse' && !isServerCall(block)).map(idOf));
  const seen = new Set<unknown>();
  let others = false;
  for (const block of blocks) {
    if (!isResult(block)) {
      others ||= block.kind !== 'cachePoint';
      continue;
    }
    const id = idOf(block);
    if (!calls.has(id)) report('result-orphan', block.path, `Expected a call ${String(id)} in the message before.`);
    else if (seen.has(id)) report('result-twice', block.path, `Expected one result of ${String(id)}.`);
    if (others) report('results-first', block.path, 'Expected the results before everything else in the message.');
    seen.add(id);
  }
}

/** What the provider ran itself is answered in the same message. */
function checkServerTools({ blocks }: WireMessage, report: Report): void {
  const open = new Map(blocks.filter(isServerCall).map((block) => [idOf(block), block]));
  for (const block of blocks.filter(isResult))
    if (!open.delete(idOf(block)))
      report('server-result-orphan', block.path, `Expected the call ${String(idOf(block))} in the same message.`);
  for (const [id, { path }] of open)
    report('server-call-unanswered', path, `Expected the result of ${String(id)} in the same message.`);
}

/** The models of Meta and Mistral take no text beside calls or results. */
function separatesTools(model: string): boolean {
  return /(?:^|[./])(?:meta|mistral)\./.test(model);
}

function checkMixture({ blocks, path }: WireMessage, report: Report): void {
  const tools = blocks.filter(({ kind }) => kind === 'toolUse' || kind === 'toolResult').length;
  if (tools > 0 && tools < blocks.length)
    report('mixed-turn', path, 'Expected no conversation blocks and tool blocks in the same turn, for this model.');
}

function isResult({ kind }: WireBlock): boolean {
  return kind === 'toolResult';
}

function idOf({ fields }: WireBlock): unknown {
  return fields.toolUseId;
}

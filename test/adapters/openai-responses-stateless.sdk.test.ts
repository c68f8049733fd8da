import OpenAI from 'openai';
import type { ResponseCreateParamsNonStreaming, ResponseInput, ResponseInputItem } from 'openai/resources/responses/responses';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openaiResponses, type ResponsesItem } from '../../src/adapters/openai-responses.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { type ResponsesBody, type ResponsesServer, says, startResponsesServer } from '../support/responses-server.ts';

const task = 'Read all pages. Which one has the error?';
const pages = 12;
const long = (text: string) => `${text} ${'word '.repeat(900)}`;

let step = 0;
/** The provider compacts on its own after this many steps. */
let compactsAt = 0;
function work(): ResponsesItem[] {
  if (step === pages) return [says('Page 2.')];
  const id = `${++step}`;
  const thought = { type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: `sealed ${id}` };
  const compaction = { type: 'compaction', id: `cmp_${id}`, encrypted_content: `all before ${id}` };
  const search = { type: 'web_search_call', id: `ws_${id}`, status: 'completed', action: { type: 'search', query: 'log' } };
  const call = { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read', arguments: '{}', status: 'completed' };
  const patch = { type: 'custom_tool_call', id: `ctc_${id}`, call_id: id, name: 'patch', input: '*** Begin Patch' };
  return [
    ...(step === compactsAt ? [compaction] : []),
    ...(step % 3 === 0 ? [{ ...thought, id: `rs_${id}_search` }, search] : []),
    thought,
    step % 2 === 0 ? patch : call,
  ];
}

let server: ResponsesServer;
let events: CompactionEvent[];
let create: (request: ResponseCreateParamsNonStreaming) => Promise<OpenAI.Responses.Response>;
beforeEach(async () => {
  step = 0;
  compactsAt = 0;
  events = [];
  server = await startResponsesServer({ window: 9000, answer: work });
  const client = new OpenAI({ apiKey: 'test', baseURL: `${server.url}/v1`, maxRetries: 0, logLevel: 'off' });
  create = withAutoCompaction(
    (request: ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }),
    { adapter: openaiResponses(), contextWindow: 9000, onEvent: (event) => void events.push(event) },
  );
});
afterEach(() => server.close());

/** What was put out goes in again as it came. */
async function run(prune = (input: ResponseInputItem[]) => input): Promise<{ answer: string; input: ResponseInputItem[] }> {
  let input: ResponseInputItem[] = [{ role: 'user', content: task }];
  for (;;) {
    const reply = await create({
      model: 'gpt-5',
      instructions: 'Be exact.',
      input,
      tools: [
        { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false },
        { type: 'custom', name: 'patch' },
        { type: 'web_search' },
      ],
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    input = prune([...input, ...(reply.output as ResponseInput)]); // what was put out can be sent again
    const called = reply.output.flatMap((item): ResponseInputItem[] => {
      if (item.type === 'function_call') return [{ type: 'function_call_output', call_id: item.call_id, output: long('Read:') }];
      if (item.type === 'custom_tool_call')
        return [{ type: 'custom_tool_call_output', call_id: item.call_id, output: long('Patched:') }];
      return [];
    });
    if (called.length === 0) return { answer: reply.output_text, input };
    input.push(...called);
  }
}

const itemsOf = ({ input }: ResponsesBody) => input as ResponsesItem[];

describe('a history that the caller holds, with nothing stored, over HTTP', () => {
  it('keeps sealed reasoning with what it led to, calls of all kinds with their results', async () => {
    const { answer, input } = await run();
    expect(answer).toBe('Page 2.');
    expect(lifecycleOf(events).length).toBeGreaterThan(2);
    expect(lifecycleOf(events)).toEqual(server.summaries().flatMap(() => ['started', 'applied']));
    expect(noticesOf(events)).toEqual([]);
    expect(server.held()).toEqual([]);
    // The server has refused nothing: each request was legal. The history of the caller is whole.
    expect(input.filter((item) => 'type' in item && item.type === 'reasoning')).toHaveLength(pages + pages / 3);
    const bodies = server.bodies as ResponsesBody[];
    for (const fork of server.summaries()) {
      const before = bodies[bodies.indexOf(fork) - 1];
      expect(JSON.stringify(fork.input).startsWith(JSON.stringify(before?.input).slice(0, -1))).toBe(true);
      expect(fork).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    }
    for (const turn of server.turns()) for (const item of itemsOf(turn).slice(1)) expect(input).toContainEqual(item);
    expect(server.turns().every((turn) => JSON.stringify(turn).split(task).length === 2)).toBe(true);
  });

  it('keeps the compaction of the provider in front, verbatim, where the summary covers it', async () => {
    compactsAt = 3;
    const { answer } = await run();
    expect(answer).toBe('Page 2.');
    const rebuilt = server.turns().filter((turn) => JSON.stringify(turn).includes('<compacted_context>'));
    expect(rebuilt.length).toBeGreaterThan(2);
    for (const turn of rebuilt) {
      const [first, second] = itemsOf(turn);
      expect(first).toEqual({ type: 'compaction', id: 'cmp_3', encrypted_content: 'all before 3' });
      expect(second).toMatchObject({ role: 'user' });
      expect(JSON.stringify(second)).toContain(task);
    }
  });

  it('goes on behind the compaction of the provider where only that knows what the user said', async () => {
    compactsAt = 3;
    // As the provider allows: nothing before its newest compaction.
    const prune = (input: ResponseInputItem[]) =>
      input.slice(
        Math.max(
          0,
          input.findLastIndex((item) => 'type' in item && item.type === 'compaction'),
        ),
      );
    const { answer } = await run(prune);
    expect(answer).toBe('Page 2.');
    expect(lifecycleOf(events)).toEqual(server.summaries().flatMap(() => ['started', 'applied']));
    const [first, second] = itemsOf(server.turns().at(-1) ?? { model: '', input: [] });
    expect(first).toEqual({ type: 'compaction', id: 'cmp_3', encrypted_content: 'all before 3' });
    expect(JSON.stringify(second)).toMatch(/<compacted_context>(?!.*last_user_message)/);
  });
});

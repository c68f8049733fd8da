import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  openaiResponses,
  type ResponsesItem,
  type ResponsesReplyObject,
  type ResponsesRequest,
} from '../../src/adapters/openai-responses.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { type Choose, chooseFromList, oneOf, sometimes } from '../../src/testing/choose.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { createResponsesMemory, isSummaryRequest, type ResponsesBody, says } from '../support/responses-server.ts';

const window = 9000;

/** A reply, and what led to it. */
interface Reached {
  id: string;
  /** What the user said last. */
  said: string;
  /** The call that the model made. */
  call?: string | undefined;
}

/** An agent that sends what is new and the id of a reply before: it goes on, goes back, and tries again. */
async function runAgent(choose: Choose): Promise<number> {
  let calls = 0;
  let failed = false;
  const memory = createResponsesMemory({
    window,
    answer: () => {
      if (choose(2) === 0) return [says('Fine.')];
      const id = `call_${++calls}`;
      const call = { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read', arguments: '{}', status: 'completed' };
      return [{ type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: 'gAAA' }, call];
    },
    // Never twice in a row: then there would be no room left.
    summaryError() {
      failed = !failed && sometimes(choose, 6);
      return failed ? { status: 500, error: { message: 'boom' } } : undefined;
    },
  });
  const events: CompactionEvent[] = [];
  const sent: (ResponsesRequest & { store?: boolean })[] = [];
  const create = withAutoCompaction(
    async (request: ResponsesRequest): Promise<ResponsesReplyObject> => {
      const body = JSON.parse(JSON.stringify(request)) as ResponsesBody;
      sent.push(request);
      const { status, body: reply } = memory.reply(body);
      if (status !== 200) throw Object.assign(new Error(JSON.stringify(reply)), { status, ...reply });
      return { output: [], ...reply };
    },
    {
      adapter: openaiResponses(),
      contextWindow: window,
      budget: { countTokens: (text) => Math.ceil(text.length / 4) },
      summary: { retries: 0 },
      onEvent: (event) => void events.push(event),
    },
  );

  const reached: Reached[] = [];
  for (let turn = 1; turn <= 16; turn++) {
    // Mostly from the newest reply, sometimes from an earlier one, sometimes from nothing.
    const from = sometimes(choose, 8) ? reached.at(-1 - choose(4)) : sometimes(choose, 20) ? undefined : reached.at(-1);
    const said = from?.call ? from.said : `Question ${turn} 📦.`;
    const padding = 'word '.repeat(oneOf(choose, [500, 50, 1200] as const));
    const input: ResponsesItem[] = from?.call
      ? [{ type: 'function_call_output', call_id: from.call, output: padding }]
      : [{ role: 'user', content: `${said} ${padding}` }];
    const request: ResponsesRequest = {
      model: 'gpt-5',
      instructions: 'Be exact.',
      input,
      ...(from && { previous_response_id: from.id }),
    };
    for (let tries = sometimes(choose, 5) ? 2 : 1; tries > 0; tries--) {
      const before = events.length;
      const reply = await create(request); // the server refuses what is not legal, not known or too long
      const last = sent.at(-1) as ResponsesBody & ResponsesRequest;
      const visible = JSON.stringify(memory.seen(last));
      expect(visible).toContain(said);
      const applied = events.slice(before).some(({ type }) => type === 'auto_compaction_applied');
      if (applied) expect(last).not.toHaveProperty('previous_response_id');
      else if (last !== request) expect(visible.split('<compacted_context>')).toHaveLength(2); // tried again
      const call = reply.output.find(({ type }) => type === 'function_call')?.call_id;
      reached.push({ id: String(reply.id), said, call: call === undefined ? undefined : String(call) });
    }
  }
  for (const request of sent) {
    const items = memory.seen(request as ResponsesBody) ?? [];
    if (isSummaryRequest(items)) expect(request.store).toBe(false);
  }
  expect(events.filter(({ type }) => type === 'notice')).toEqual([]);
  return events.filter(({ type }) => type === 'auto_compaction_applied').length;
}

describe('any chain by previous_response_id', () => {
  it('stays legal, inside the window, and keeps what the user said last in sight of the model', async () => {
    let compactions = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 60, maxLength: 200 }), async (numbers) => {
        compactions += await runAgent(chooseFromList(numbers));
      }),
      { numRuns: 100 },
    );
    expect(compactions).toBeGreaterThan(100);
  }, 60_000);
});

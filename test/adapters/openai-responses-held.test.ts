import { describe, expect, it } from 'vitest';
import {
  openaiResponses,
  type ResponsesItem,
  type ResponsesReply,
  type ResponsesRequest,
} from '../../src/adapters/openai-responses.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { CompactionCommit, SendContext } from '../../src/options.ts';
import { firstOf } from '../../src/summarize/first-of.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const ask = (input: string | readonly ResponsesItem[], previous?: string, fields: object = {}): ResponsesRequest => ({
  model: 'gpt-5',
  instructions: 'Be exact.',
  input,
  ...(previous && { previous_response_id: previous }),
  ...fields,
});
const result = (output = 'seen'): ResponsesItem => ({ type: 'function_call_output', call_id: 'a', output });

function start(more: object = {}) {
  const events: CompactionEvent[] = [];
  const summaries: ResponsesRequest[] = [];
  const commits: CompactionCommit<ResponsesRequest>[] = [];
  const compactor = createCompactor({
    adapter: openaiResponses(),
    contextWindow: 10_000,
    budget: { threshold: 1500 },
    onEvent: (event: CompactionEvent) => void events.push(event),
    commit: (commit: CompactionCommit<ResponsesRequest>) => void commits.push(commit),
    send: async (request: ResponsesRequest, _context: SendContext): Promise<ResponsesReply> => {
      summaries.push(request);
      const content = [{ type: 'output_text', text: goodSummary }];
      return { id: 'resp_private', status: 'completed', output: [{ type: 'message', role: 'assistant', content }] };
    },
    ...more,
  });
  /** A turn that the server answered and holds, with the size that it told. */
  async function turn(
    request: ResponsesRequest,
    id: string,
    inputTokens: number,
    conversation?: string,
  ): Promise<ResponsesRequest> {
    const prepared = await compactor.prepare(request, { conversation });
    compactor.observe(prepared, { usage: { inputTokens, outputTokens: 10 }, responseId: id }, { conversation });
    return prepared;
  }
  return { compactor, turn, events, summaries, commits };
}

describe('a history that the server holds behind previous_response_id', () => {
  it('has the size that the reply told, whatever stands around the next request', async () => {
    const { compactor, turn } = start();
    await turn(ask('Question.'), 'resp_1', 1200);
    for (const fields of [{}, { instructions: 'Be quick.' }, { tools: [{ type: 'function', name: 'read' }] }]) {
      const { tokens, sources } = compactor.estimate(ask('And now?', 'resp_1', fields));
      expect(tokens).toBeGreaterThan(1210);
      expect(tokens).toBeLessThan(1300);
      expect(sources.tokens).toBe('usage');
    }
    expect(compactor.estimate(ask('And now?', 'resp_2')).tokens).toBeLessThan(100);
  });

  it('keeps the newest message of the user through any number of requests that hold only results', async () => {
    const { turn, summaries, commits, events } = start();
    const task = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Go.' },
          { type: 'input_image', file_id: 'file-1' },
        ],
      },
    ];
    await turn(ask(task), 'resp_1', 500);
    await turn(ask([result()], 'resp_1'), 'resp_2', 900);
    await turn(ask([result()], 'resp_2'), 'resp_3', 1600);
    const rebuilt = await turn(ask([result('the last')], 'resp_3'), 'resp_4', 300);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(summaries).toMatchObject([
      { previous_response_id: 'resp_3', store: false, input: [result('the last'), { role: 'user' }] },
    ]);
    expect(rebuilt).not.toHaveProperty('previous_response_id');
    expect(rebuilt.input).toMatchObject([{ role: 'user', content: [{}, { text: 'Go.' }, { file_id: 'file-1' }, {}] }]);
    expect(commits).toMatchObject([{ covered: 1, request: { input: [{ role: 'user' }] } }]); // the caller's own item

    await turn(ask([result()], 'resp_4'), 'resp_5', 1600);
    const again = await turn(ask([result()], 'resp_5'), 'resp_6', 300);
    expect(summaries).toHaveLength(2);
    expect(again.input).toMatchObject([{ content: [{}, { text: 'Go.' }, { file_id: 'file-1' }, {}] }]);
    expect(JSON.stringify(again).split('Go.')).toHaveLength(2);
  });

  it('is compacted where only tool turns count', async () => {
    const { turn, summaries } = start({ when: 'tool-turn' });
    await turn(ask('Go.'), 'resp_1', 2000);
    await turn(ask('And now?', 'resp_1'), 'resp_2', 2000);
    expect(summaries).toHaveLength(0);
    await turn(ask([result()], 'resp_2'), 'resp_3', 2000);
    expect(summaries).toHaveLength(1);
  });

  it('sends the replacement again where the same request comes again, and not to another', async () => {
    const { compactor, turn, summaries } = start();
    await turn(ask('Go.'), 'resp_1', 2000);
    const request = ask('And now?', 'resp_1');
    const rebuilt = await compactor.prepare(request);
    expect(await compactor.prepare(structuredClone(request))).toEqual(rebuilt);
    expect(summaries).toHaveLength(1);
    const other = ask('Something else.', 'resp_9');
    expect(await compactor.prepare(other)).toBe(other);
  });

  it('can be gone back to, some replies back', async () => {
    const { compactor, turn } = start();
    await turn(ask('One.'), 'resp_1', 400);
    await turn(ask('Two.', 'resp_1'), 'resp_2', 1600);
    await turn(ask('Three.', 'resp_2'), 'resp_3', 300); // compacted
    expect(compactor.estimate(ask('Three, better.', 'resp_2')).tokens).toBeGreaterThan(1600);
    const plan = await compactor.plan(ask('Three, better.', 'resp_2'));
    expect(plan.summarized.tokens).toBeGreaterThan(1600);
    expect(plan).toMatchObject({
      wouldCompact: true,
      kept: { lastUserMessage: { parts: [{ text: 'Three, better.' }] } },
    });
    expect(compactor.estimate(ask('Four.', 'resp_3')).tokens).toBeLessThan(400);
    for (let turns = 4; turns < 200; turns++) await turn(ask('On.', `resp_${turns - 1}`), `resp_${turns}`, 300);
    expect(await compactor.plan(ask('Back.', 'resp_2'))).toMatchObject({ wouldCompact: true });
    for (let turns = 200; turns < 2300; turns++) await turn(ask('On.', `resp_${turns - 1}`), `resp_${turns}`, 300);
    expect(await compactor.plan(ask('Back.', 'resp_2'))).toMatchObject({ gate: 'server-held' }); // forgotten
  });

  it.each([undefined, 'named'])(
    'is one of many that begin with the same words, each of them compacted: %s',
    async (conversation) => {
      const { turn, events, summaries } = start();
      const users = Array.from({ length: 40 }, (_, user) => user);
      for (const user of users) await turn(ask('Hello.'), `${user}_0`, 30, conversation);
      for (const step of [1, 2, 3])
        for (const user of users)
          await turn(ask(`User ${user}, ${step}.`, `${user}_${step - 1}`), `${user}_${step}`, 1000 * step, conversation);
      expect(lifecycleOf(events)).toEqual(users.flatMap(() => ['started', 'applied']));
      expect(summaries.map(({ previous_response_id }) => previous_response_id)).toEqual(users.map((user) => `${user}_2`));
      expect(noticesOf(events)).toEqual([]);
    },
  );

  it.each([undefined, 'named'])(
    'is compacted in each of the branches that go on from one reply at once: %s',
    async (conversation) => {
      const { turn, events, summaries, commits } = start();
      await turn(ask('Root.'), 'resp_0', 300, conversation);
      const branches = Array.from({ length: 20 }, (_, branch) => branch);
      let sent: ResponsesRequest[] = [];
      for (const step of [1, 2, 3])
        sent = await Promise.all(
          branches.map((branch) =>
            turn(
              ask(`Branch ${branch}, ${step}.`, step === 1 ? 'resp_0' : `${branch}_${step - 1}`),
              `${branch}_${step}`,
              1000 * step,
              conversation,
            ),
          ),
        );
      expect(lifecycleOf(events).toSorted()).toEqual([...branches.map(() => 'applied'), ...branches.map(() => 'started')]);
      expect(new Set(summaries.map(({ previous_response_id }) => previous_response_id))).toEqual(
        new Set(branches.map((branch) => `${branch}_2`)),
      );
      for (const branch of branches) expect(JSON.stringify(sent[branch])).toContain(`Branch ${branch}, 3.`);
      expect(commits).toHaveLength(branches.length);
    },
  );

  it('is compacted with its own size, while its user goes another way', async () => {
    let release = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { turn, events, compactor } = start({
      send: async (): Promise<ResponsesReply> => {
        await waiting;
        const content = [{ type: 'output_text', text: goodSummary }];
        return { status: 'completed', output: [{ type: 'message', role: 'assistant', content }] };
      },
    });
    await turn(ask('One.'), 'resp_1', 100);
    await turn(ask('Two.', 'resp_1'), 'resp_2', 2000);
    const compacting = compactor.prepare(ask('Three.', 'resp_2'));
    const other = ask('Two, better.', 'resp_1');
    expect(await compactor.prepare(other)).toBe(other);
    release();
    expect(await compacting).not.toHaveProperty('previous_response_id');
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('leaves the replacement of an array in its place, for a caller that sends now what it holds and now an id', async () => {
    const { turn, compactor, summaries } = start();
    const items: ResponsesItem[] = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: 'word '.repeat(2000) },
      { role: 'user', content: 'On.' },
    ];
    await turn(ask(items), 'resp_1', 300);
    await turn(ask('And now?', 'resp_1'), 'resp_2', 320);
    const further: ResponsesItem[] = [...items, { role: 'assistant', content: 'Fine.' }, { role: 'user', content: 'And now?' }];
    expect((await compactor.prepare(ask(further))).input).toHaveLength(3);
    expect(summaries).toHaveLength(1);
  });

  it('goes on in another process', async () => {
    const first = start();
    await first.turn(ask('Go.'), 'resp_1', 2000);
    const second = start();
    second.compactor.restore(JSON.parse(JSON.stringify(first.compactor.snapshot(ask('Go.')))));
    await second.turn(ask('And now?', 'resp_1'), 'resp_2', 300);
    expect(lifecycleOf(second.events)).toEqual(['started', 'applied']);
    const third = start();
    third.compactor.restore(second.commits[0]!.snapshot);
    expect(await third.compactor.prepare(ask('And now?', 'resp_1'))).toEqual(second.commits[0]!.request); // tried again
    third.compactor.restore(second.compactor.snapshot(ask('And now?', 'resp_1')));
    expect(await third.compactor.plan(ask('More.', 'resp_2'))).toMatchObject({ gate: 'below-threshold' });
  });

  it.each([undefined, 'named'])(
    'is said once to be out of reach where nobody tells of the replies, and what to do: %s',
    async (conversation) => {
      const { compactor, events } = start();
      for (let turns = 1; turns < 6; turns++) await compactor.prepare(ask('On.', `resp_${turns}`), { conversation });
      expect(events).toMatchObject([
        {
          code: 'server-held',
          conversation,
          message:
            "The history is the server's: requests pass through uncompacted, because `previous_response_id` names a reply that the library " +
            'did not see: tell it with `observe(request, { usage, responseId })`.',
        },
      ]);
    },
  );

  it('is compacted on demand where it was seen, and refused where it was not', async () => {
    const { compactor, turn } = start();
    await turn(ask('Go.'), 'resp_1', 200);
    const { request, tokensBefore } = await compactor.compact(ask('And now?', 'resp_1'));
    expect(tokensBefore).toBeGreaterThan(210);
    expect(request).toEqual(ask([expect.objectContaining({ role: 'user' })] as never));
    await expect(compactor.compact(ask('And now?', 'resp_9'))).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('may be gone on with after a compaction by hand, which no message of the user survives', async () => {
    const { compactor, turn, summaries } = start();
    await turn(ask('Go.'), 'resp_1', 200);
    const { request } = await compactor.compact(ask('And now?', 'resp_1'));
    await turn(request, 'resp_2', 100);
    await turn(ask([result()], 'resp_2'), 'resp_3', 2000);
    await turn(ask('Thanks. What next?', 'resp_3'), 'resp_4', 300);
    expect(summaries).toHaveLength(2);
    expect(await compactor.plan(ask([result()], 'resp_4'))).toMatchObject({
      gate: 'below-threshold',
      kept: { lastUserMessage: { parts: [{ text: 'Thanks. What next?' }] } },
    });
  });

  it('has to become smaller', async () => {
    const { compactor, turn } = start({
      send: async (): Promise<ResponsesReply> => ({
        status: 'completed',
        output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: goodSummary.repeat(9) }] }],
      }),
    });
    await turn(ask('Go.'), 'resp_1', 30);
    await expect(compactor.compact(ask('And?', 'resp_1'))).rejects.toMatchObject({ code: 'not-smaller' });
  });

  it('is out of reach for a summarizer that reads messages, and for a list of which one does', async () => {
    const reads = async () => ({ text: goodSummary });
    for (const summarizer of [reads, firstOf(forkSummarizer(), reads)]) {
      const { compactor, turn } = start({ summary: { summarizer } });
      await turn(ask('Go.'), 'resp_1', 2000);
      expect(await compactor.plan(ask('And now?', 'resp_1'))).toMatchObject({
        gate: 'server-held',
        serverHeld: 'previous_response_id',
      });
    }
  });

  it('is in the summary of all that send on the request', async () => {
    for (const summarizer of [forkSummarizer(), firstOf(forkSummarizer(), forkSummarizer())]) {
      const { compactor, turn } = start({ summary: { summarizer } });
      await turn(ask('Go.'), 'resp_1', 2000);
      expect(await compactor.plan(ask('And now?', 'resp_1'))).toMatchObject({ wouldCompact: true, serverHeld: undefined });
    }
  });

  it('is out of reach where system text went in, then or later, or a reply was not told of', async () => {
    const developer = { role: 'developer', content: 'Mind the time.' };
    const user = { role: 'user', content: 'Go.' };
    for (const first of [
      [developer, user],
      [user, developer],
      [{ type: 'additional_tools', role: 'developer' }, user],
    ]) {
      const { compactor, turn, events } = start();
      await turn(ask(first), 'resp_1', 2000);
      await turn(ask('And now?', 'resp_1'), 'resp_2', 2000);
      expect(await compactor.plan(ask('And now?', 'resp_2'))).toMatchObject({ gate: 'server-held' });
      expect(noticesOf(events)).toEqual(['server-held']);
    }
    const { compactor, turn } = start();
    await turn(ask('Go.'), 'resp_1', 100);
    await compactor.prepare(ask('And?', 'resp_1'));
    expect(await compactor.plan(ask('And now?', 'resp_2'))).toMatchObject({ gate: 'server-held' });
  });

  it('is not recorded for a reply without a size, or with one that cannot be', async () => {
    const { compactor } = start();
    const request = ask('Go.');
    await compactor.prepare(request);
    compactor.observe(request, { usage: { inputTokens: 1_000_000, outputTokens: 10, responseId: 'resp_1' } });
    expect(compactor.estimate(ask('And now?', 'resp_1')).tokens).toBeLessThan(200); // our own count of what was sent
    for (const outputTokens of [Number.NaN, Number.POSITIVE_INFINITY, -1e9, undefined]) {
      compactor.observe(request, { usage: { inputTokens: 10, outputTokens, responseId: 'resp_1' } });
      expect(compactor.estimate(ask('And now?', 'resp_1')).tokens).toBeLessThan(200);
    }
    for (const odd of [{}, { usage: null }, { responseId: 'resp_2' }]) compactor.observe(request, odd as never);
    expect(await compactor.plan(ask('And now?', 'resp_2'))).toMatchObject({ gate: 'server-held' });
  });

  it('a request beside the conversation does not become a part of it', async () => {
    const { compactor } = start();
    const title = ask('Make a title.');
    const prepared = await compactor.prepare(title, { oneShot: true });
    compactor.observe(prepared, { usage: { inputTokens: 100, outputTokens: 10 }, responseId: 'resp_1' });
    expect(await compactor.plan(ask('Go on.', 'resp_1'))).toMatchObject({ gate: 'server-held' });
  });

  it('a loop that begins there sends what it holds itself behind it, and starts over without it', async () => {
    const { compactor } = start();
    const loop = new AutoCompactingLoop(ask('Go on.', 'resp_0'), {
      adapter: openaiResponses(),
      send: async (request: ResponsesRequest): Promise<ResponsesReply> => ({ status: 'completed', output: [], ...request }),
    });
    loop.append([
      { role: 'assistant', content: 'Fine.' },
      { role: 'user', content: 'Thanks.' },
    ]);
    expect(await loop.prepare()).toMatchObject({
      previous_response_id: 'resp_0',
      input: [{ content: 'Go on.' }, { content: 'Fine.' }, { content: 'Thanks.' }],
    });
    await expect(loop.compact()).rejects.toMatchObject({ code: 'invalid-request' });
    loop.reset();
    expect(loop.request).toEqual(ask([]));
    expect(compactor.estimate(loop.request).tokens).toBeLessThan(50);
  });
});

describe('a history that the server holds as a conversation', () => {
  it('passes through, and is reported once', async () => {
    const { compactor, events, summaries } = start();
    for (let turn = 0; turn < 5; turn++) {
      const request = ask(`Question ${turn}. ${'word '.repeat(2000)}`, undefined, { conversation: { id: 'conv_1' } });
      expect(await compactor.prepare(request)).toBe(request);
      compactor.observe(request, { usage: { inputTokens: 3000, outputTokens: 10 }, responseId: `resp_${turn}` });
      expect(await compactor.plan(request)).toMatchObject({ gate: 'server-held', serverHeld: 'conversation' });
    }
    expect(summaries).toEqual([]);
    expect(noticesOf(events)).toEqual(['server-held']);
  });
});

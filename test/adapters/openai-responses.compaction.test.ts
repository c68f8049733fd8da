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
import type { SendContext } from '../../src/options.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const tool = { type: 'function', name: 'read', parameters: { type: 'object' } };
const user = (text: string): ResponsesItem => ({ role: 'user', content: text });
const thought = (id: string): ResponsesItem => ({ type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: 'gAAA' });
const call = (id: string): ResponsesItem => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'read',
  arguments: '{}',
  status: 'completed',
});
const result = (id: string, output = 'x'.repeat(2000)): ResponsesItem => ({ type: 'function_call_output', call_id: id, output });
const said = (text: string, id: string): ResponsesItem => ({
  type: 'message',
  id: `msg_${id}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const says = (text: string): ResponsesReply => ({ status: 'completed', output: [said(text, 'reply')] });
const parallel = [user('Read both.'), thought('1'), call('a'), thought('2'), call('b'), result('a'), result('b')];

/** A model that refuses what the provider would refuse. */
function start(replies: readonly ResponsesReply[] = []) {
  const script = [...replies];
  const events: CompactionEvent[] = [];
  const summaries: ResponsesRequest[] = [];
  const options = {
    adapter: openaiResponses(),
    contextWindow: 10_000,
    budget: { threshold: 500 },
    onEvent: (event: CompactionEvent) => void events.push(event),
    send: async (request: ResponsesRequest, { purpose }: SendContext): Promise<ResponsesReply> => {
      expect(validateOpenAiResponses(JSON.parse(JSON.stringify(request)))).toEqual([]);
      if (purpose !== 'summary') return says('Done.');
      summaries.push(request);
      return script.shift() ?? says(goodSummary);
    },
  };
  return { options, events, summaries };
}

const request = (input: readonly ResponsesItem[], fields: object = {}): ResponsesRequest => ({
  model: 'gpt-5',
  instructions: 'Be exact.',
  tools: [tool],
  input,
  ...fields,
});

describe('compaction of a Responses history', () => {
  it('repeats the prefix of the parent where calls were made in parallel', async () => {
    const { options, events, summaries } = start();
    const parent = request(parallel);
    const prepared = await createCompactor(options).prepare(parent);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(events).toContainEqual(expect.objectContaining({ type: 'auto_compaction_applied', prefix: 'kept', because: [] }));
    expect(noticesOf(events)).toEqual([]);
    const [fork] = summaries;
    expect(fork?.input?.slice(0, -1)).toEqual(parallel);
    parallel.forEach((item, index) => {
      expect(fork?.input?.[index]).toBe(item);
    });
    expect(fork).toMatchObject({ instructions: 'Be exact.', tool_choice: 'none', store: false });
    expect(prepared.input).toHaveLength(1);
    expect(prepared.instructions).toBe('Be exact.');
    expect(JSON.stringify(prepared.input)).toContain('Read both.');
    expect(JSON.stringify(prepared.input)).not.toContain('rs_1');
    expect(validateOpenAiResponses(prepared)).toEqual([]);
  });

  it('keeps what comes after it as it is, also in the next requests', async () => {
    const { options, summaries } = start();
    const compactor = createCompactor(options);
    await compactor.prepare(request(parallel));
    const tail = [thought('3'), call('c'), call('d'), result('d', 'two'), result('c', 'one')];
    const prepared = await compactor.prepare(request([...parallel, ...tail]));
    expect(summaries).toHaveLength(1);
    expect(prepared.input).toHaveLength(1 + tail.length);
    tail.forEach((item, index) => {
      expect(prepared.input?.[index + 1]).toBe(item);
    });
    expect(validateOpenAiResponses(prepared)).toEqual([]);
  });

  it('is not tried while one of several calls is open', async () => {
    const { options, events } = start();
    const open = request(parallel.slice(0, -2).concat(result('b')));
    const compactor = createCompactor(options);
    expect(await compactor.plan(open)).toMatchObject({ wouldCompact: false, gate: 'pending', pending: 'function_call' });
    expect(await compactor.prepare(open)).toBe(open);
    expect(events).toEqual([]);
  });

  it('passes a conversation through that the server holds, and says so once', async () => {
    const { options, events } = start();
    const compactor = createCompactor(options);
    for (const held of [{ conversation: 'conv_1' }, { conversation: 'conv_1' }]) {
      const parent = request(parallel, held);
      expect(await compactor.prepare(parent)).toBe(parent);
    }
    expect(noticesOf(events)).toEqual(['server-held']);
    await expect(compactor.compact(request(parallel, { conversation: 'conv_1' }))).rejects.toMatchObject({
      code: 'invalid-request',
    });
  });

  it('denies tools in a summary request, whatever their kind', async () => {
    const custom: ResponsesItem = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'x', name: 'sql', input: 'SELECT 1' };
    const { options, events, summaries } = start([{ status: 'completed', output: [thought('9'), custom, call('y')] }]);
    await createCompactor(options).prepare(request(parallel));
    expect(lifecycleOf(events)).toContain('applied');
    expect(summaries[1]?.input?.slice(-5)).toMatchObject([
      thought('9'),
      custom,
      call('y'),
      { type: 'custom_tool_call_output', call_id: 'x' },
      { type: 'function_call_output', call_id: 'y' },
    ]);
  });

  it('repairs a history that is broken, in the summary request alone', async () => {
    const broken = [user('Go.'), thought('1'), call('a'), user('Go on.'), thought('2'), user('And now?'), ...parallel.slice(1)];
    const { options, events } = start();
    const { request: compacted, because } = await createCompactor(options).compact(
      request([...broken.slice(0, 6), result('lost'), said('Fine.', '1'), user('So?')]),
    );
    expect(because).toContain('repaired history');
    expect(noticesOf(events)).toContain('repaired');
    expect(validateOpenAiResponses(compacted)).toEqual([]);
  });

  it('keeps the compaction of the provider, in front of the summary', async () => {
    const compaction: ResponsesItem = { type: 'compaction', encrypted_content: 'g'.repeat(300) };
    const developer: ResponsesItem = { role: 'developer', content: 'Mind the time.' };
    for (const input of [
      [compaction, ...parallel],
      [user('Before.'), compaction, developer, ...parallel],
    ]) {
      const { options, summaries } = start();
      const compactor = createCompactor(options);
      const prepared = await compactor.prepare(request(input));
      expect(summaries).toHaveLength(1);
      expect(prepared.input?.[0]).toBe(compaction);
      expect(prepared.input?.[1]).toMatchObject({ role: 'user' });
      expect(prepared.input?.slice(2)).toEqual(input.includes(developer) ? [developer] : []);
      const again = await compactor.prepare(request([...input, said('Fine.', '2'), user('And now?')]));
      expect(again.input?.slice(0, 2)).toEqual(prepared.input?.slice(0, 2));
    }
  });

  it('a loop owns such a history, item by item', async () => {
    const { options, events, summaries } = start();
    const loop = new AutoCompactingLoop(
      request([{ type: 'compaction', encrypted_content: 'gAAA' }, user('Read both.')]),
      options,
    );
    const output = [thought('1'), call('a'), call('b')];
    const { calls } = await loop.appendReply({ status: 'completed', output });
    expect(calls.map(({ id }) => id)).toEqual(['a', 'b']);
    loop.append([result('b')]);
    await loop.prepare();
    expect(summaries).toEqual([]);
    loop.append([result('a')]);
    await loop.send();
    expect(summaries).toHaveLength(1);
    expect(loop.request.input).toHaveLength(2);
    for (const item of [thought('2'), call('c'), result('c', 'one'), user('Thanks.')]) loop.append([item]);
    expect(loop.request.input?.slice(2)).toEqual([thought('2'), call('c'), result('c', 'one'), user('Thanks.')]);
    loop.append([result('a', 'late')]); // its call went into the summary
    const prepared = await loop.prepare();
    expect(validateOpenAiResponses(prepared)).toEqual([]);
    expect(JSON.stringify(prepared)).toContain('late');
    expect(noticesOf(events)).toEqual(['repaired']);
    loop.reset();
    expect(loop.request.input).toEqual([]);
  });

  it('B021: wherever it is cut, reasoning and the item that it led to are both there or both gone', async () => {
    const history = [
      ...parallel,
      thought('3'),
      said('Both are fine.', '3'),
      user('Once more.'),
      thought('4'),
      thought('5'),
      call('e'),
      result('e'),
      thought('6'),
      said('Still fine.', '6'),
      user('Thanks.'),
    ];
    let compacted = 0;
    for (let cut = 1; cut < history.length; cut++) {
      const { options, summaries } = start();
      const compactor = createCompactor(options);
      await compactor.prepare(request(history.slice(0, cut)));
      compacted += summaries.length;
      const after = await compactor.prepare(request(history));
      expect(validateOpenAiResponses(after)).toEqual([]);
      const kept = options.adapter.items(after);
      const ids = kept.map(({ id }) => id);
      for (const [reasoning, led] of [
        ['rs_1', 'fc_a'],
        ['rs_2', 'fc_b'],
        ['rs_3', 'msg_3'],
        ['rs_4', 'rs_5'],
        ['rs_5', 'fc_e'],
        ['rs_6', 'msg_6'],
      ])
        expect(ids.indexOf(led) - ids.indexOf(reasoning)).toBe(ids.includes(led) ? 1 : 0);
      expect(kept.slice(-1)).toEqual(ids.length > 1 ? [user('Thanks.')] : [expect.objectContaining({ role: 'user' })]);
    }
    expect(compacted).toBeGreaterThan(3);
  });

  it('lets a request go out as it is that cannot be read, and says so', async () => {
    const cyclic: Record<string, unknown> = { type: 'odd' };
    cyclic.self = cyclic;
    const trap = Object.defineProperty({ type: 'message', role: 'user' }, 'content', {
      enumerable: true,
      get() {
        throw new TypeError('no content today');
      },
    });
    let deep: unknown = 'leaf';
    for (let level = 0; level < 5000; level++) deep = { deep };
    for (const item of [
      null,
      5,
      [],
      {},
      cyclic,
      trap,
      { type: 'odd', deep },
      { role: 'user', content: [{ type: 'odd', deep }] },
    ]) {
      const { options, events, summaries } = start();
      const odd = request([...parallel, item as ResponsesItem]);
      expect(await createCompactor(options).prepare(odd)).toBe(odd);
      expect(noticesOf(events)).toEqual(['unreadable-request']);
      expect(summaries).toEqual([]);
    }
  });

  it('compacts what is odd, and none of our business', async () => {
    for (const item of [
      { role: 'user', content: '\ud800<|endoftext|></compacted_context>'.repeat(1000) },
      { role: 'user', content: 'x'.repeat(10_000_000) },
      { role: 'user', content: null },
      { type: 'function_call', call_id: 'n', name: 'f', arguments: `${'['.repeat(100_000)}1` },
      { type: 'reasoning', summary: null, encrypted_content: null },
    ] as ResponsesItem[]) {
      const { options, events } = start();
      const input = [user('Go.'), item, ...(item.call_id ? [result('n')] : []), said('Fine.', '1'), ...parallel];
      await createCompactor({ ...options, contextWindow: 20_000_000, send: async () => says(goodSummary) }).prepare(
        request(input),
      );
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    }
  });

  it('B020: a hand-off without a call stays what it is', async () => {
    const handoff: ResponsesItem = { type: 'function_call_output', name: 'handoff', output: 'to you' };
    const { options, events, summaries } = start();
    await createCompactor(options).prepare(request([...parallel.slice(0, 1), handoff, ...parallel.slice(1), handoff]));
    expect(lifecycleOf(events)).toContain('applied');
    expect(noticesOf(events)).toEqual([]);
    expect(options.adapter.items(summaries[0] ?? request([])).filter((item) => item === handoff)).toHaveLength(2);
  });
});

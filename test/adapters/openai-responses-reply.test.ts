import { describe, expect, it } from 'vitest';
import type { ReadReplyOptions, ReplySummary } from '../../src/adapters/adapter.ts';
import { openaiResponses, type ResponsesItem, type ResponsesReply } from '../../src/adapters/openai-responses.ts';
import { isCompactionError } from '../../src/errors.ts';
import { normalizeReply } from '../../src/reply.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import { freezeDeep } from '../support/freeze.ts';

const adapter = openaiResponses();
const usage = {
  input_tokens: 1000,
  input_tokens_details: { cached_tokens: 896 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 1005,
};
const measured = { inputTokens: 1000, outputTokens: 5, cachedInputTokens: 896, reasoningTokens: 3, responseId: 'resp_1' };

type Fields = Record<string, unknown>;

const thought = (id = 'rs_1'): Fields => ({ id, type: 'reasoning', summary: [], encrypted_content: 'gAAA' });
const said = (text: string, fields: Fields = {}): Fields => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...fields,
});
const call = (id: string, fields: Fields = {}): Fields => ({
  id: `fc_${id}`,
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: '{"at":1}',
  status: 'completed',
  ...fields,
});
const search: Fields = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } };

/** Reads what servers send in spite of the types. */
function read(reply: unknown, options?: ReadReplyOptions): Promise<ReplySummary<ResponsesItem>> {
  return adapter.readReply(reply as ResponsesReply, options);
}

function reply(output: readonly Fields[], fields: Fields = {}): Fields {
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output,
    usage,
    ...fields,
  };
}

async function* play(events: readonly unknown[]): AsyncGenerator<unknown> {
  yield* events;
}

/** The events of one item, whole. */
function eventsOf(item: Fields, index: number): Fields[] {
  const at = { output_index: index, item_id: item.id };
  const done = { type: 'response.output_item.done', output_index: index, item };
  const added = (fields: Fields): Fields => ({
    type: 'response.output_item.added',
    output_index: index,
    item: { ...item, ...fields },
  });
  if (item.type === 'function_call') {
    const text = String(item.arguments);
    return [
      added({ arguments: '', status: 'in_progress' }),
      { type: 'response.function_call_arguments.delta', ...at, delta: text.slice(0, 3) },
      { type: 'response.function_call_arguments.delta', ...at, delta: text.slice(3) },
      { type: 'response.function_call_arguments.done', ...at, arguments: text },
      done,
    ];
  }
  if (item.type !== 'message') return [added({ status: 'in_progress' }), done];
  const parts = (item.content as Fields[]).flatMap((part, content_index) => {
    const text = String(part.text ?? part.refusal);
    const type = part.type === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta';
    const half = Math.ceil(text.length / 2);
    return [text.slice(0, half), text.slice(half)].map((delta) => ({ type, ...at, content_index, delta }));
  });
  return [added({ content: [], status: 'in_progress' }), ...parts, done];
}

function eventsOfReply(output: readonly Fields[], fields: Fields = {}, ending = 'response.completed'): Fields[] {
  return [
    { type: 'response.created', response: reply([], { status: 'in_progress', usage: null }) },
    { type: 'response.in_progress', response: reply([], { status: 'in_progress', usage: null }) },
    ...output.flatMap(eventsOf),
    { type: ending, response: reply(output, fields) },
  ];
}

/** One reply in each form in which it comes. Codex tells nothing of the output in the last event. */
const forms = {
  'an object': (output: readonly Fields[], fields?: Fields): unknown => reply(output, fields),
  'a stream': (output: readonly Fields[], fields?: Fields): unknown => play(eventsOfReply(output, fields)),
  'a stream that ends with response.done and no output': (output: readonly Fields[], fields: Fields = {}): unknown =>
    play(
      eventsOfReply(output, fields, 'response.done').map((event, index, all) =>
        index < all.length - 1 ? event : { ...event, response: reply([], fields) },
      ),
    ),
};

describe.each(Object.entries(forms))('a reply as %s', (_form, make) => {
  it('has text, a finish, usage, and its items for the next request', async () => {
    const texts: string[] = [];
    const output = freezeDeep([thought(), said('SUMMARY')]);
    expect(await read(make(output), { onText: (text) => texts.push(text) })).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: output,
      usage: measured,
    });
    expect(texts.join('')).toBe('SUMMARY');
  });

  it('has calls, and no text: what was said before them is no answer', async () => {
    const custom = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'b', name: 'sql', input: 'SELECT 1' };
    const output = [thought(), said('Looking.'), call('a'), custom];
    expect(await read(make(output))).toMatchObject({
      text: '',
      finish: 'tool-calls',
      calls: [
        { type: 'toolCall', id: 'a', name: 'look', input: { at: 1 } },
        { type: 'toolCall', id: 'b', name: 'sql', input: 'SELECT 1' },
      ],
      items: output,
    });
  });

  it('has the text after the last tool of the provider, paragraph by paragraph, without commentary', async () => {
    const output = [
      said('Let me search.', { id: 'msg_0' }),
      search,
      said('Found it.', { phase: 'commentary' }),
      said('One.', { id: 'msg_2', phase: 'final_answer' }),
      thought(),
      said('Two.', {
        id: 'msg_3',
        content: [
          { type: 'output_text', text: 'Tw' },
          { type: 'output_text', text: 'o.' },
        ],
      }),
    ];
    const summary = await read(make(output));
    expect(summary).toMatchObject({ text: 'One.\n\nTwo.', finish: 'stop', calls: [] });
    expect(summary.items).toEqual(output);
  });

  it('never shows commentary', async () => {
    const texts: string[] = [];
    const summary = await read(make([said('I am looking.', { phase: 'commentary' })]), { onText: (text) => texts.push(text) });
    expect(summary.text).toBe('');
    expect(texts).toEqual([]);
  });

  it.each<[string, Fields[], Fields, string]>([
    ['refusal', [said('', { content: [{ type: 'refusal', refusal: 'I cannot.' }] })], {}, ''],
    [
      'length',
      [said('half', { status: 'incomplete' })],
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'half',
    ],
    ['content-filter', [said('half')], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'half'],
    ['other', [said('half')], { status: 'incomplete', incomplete_details: { reason: 'boredom' } }, 'half'],
    ['other', [said('half')], { status: 'incomplete' }, 'half'],
    ['incomplete', [said('half')], { status: 'cancelled' }, 'half'],
    ['incomplete', [], { status: 'queued' }, ''],
    ['tool-calls', [{ type: 'computer_call', id: 'cu_1', call_id: 'a' }], {}, ''],
    ['tool-calls', [{ type: 'mcp_approval_request', id: 'q', name: 'send' }], {}, ''],
    [
      'stop',
      [{ type: 'shell_call', call_id: 'a' }, { type: 'shell_call_output', call_id: 'a', output: [] }, said('Done.')],
      {},
      'Done.',
    ],
    ['stop', [thought()], {}, ''],
  ])('ended as %s', async (finish, output, fields, text) => {
    expect(await read(make(output, fields))).toMatchObject({ finish, text });
  });

  it('leaves out reasoning that led to nothing', async () => {
    expect((await read(make([said('Fine.'), thought()]))).items).toEqual([said('Fine.')]);
  });

  it('leaves out what an SDK added', async () => {
    const output = [
      said('{"a":1}', { content: [{ type: 'output_text', text: '{"a":1}', annotations: [], parsed: { a: 1 } }] }),
      call('a', { parsed_arguments: { at: 1 } }),
    ];
    expect((await read(make(output))).items).toEqual([said('{"a":1}'), call('a')]);
  });

  it('throws what a failed reply says, so that it can be classified', async () => {
    const fail = async (error: unknown): Promise<unknown> =>
      read(make([], { status: 'failed', error })).catch((thrown: unknown) => thrown);
    const overflow = await fail({ code: 'context_length_exceeded', message: 'Your input exceeds the context window.' });
    expect(overflow).toMatchObject({ message: expect.stringContaining('exceeds the context window') });
    expect(adapter.classifyError(overflow)).toEqual({ kind: 'overflow' });
    expect(adapter.classifyError(await fail({ code: 'server_error', message: 'boom' }))).toEqual({ kind: 'retryable' });
    expect(adapter.classifyError(await fail({ code: 'invalid_prompt', message: 'no' }))).toEqual({ kind: 'fatal' });
    expect(await fail(null)).toBeInstanceOf(Error);
  });
});

describe('a reply', () => {
  it('is refused where it is none', async () => {
    for (const odd of [null, undefined, 5, 'text', {}, { choices: [] }, { output: 'text' }]) {
      const error = await read(odd).catch((thrown: unknown) => thrown);
      expect(isCompactionError(error) && error.code).toBe('invalid-request');
    }
  });

  it('without a status did not say how it ended', async () => {
    expect(await read({ output: [said('Fine.')] })).toMatchObject({ finish: 'incomplete', text: 'Fine.' });
  });

  it('is not read where it was aborted before', async () => {
    const reason = new Error('enough');
    await expect(read(reply([]), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('a stream', () => {
  it.each<[Fields, string]>([
    [{ type: 'error', code: 'context_length_exceeded', message: 'Too long.', param: 'input' }, 'overflow'],
    [
      { type: 'error', error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Too long.' } },
      'overflow',
    ],
    [{ type: 'error', code: 'server_error', message: 'boom' }, 'retryable'],
    [
      {
        type: 'response.failed',
        response: reply([], { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'slow' } }),
      },
      'retryable',
    ],
    [{ type: 'error', code: 'insufficient_quota', message: 'no money' }, 'fatal'],
    [{ error: { message: 'An error occurred', type: 'server_error' } }, 'retryable'],
  ])('throws the error of an event: %j', async (event, kind) => {
    const error = await read(play([...eventsOfReply([said('half')]).slice(0, 5), event])).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(adapter.classifyError(error).kind).toBe(kind);
  });

  it('is read past what nobody knows', async () => {
    const odd = [
      null,
      5,
      {},
      { type: 'response.new' },
      { type: 'response.output_item.added' },
      { type: 'response.output_text.delta' },
    ];
    const summary = await read(play(eventsOfReply([said('Fine.')]).flatMap((event) => [...odd, event])));
    expect(summary).toMatchObject({ text: 'Fine.', finish: 'stop' });
  });

  it('is read where a server tells only the text', async () => {
    const deltas = ['SUM', 'MARY'].map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta }));
    const summary = await read(play([...deltas, { type: 'response.completed', response: { status: 'completed' } }]));
    expect(summary).toMatchObject({ text: 'SUMMARY', finish: 'stop' });
    expect(summary.items).toEqual([{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'SUMMARY' }] }]);
  });

  it('rejects with the reason of an abort, also where it hangs', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    async function* hang(): AsyncGenerator<unknown> {
      yield* eventsOfReply([said('half')]).slice(0, 5);
      await new Promise(() => {});
    }
    await expect(read(hang(), { signal: controller.signal, onText: () => controller.abort(reason) })).rejects.toBe(reason);
  });

  const output = [
    thought('rs_1'),
    search,
    thought('rs_2'),
    said('I will look at both.', { phase: 'final_answer' }),
    thought('rs_3'),
    call('a'),
    call('b', { arguments: '{"at":{"deep":[2]}}' }),
  ];
  const events = eventsOfReply(output);

  it('B184, B188: the property: cut anywhere it is incomplete, keeps what was seen, and can be sent back', async () => {
    expect(events.length).toBeGreaterThan(20);
    for (let cut = 0; cut < events.length; cut++) {
      const seen: string[] = [];
      const summary = await read(play(freezeDeep(events.slice(0, cut))), { onText: (text) => seen.push(text) });
      expect(summary.finish).toBe('incomplete');
      expect(summary.usage).toBeUndefined();
      const { items, calls } = normalizeReply(adapter, summary);
      expect(calls).toEqual([]);
      const input = [{ role: 'user', content: 'Hello' }, ...items, { role: 'user', content: 'Go on.' }];
      expect(validateOpenAiResponses({ model: 'm', input })).toEqual([]);
      const sent = JSON.stringify(items);
      expect(sent).toContain(seen.join(''));
      // What is not finished has no id, and an id is never without what it is tied to.
      const finished = new Set(
        events.slice(0, cut).flatMap(({ type, item }) => (type === 'response.output_item.done' ? [(item as Fields).id] : [])),
      );
      for (const { id } of items) if (id !== undefined) expect(finished).toContain(id);
      if (items.some(({ id }) => id === 'ws_1')) expect(items.some(({ id }) => id === 'rs_1')).toBe(true);
      if (items.some(({ id }) => id === 'msg_1')) expect(items.some(({ id }) => id === 'rs_2')).toBe(true);
    }
  });

  it('keeps whole what was finished before the cut', async () => {
    const cut = events.findIndex(({ type, item }) => type === 'response.output_item.done' && (item as Fields).id === 'rs_2') + 3;
    const { items } = await read(play(events.slice(0, cut)));
    expect(items).toEqual([
      thought('rs_1'),
      search,
      {
        type: 'message',
        role: 'assistant',
        phase: 'final_answer',
        content: [{ type: 'output_text', text: 'I will loo' }],
      },
    ]);
  });

  it('tells of calls that were cut, so that leaving them out can be reported', async () => {
    const cut =
      events.findIndex(({ type, item_id }) => type === 'response.function_call_arguments.delta' && item_id === 'fc_b') + 1;
    const summary = await read(play(events.slice(0, cut)));
    expect(summary.calls).toMatchObject([
      { id: 'a', input: { at: 1 } },
      { id: 'b', input: '{"a' },
    ]);
    expect(normalizeReply(adapter, summary).repairs).toContain('Tool calls of a reply that did not end normally were left out.');
  });

  it('B058: a reply that ran into its cap keeps its text and loses its calls', async () => {
    const capped = [thought(), search, said('Looking.'), call('a'), call('b', { arguments: '{"at', status: 'incomplete' })];
    const fields = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    const summary = await read(play(eventsOfReply(capped, fields, 'response.incomplete')));
    expect(summary).toMatchObject({ finish: 'length', calls: [{ id: 'a' }, { id: 'b', input: '{"at' }] });
    const { calls, items } = normalizeReply(adapter, summary);
    expect(calls).toEqual([]);
    expect(items).toEqual([{ type: 'message', role: 'assistant', content: 'Looking.' }]);
  });
});

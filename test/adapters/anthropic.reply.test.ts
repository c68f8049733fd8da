import { describe, expect, it } from 'vitest';
import type { ReplySummary } from '../../src/adapters/adapter.ts';
import { type AnthropicMessage, type AnthropicReply, anthropicMessages } from '../../src/adapters/anthropic.ts';

type Event = Record<string, unknown>;

const adapter = anthropicMessages();

const usage = {
  input_tokens: 50,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 850,
  output_tokens: 20,
  output_tokens_details: { thinking_tokens: 5 },
};

function reply(content: Event[], more: Event = {}): AnthropicReply {
  // Blocks of tests are written as plain objects.
  return { content: content as { type: string }[] & Event[], stop_reason: 'end_turn', usage, ...more };
}

const start: Event = { type: 'message_start', message: { content: [], usage: { ...usage, output_tokens: 1 } } };
const stop: Event = { type: 'message_stop' };
const open = (index: number, content_block: Event): Event => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, value: Event): Event => ({ type: 'content_block_delta', index, delta: value });
const textDelta = (index: number, text: string): Event => delta(index, { type: 'text_delta', text });
const jsonDelta = (index: number, partial_json: string): Event => delta(index, { type: 'input_json_delta', partial_json });
const close = (index: number): Event => ({ type: 'content_block_stop', index });
/** Counts that an event has nothing to say of are null. */
const end = (stop_reason: string | null): Event => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage: { input_tokens: null, cache_creation_input_tokens: null, cache_read_input_tokens: null, output_tokens: 20 },
});

async function* stream(...events: unknown[]): AsyncGenerator<unknown> {
  yield* events;
}

/** Thinking, text and a call, as the provider streams them. */
const wholeStream: Event[] = [
  start,
  { type: 'ping' },
  open(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'H' }),
  delta(0, { type: 'thinking_delta', thinking: 'm.' }),
  delta(0, { type: 'signature_delta', signature: 'sealed' }),
  close(0),
  open(1, { type: 'text', text: '', citations: null }),
  textDelta(1, 'Read'),
  textDelta(1, 'ing.'),
  close(1),
  open(2, { type: 'tool_use', id: 't1', name: 'read', input: {}, caller: { type: 'direct' } }),
  jsonDelta(2, ''),
  jsonDelta(2, '{"path":'),
  jsonDelta(2, '"a.ts"}'),
  close(2),
  end('tool_use'),
  stop,
];

const wholeContent = [
  { type: 'thinking', thinking: 'Hm.', signature: 'sealed' },
  { type: 'text', text: 'Reading.', citations: null },
  { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a.ts' }, caller: { type: 'direct' } },
];

describe('readReply of an object', () => {
  it('gives the text, the items as they are, and the usage', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sealed' },
      { type: 'text', text: 'SUMMARY', citations: null },
    ];
    const summary = await adapter.readReply(reply(content));
    expect(summary).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'assistant', content }],
      usage: { inputTokens: 1000, outputTokens: 20, cachedInputTokens: 850, cacheWriteTokens: 100, reasoningTokens: 5 },
    });
    expect(summary.items[0]?.content?.[0]).toBe(content[0]);
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool-calls'],
    ['pause_turn', 'pause'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'overflow'],
    ['compaction', 'other'],
    ['something_new', 'other'],
    [null, 'incomplete'],
    [undefined, 'incomplete'],
  ])('reads the stop reason %j as %s', async (stop_reason, finish) => {
    expect((await adapter.readReply(reply([{ type: 'text', text: 'x' }], { stop_reason }))).finish).toBe(finish);
  });

  it('takes text after the last tool activity only', async () => {
    const text = (value: string): Event => ({ type: 'text', text: value });
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} };
    const found = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] };
    expect((await adapter.readReply(reply([text('Let me look.'), search, found, text('SUMMARY')]))).text).toBe('SUMMARY');
    expect((await adapter.readReply(reply([text('Let me look.'), search, found]))).text).toBe('');
    const call = { type: 'tool_use', id: 't1', name: 'read', input: { a: 1 } };
    const called = await adapter.readReply(reply([text('Let me look.'), call], { stop_reason: 'tool_use' }));
    expect(called).toMatchObject({ text: '', calls: [{ type: 'toolCall', id: 't1', name: 'read', input: { a: 1 } }] });
  });

  it('joins what citations cut, and keeps apart what thinking parts', async () => {
    const content = [
      { type: 'text', text: 'The file ' },
      { type: 'text', text: 'is small.', citations: [{ type: 'char_location' }] },
      { type: 'thinking', thinking: 'Hm.', signature: 'x' },
      { type: 'text', text: 'It is old.' },
    ];
    expect((await adapter.readReply(reply(content))).text).toBe('The file is small.\n\nIt is old.');
  });

  it('hands the text to the listener once', async () => {
    const heard: string[] = [];
    await adapter.readReply(reply([{ type: 'text', text: 'SUMMARY' }]), { onText: (text) => heard.push(text) });
    expect(heard).toEqual(['SUMMARY']);
  });

  it('has no items where there is no content', async () => {
    expect(await adapter.readReply(reply([], { stop_reason: 'refusal' }))).toMatchObject({
      text: '',
      finish: 'refusal',
      items: [],
    });
  });

  it.each([null, undefined, 'text', {}, { content: null, stop_reason: 5 }])('refuses %j by name', async (value) => {
    // What a host hands over by mistake.
    await expect(adapter.readReply(value as never)).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringContaining('`content`'),
    });
  });

  it('rejects with the reason of a signal that is already aborted', async () => {
    const reason = new Error('enough');
    await expect(adapter.readReply(reply([]), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('readReply of a stream', () => {
  it('puts the message together as it was', async () => {
    const heard: string[] = [];
    const summary = await adapter.readReply(stream(...wholeStream), { onText: (text) => heard.push(text) });
    expect(summary).toEqual({
      text: '',
      finish: 'tool-calls',
      calls: [{ type: 'toolCall', id: 't1', name: 'read', input: { path: 'a.ts' } }],
      items: [{ role: 'assistant', content: wholeContent }],
      usage: { inputTokens: 1000, outputTokens: 20, cachedInputTokens: 850, cacheWriteTokens: 100, reasoningTokens: 5 },
    });
    expect(heard).toEqual(['Read', 'ing.']);
  });

  it('B188: a stream that ends without message_stop is incomplete, also after a finished block', async () => {
    const events = [start, open(0, { type: 'text', text: '' }), textDelta(0, 'SUMMARY'), close(0)];
    for (const cut of [events, [...events, end('end_turn')], [...events, end(null), stop]]) {
      const summary = await adapter.readReply(stream(...cut));
      expect(summary).toMatchObject({ finish: 'incomplete', text: 'SUMMARY' });
    }
    expect((await adapter.readReply(stream(...events, end('end_turn'), stop))).finish).toBe('stop');
  });

  it('B184: what is cut after any event can be sent back, and nothing the user saw is lost', async () => {
    for (let length = 1; length < wholeStream.length; length++) {
      const { finish, items, calls, text } = await adapter.readReply(stream(...wholeStream.slice(0, length)));
      expect(finish).toBe('incomplete');
      for (const item of items) expect(adapter.repairItem(item)).toBe(item);
      const types = items
        .flatMap(({ content }) => [...(content ?? [])])
        .map((block) => (typeof block === 'string' ? block : block.type));
      const [textStart, callStart, callEnd] = [9, 12, 16];
      expect(types).toEqual([
        ...(length >= textStart ? ['thinking', 'text'] : []), // no message may end with thoughts
        ...(length >= callEnd ? ['tool_use'] : []),
      ]);
      expect(calls).toHaveLength(length >= callEnd ? 1 : 0);
      expect(text).toBe(length >= textStart && length < callStart ? (length > textStart ? 'Reading.' : 'Read') : '');
    }
  });

  it('drops a call whose arguments are no JSON, and calls the reply incomplete', async () => {
    const events = [
      start,
      open(0, { type: 'text', text: '' }),
      textDelta(0, 'Reading.'),
      close(0),
      open(1, { type: 'tool_use', id: 't1', name: 'read', input: {} }),
      jsonDelta(1, '{"path":"a'),
      close(1),
    ];
    const broken = await adapter.readReply(stream(...events, end('tool_use'), stop));
    expect(broken).toMatchObject({ finish: 'incomplete', calls: [], text: '' });
    expect(broken.items).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'Reading.' }] }]);
    const cut = await adapter.readReply(stream(...events, end('max_tokens'), stop));
    expect(cut).toMatchObject({ finish: 'length', calls: [], text: '' });
  });

  it('takes a call without arguments', async () => {
    const events = [
      start,
      open(0, { type: 'tool_use', id: 't1', name: 'now', input: {} }),
      jsonDelta(0, ''),
      close(0),
      end('tool_use'),
      stop,
    ];
    expect((await adapter.readReply(stream(...events))).calls).toEqual([{ type: 'toolCall', id: 't1', name: 'now', input: {} }]);
  });

  it('drops a server tool call that was cut off before its result', async () => {
    const search = open(0, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} });
    const found = open(1, { type: 'web_search_tool_result', tool_use_id: 's1', content: [] });
    const types = ({ items }: ReplySummary<AnthropicMessage>): unknown[] =>
      items.flatMap(({ content }) => (Array.isArray(content) ? content.map(({ type }) => type) : []));
    const opened = [start, search, jsonDelta(0, '{"query":"x"}'), close(0)];
    expect(types(await adapter.readReply(stream(...opened)))).toEqual([]);
    expect(types(await adapter.readReply(stream(...opened, found, close(1))))).toEqual([
      'server_tool_use',
      'web_search_tool_result',
    ]);
    const paused = await adapter.readReply(stream(...opened, end('pause_turn'), stop));
    expect(paused.finish).toBe('pause');
    expect(paused.items).toEqual([
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } }] },
    ]);
  });

  it('keeps citations and compaction blocks, and ignores what it does not know', async () => {
    const citation = { type: 'char_location', cited_text: 'x' };
    const events = [
      start,
      open(0, { type: 'compaction', content: null, encrypted_content: null }),
      delta(0, { type: 'compaction_delta', content: 'Summary', encrypted_content: 'e' }),
      close(0),
      open(1, { type: 'text', text: '', citations: null }),
      delta(1, { type: 'citations_delta', citation }),
      delta(1, { type: 'citations_delta', citation }),
      delta(1, { type: 'new_delta', text: 'no' }),
      textDelta(1, 'Hi'),
      textDelta(9, 'nowhere'),
      { type: 'new_event' },
      null,
      'noise',
      close(1),
      end('end_turn'),
      stop,
    ];
    const { items, text } = await adapter.readReply(stream(...events));
    expect(text).toBe('Hi');
    expect(items).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'compaction', content: 'Summary', encrypted_content: 'e' },
          { type: 'text', text: 'Hi', citations: [citation, citation] },
        ],
      },
    ]);
  });

  it('leaves the events as they are', async () => {
    const events = [
      start,
      open(0, { type: 'text', text: '', citations: [] }),
      textDelta(0, 'Hi'),
      delta(0, { type: 'citations_delta', citation: { cited_text: 'x' } }),
      close(0),
      end('end_turn'),
      stop,
    ];
    const before = structuredClone(events);
    await adapter.readReply(stream(...events));
    expect(events).toEqual(before);
  });

  it('rejects with an error event of the stream', async () => {
    const failed = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const error = await adapter.readReply(stream(start, failed)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(adapter.classifyError(error).kind).toBe('retryable');
  });

  it('rejects with the error of the stream itself, and closes the stream when a listener throws', async () => {
    const failure = new Error('connection lost');
    const failing = (async function* (): AsyncGenerator<unknown> {
      yield start;
      throw failure;
    })();
    await expect(adapter.readReply(failing)).rejects.toBe(failure);

    let closed = false;
    const closing = (async function* (): AsyncGenerator<unknown> {
      try {
        yield* wholeStream;
      } finally {
        closed = true;
      }
    })();
    const onText = (): void => {
      throw failure;
    };
    await expect(adapter.readReply(closing, { onText })).rejects.toBe(failure);
    expect(closed).toBe(true);
  });

  it('rejects with the reason of an abort though the stream hangs, and hears nothing after it', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const heard: string[] = [];
    let deliver: (result: IteratorResult<unknown>) => void = () => undefined;
    let returned = false;
    const events = [start, open(0, { type: 'text', text: '' }), textDelta(0, 'SUM')];
    const hanging: AsyncIterable<unknown> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = events.shift();
          if (value) return Promise.resolve({ value, done: false });
          setTimeout(() => controller.abort(reason));
          return new Promise((resolve) => {
            deliver = resolve;
          });
        },
        return: () => {
          returned = true;
          return new Promise(() => undefined);
        },
      }),
    };
    const reading = adapter.readReply(hanging, { signal: controller.signal, onText: (text) => heard.push(text) });
    await expect(reading).rejects.toBe(reason);
    deliver({ value: textDelta(0, 'MARY'), done: false });
    await new Promise((resolve) => setTimeout(resolve));
    expect(heard).toEqual(['SUM']);
    expect(returned).toBe(true);
  });

  it('rejects with the reason of an abort where the stream ends silently on it', async () => {
    const controller = new AbortController();
    const silent = (async function* (): AsyncGenerator<unknown> {
      yield start;
      controller.abort('stop it');
    })();
    await expect(adapter.readReply(silent, { signal: controller.signal })).rejects.toBe('stop it');
  });
});

describe('usage', () => {
  it('counts cached tokens once', () => {
    expect(adapter.usage(reply([]))).toMatchObject({ inputTokens: 1000, outputTokens: 20 });
  });

  it('leaves a stream alone', async () => {
    const events = stream(...wholeStream);
    expect(adapter.usage(events)).toBeUndefined();
    expect(await events.next()).toEqual({ value: start, done: false });
  });

  it('takes the last sampling, never a compaction', () => {
    const entry = (type: string, input_tokens: number): Event => ({ ...usage, type, input_tokens });
    const iterations = [entry('message', 180_000), entry('compaction', 180_500), entry('message', 3000), entry('compaction', 7)];
    expect(adapter.usage(reply([], { usage: { ...usage, iterations } }))?.inputTokens).toBe(3950);
    expect(adapter.usage(reply([], { usage: { ...usage, iterations: [entry('compaction', 7)] } }))).toBeUndefined();
    expect(adapter.usage(reply([], { usage: { ...usage, iterations: null } }))?.inputTokens).toBe(1000);
  });

  it.each([undefined, null, 0, Number.NaN, -5, '50', 1e300, Number.POSITIVE_INFINITY])('takes no input of %j', (input_tokens) => {
    expect(adapter.usage(reply([], { usage: { input_tokens, output_tokens: 5 } }))).toBeUndefined();
  });

  it.each([Number.NaN, -5, '50', {}])('takes no cached tokens of %j', (count) => {
    expect(adapter.usage(reply([], { usage: { ...usage, cache_read_input_tokens: count } }))).toBeUndefined();
    expect(adapter.usage(reply([], { usage: { ...usage, cache_creation_input_tokens: count } }))).toBeUndefined();
  });

  it('takes absent cache counts as none, and a wholly cached input as it is', () => {
    expect(adapter.usage(reply([], { usage: { input_tokens: 50, output_tokens: 0 } }))).toEqual({
      inputTokens: 50,
      outputTokens: 0,
    });
    const cached = { input_tokens: 0, cache_read_input_tokens: 900, cache_creation_input_tokens: null, output_tokens: 1 };
    expect(adapter.usage(reply([], { usage: cached }))).toEqual({ inputTokens: 900, outputTokens: 1, cachedInputTokens: 900 });
  });

  it.each([null, undefined, 'x', {}])('takes none from the reply %j', (value) => {
    expect(adapter.usage(value as never)).toBeUndefined();
  });
});

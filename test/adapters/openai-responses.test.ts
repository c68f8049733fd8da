import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { openaiResponses, type ResponsesItem, type ResponsesRequest } from '../../src/adapters/openai-responses.ts';
import { isCompactionError } from '../../src/errors.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import { freezeDeep } from '../support/freeze.ts';

const adapter = openaiResponses();
const weather = { type: 'function', name: 'get_weather', parameters: { type: 'object' }, strict: false } as const;
const hello = { role: 'user', content: 'Hello' } as const;

function request(fields: Partial<ResponseCreateParamsNonStreaming> = {}): ResponseCreateParamsNonStreaming {
  return { model: 'gpt-5', instructions: 'Be exact.', input: [hello], ...fields };
}

describe('items', () => {
  it('are the input of the request, the very same objects', () => {
    const input = [hello];
    expect(adapter.items(request({ input }))).toBe(input);
  });

  it('are one message of the user where the input is a text', () => {
    expect(adapter.items(request({ input: 'Hello' }))).toEqual([{ type: 'message', role: 'user', content: 'Hello' }]);
  });

  it('are none where the request has no input of its own', () => {
    expect(adapter.items({ model: 'gpt-5' })).toEqual([]);
    expect(adapter.items(request({ input: '' }))).toEqual([]);
  });

  it.each([
    [{ previous_response_id: 'resp_1' }, { type: 'previous_response', id: 'resp_1' }],
    [{ conversation: 'conv_1' }, { type: 'conversation', id: 'conv_1' }],
    [{ conversation: { id: 'conv_1' } }, { type: 'conversation', id: 'conv_1' }],
  ])('begin with one that stands for what the server holds, and is never sent: %j', (fields, held) => {
    const before = request(fields);
    const items = adapter.items(before);
    expect(items).toEqual([held, hello]);
    expect(adapter.withItems(before, items)).toEqual(before);
    const rebuilt = adapter.withItems(before, [hello]);
    expect(Object.keys(rebuilt)).toEqual(['model', 'instructions', 'input']);
    expect(adapter.forkForSummary(before, 'Summarize.', { maxTokens: 100 }).request.input).toHaveLength(2);
    expect(adapter.withSystem({ ...before, input: [], instructions: null }, 'Be quick.')).toMatchObject({
      instructions: 'Be quick.',
      input: [],
    });
  });

  it('may leave out the type of a message and of a reference, or have one that nobody knows', () => {
    const input = [hello, { id: 'msg_1' }, { type: null, id: 'msg_2' }, { type: 'configuration_update', effort: 'low' }];
    expect(adapter.items({ input })).toBe(input);
  });

  it.each([
    [{ input: null }, 'Expected `input` to be a text or an array of items, got null.'],
    [{ input: { length: 1 } }, 'Expected `input` to be a text or an array of items, got object.'],
    [null, 'Expected `input` to be a text or an array of items, got null.'],
    ['request', 'Expected `input` to be a text or an array of items, got "request".'],
    [{ input: [hello, null] }, 'Expected `input[1]` to be an object, got null.'],
    [{ input: [[]] }, 'Expected `input[0]` to be an object, got an array.'],
    [{ input: [{ type: 5 }] }, 'Expected `input[0].type` to be a type, got number.'],
    [{ input: [{ content: 'hi' }] }, 'Expected `input[0]` to have a type, a role or an id, got undefined.'],
  ])('cannot be read from %j', (broken, message) => {
    let error: unknown;
    try {
      adapter.items(broken as ResponsesRequest); // what an application may send in spite of the types
    } catch (thrown) {
      error = thrown;
    }
    expect(isCompactionError(error) && { code: error.code, message: error.message, provider: error.provider }).toEqual({
      code: 'invalid-request',
      message,
      provider: 'openai-responses',
    });
  });
});

describe('withItems', () => {
  it('changes nothing but the input', () => {
    const before = freezeDeep(request({ tools: [weather], temperature: 0.2 }));
    const message: ResponsesItem = { role: 'user', content: 'Only this' };
    const after = adapter.withItems(before, [message]);
    expect(after).toEqual({ ...before, input: [message] });
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after.input?.[0]).toBe(message);
    expect(after.tools).toBe(before.tools);
  });

  it('is the request itself where the input is its own', () => {
    const before = request();
    expect(adapter.withItems(before, adapter.items(before))).toBe(before);
  });

  it('gives each result the form that its call asks for', () => {
    const calls = [
      { type: 'custom_tool_call', call_id: 'a', name: 'sql', input: 'SELECT 1' },
      { type: 'function_call', call_id: 'b', name: 'look', arguments: '{}' },
    ];
    const results = adapter.writeMessage({
      role: 'tool',
      parts: ['a', 'b'].map((callId) => ({ type: 'toolResult', callId, content: [{ type: 'text', text: 'no' }] })),
    });
    const { input } = adapter.withItems(request(), [hello, ...calls, ...results]);
    expect(input?.slice(3)).toEqual([
      { type: 'custom_tool_call_output', call_id: 'a', output: 'no' },
      { type: 'function_call_output', call_id: 'b', output: 'no' },
    ]);
    expect(validateOpenAiResponses({ ...request(), input })).toEqual([]);
    expect(input?.[4]).toBe(results[1]);
  });
});

describe('withSystem', () => {
  it('replaces the instructions, and leaves other instructions where they are', () => {
    const before = freezeDeep(request({ input: [{ role: 'developer', content: 'Be kind.' }, hello] }));
    expect(adapter.withSystem(before, 'new')).toEqual({ ...before, instructions: 'new' });
    expect(adapter.withSystem(before, ' ')).toEqual({ ...before, instructions: null });
  });

  it('puts the text in the place of the messages that instruct, where there are no instructions beside them', () => {
    const tools = { type: 'additional_tools', role: 'developer', tools: [weather] } as const;
    const input = [{ role: 'developer', content: 'one' }, { role: 'system', content: 'two' }, tools, hello] as const;
    const before = freezeDeep(request({ instructions: null, input: input as never }));
    expect(adapter.withSystem(before, 'new').input).toEqual([
      { type: 'message', role: 'developer', content: 'new' },
      tools,
      hello,
    ]);
    expect(adapter.withSystem(before, '').input).toEqual([tools, hello]);
    expect(adapter.withSystem(request({ instructions: '', input: 'Hello' }), 'new')).toMatchObject({
      instructions: 'new',
      input: 'Hello',
    });
  });
});

describe('context', () => {
  it('holds the model, the instructions, the very tools, and the output cap', () => {
    const tools = [weather];
    const context = adapter.context(request({ tools, max_output_tokens: 500 }));
    expect(context).toEqual({ model: 'gpt-5', system: 'Be exact.', tools, outputCap: 500 });
    expect(context.tools).toBe(tools);
    expect(adapter.context(request({ instructions: null, max_output_tokens: null }))).toEqual({ model: 'gpt-5' });
  });

  it('says what the server holds', () => {
    expect(adapter.context(request()).serverHeld).toBeUndefined();
    expect(adapter.context(request({ conversation: 'conv_1' })).serverHeld).toBe('conversation');
    expect(adapter.context(request({ conversation: { id: 'conv_1' } })).serverHeld).toBe('conversation');
    expect(adapter.context(request({ previous_response_id: 'resp_1' }))).toMatchObject({ heldBefore: 'previous_response_id' });
    expect(adapter.context(request({ previous_response_id: 'resp_1' })).serverHeld).toBeUndefined();
    expect(adapter.heldItem?.('resp_1')).toEqual(adapter.items({ input: [], previous_response_id: 'resp_1' })[0]);
    const none = adapter.context(request({ conversation: null, previous_response_id: null }));
    expect([none.serverHeld, none.heldBefore]).toEqual([undefined, undefined]);
  });

  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' }) as const;
  const result = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'seen' }) as const;
  const thought = { type: 'reasoning', id: 'rs_1', summary: [] } as const;
  const computer = { type: 'computer_call', id: 'cu_1', call_id: 'cu' };
  const screen = { type: 'computer_call_output', call_id: 'cu', output: { type: 'computer_screenshot', file_id: 'f' } };
  const shell = { type: 'shell_call', call_id: 's', action: { commands: ['ls'] } };
  const shellOutput = { type: 'shell_call_output', call_id: 's', output: [] };
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };

  it.each<[string, object[]]>([
    ['function_call', [hello, call('a'), call('b'), result('b')]],
    ['function_call', [hello, call('a'), thought, call('b'), result('b'), { role: 'developer', content: 'Mind the time.' }]],
    ['function_call', [hello, call('a'), shell, shellOutput, call('b'), result('b')]],
    ['function_call', [hello, call('a'), result('a'), call('a')]],
    ['computer_call', [hello, thought, computer]],
    ['program', [hello, { type: 'program', call_id: 'p', code: '' }, call('a'), result('a')]],
    ['mcp_approval_request', [hello, { type: 'mcp_approval_request', id: 'mcpr_1', name: 'send' }]],
    ['reasoning', [hello, thought]],
    ['compaction_trigger', [hello, { type: 'compaction_trigger' }]],
  ])('waits for an open %s', (pending, input) => {
    expect(adapter.context({ input }).pending).toBe(pending);
  });

  it.each<[object[]]>([
    [[hello, call('a'), call('b'), result('b'), result('a')]],
    [[hello, computer, screen]],
    [[hello, search]],
    [[hello, { type: 'tool_search_call', call_id: 'ts', execution: 'server', arguments: {} }]],
    [
      [
        hello,
        { type: 'mcp_approval_request', id: 'q' },
        { type: 'mcp_approval_response', approval_request_id: 'q', approve: true },
      ],
    ],
    [[hello, { type: 'function_call_output', name: 'handoff', output: 'to you' }]],
    [[hello, call('a'), hello]],
    [[]],
  ])('waits for nothing in %j', (input) => {
    expect(adapter.context({ input }).pending).toBeUndefined();
  });
});

describe('forkForSummary', () => {
  const ask = (fields: Partial<ResponseCreateParamsNonStreaming> = {}, maxTokens = 1000) => {
    const parent = freezeDeep(request(fields));
    return { parent, ...adapter.forkForSummary(parent, 'Summarize.', { maxTokens }) };
  };
  const question = { type: 'message', role: 'user', content: 'Summarize.' };

  it('is the parent and one message of the user, not stored', () => {
    const { parent, request: fork, changed } = ask({ reasoning: { effort: 'high' }, prompt_cache_key: 'k', include: [] });
    expect(fork).toEqual({ ...parent, input: [hello, question], max_output_tokens: 1000, store: false });
    expect(fork.input?.[0]).toBe(parent.input?.[0]);
    expect(changed).toEqual([]);
    expect(validateOpenAiResponses(fork)).toEqual([]);
  });

  it('takes a text for one message', () => {
    expect(ask({ input: 'Hello' }).request.input).toEqual([{ type: 'message', role: 'user', content: 'Hello' }, question]);
    expect(ask({ input: undefined as never, previous_response_id: 'resp_1' }).request.input).toEqual([question]);
  });

  it('keeps the tools and forbids their use', () => {
    const { parent, request: fork, changed } = ask({ tools: [weather], tool_choice: 'required', parallel_tool_calls: true });
    expect(fork.tools).toBe(parent.tools);
    expect(fork).toMatchObject({ tool_choice: 'none', parallel_tool_calls: true });
    expect(changed).toEqual([]);
    expect(validateOpenAiResponses(fork)).toEqual([]);
    const bare = ask({ tools: [], tool_choice: 'auto' }).request;
    expect(bare).not.toHaveProperty('tools');
    expect(bare).not.toHaveProperty('tool_choice');
  });

  it('relaxes a forced output format, and says so', () => {
    const format = { type: 'json_schema', name: 'plan', schema: { type: 'object' } } as const;
    const { request: fork, changed } = ask({ text: { format, verbosity: 'low' } });
    expect(fork.text).toEqual({ verbosity: 'low' });
    expect(changed).toEqual(['text.format']);
    expect(ask({ text: { format: { type: 'json_object' } } }).request).not.toHaveProperty('text');
    expect(ask({ text: { format: { type: 'text' } } })).toMatchObject({
      request: { text: { format: { type: 'text' } } },
      changed: [],
    });
  });

  it('is never in the background, never truncated, never part of the conversation, and streams where the parent does', () => {
    const { request: fork } = ask({ background: true, truncation: 'auto', conversation: 'conv_1', store: true });
    for (const key of ['background', 'truncation', 'conversation']) expect(fork).not.toHaveProperty(key);
    expect(fork.store).toBe(false);
    const streamed = adapter.forkForSummary({ ...request(), stream: true as const }, 'Summarize.', { maxTokens: 10 });
    expect(streamed.request.stream).toBe(true);
    expect(validateOpenAiResponses(fork)).toEqual([]);
  });

  it('asks the server about the history that it holds under an id', () => {
    const { request: fork } = ask({ previous_response_id: 'resp_1', input: [], store: true });
    expect(fork).toMatchObject({ previous_response_id: 'resp_1', input: [question], store: false });
    expect(validateOpenAiResponses(fork)).toEqual([]);
  });

  it('asks instead of the compaction of the provider', () => {
    expect(ask({ input: [hello, { type: 'compaction_trigger' }] }).request.input).toEqual([hello, question]);
  });

  it('has an output cap that the provider takes', () => {
    expect(ask({ max_output_tokens: 100_000 }, 64).request.max_output_tokens).toBe(64);
    expect(ask({}, 1).request.max_output_tokens).toBe(16);
  });

  it('is well-formed where the instruction is not', () => {
    const { request: fork } = adapter.forkForSummary(request(), 'a\ud800', { maxTokens: 100 });
    expect(validateOpenAiResponses(fork)).toEqual([]);
  });
});

describe('usage', () => {
  const reply = (usage: unknown): never => ({ output: [], usage }) as never;

  it('B141: counts the cached part of the input once', () => {
    const usage = {
      input_tokens: 184_704,
      input_tokens_details: { cached_tokens: 183_936, cache_write_tokens: 12 },
      output_tokens: 49,
      output_tokens_details: { reasoning_tokens: 7 },
      total_tokens: 184_753,
    };
    expect(adapter.usage(reply(usage))).toEqual({
      inputTokens: 184_704,
      outputTokens: 49,
      cachedInputTokens: 183_936,
      cacheWriteTokens: 12,
      reasoningTokens: 7,
    });
  });

  it.each([
    undefined,
    null,
    {},
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 5 },
    { input_tokens: Number.NaN, output_tokens: 1 },
    { input_tokens: '5', output_tokens: 1 },
    { input_tokens: -5, output_tokens: 1 },
  ])('B145: is unknown where the provider counted %j', (usage) => {
    expect(adapter.usage(reply(usage))).toBeUndefined();
  });

  it('leaves out shares that are larger than the whole', () => {
    const usage = { input_tokens: 5, output_tokens: 1, input_tokens_details: { cached_tokens: 6 }, output_tokens_details: null };
    expect(adapter.usage(reply(usage))).toEqual({ inputTokens: 5, outputTokens: 1 });
  });

  it('never looks into a stream', () => {
    const stream: AsyncIterable<object> = {
      [Symbol.asyncIterator]: () => {
        throw new Error('looked');
      },
    };
    expect(adapter.usage(stream)).toBeUndefined();
    expect(adapter.usage(null as never)).toBeUndefined();
  });
});

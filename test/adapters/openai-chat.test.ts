import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { type ChatMessage, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { isCompactionError } from '../../src/errors.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';

const adapter = openaiChat();
const weather = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } } as const;

function request(fields: Partial<ChatCompletionCreateParamsNonStreaming> = {}): ChatCompletionCreateParamsNonStreaming {
  return {
    model: 'gpt-5',
    messages: [
      { role: 'system', content: 'Be exact.' },
      { role: 'user', content: 'Hello' },
    ],
    ...fields,
  };
}

/** Freezes a value to its leaves, so that a write into it throws. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const entry of Object.values(value)) freeze(entry);
  }
  return value;
}

describe('items', () => {
  it('are the messages of the request, the very same objects', () => {
    const { messages, ...rest } = request();
    expect(adapter.items({ messages, ...rest })).toBe(messages);
  });

  it.each([
    [{ model: 'm' }, 'Expected `messages` to be an array, got undefined.'],
    [{ model: 'm', messages: 'hi' }, 'Expected `messages` to be an array, got "hi".'],
    [{ model: 'm', messages: { length: 1 } }, 'Expected `messages` to be an array, got object.'],
    [null, 'Expected `messages` to be an array, got undefined.'],
    [{ model: 'm', messages: [{ role: 'user', content: 'hi' }, null] }, 'Expected `messages[1]` to be an object, got null.'],
    [{ model: 'm', messages: [[]] }, 'Expected `messages[0]` to be an object, got an array.'],
    [
      { model: 'm', messages: [{ content: 'hi' }] },
      'Expected `messages[0].role` to be system, developer, user, assistant, tool or function, got undefined.',
    ],
    [
      { model: 'm', messages: [{ role: 7 }] },
      'Expected `messages[0].role` to be system, developer, user, assistant, tool or function, got number.',
    ],
  ])('cannot be read from %j', (broken, message) => {
    let error: unknown;
    try {
      adapter.items(broken as ChatRequest); // what an application may send in spite of the types
    } catch (thrown) {
      error = thrown;
    }
    expect(isCompactionError(error) && { code: error.code, message: error.message, provider: error.provider }).toEqual({
      code: 'invalid-request',
      message,
      provider: 'openai-chat',
    });
  });
});

describe('withItems', () => {
  it('changes nothing but the messages', () => {
    const before = freeze(request({ tools: [weather], temperature: 0.2 }));
    const message: ChatMessage = { role: 'user', content: 'Only this' };
    const after = adapter.withItems(before, [message]);
    expect(after).toEqual({ ...before, messages: [message] });
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after.messages[0]).toBe(message);
    expect(after.tools).toBe(before.tools);
  });

  it('is the request itself where the messages are its own', () => {
    const before = request();
    expect(adapter.withItems(before, adapter.items(before))).toBe(before);
  });

  it('does not share the list with the caller', () => {
    const items: ChatMessage[] = [{ role: 'user', content: 'one' }];
    const after = adapter.withItems(request(), items);
    items.push({ role: 'user', content: 'two' });
    expect(after.messages).toHaveLength(1);
  });
});

describe('withSystem', () => {
  it('puts the text in the place of the leading instructions', () => {
    const before = freeze(
      request({
        messages: [
          { role: 'developer', content: 'one' },
          { role: 'system', content: 'two' },
          { role: 'user', content: 'Hello' },
          { role: 'system', content: 'later' },
        ],
      }),
    );
    const after = adapter.withSystem(before, 'new');
    expect(after.messages).toEqual([{ role: 'developer', content: 'new' }, ...before.messages.slice(2)]);
    expect(after.messages[1]).toBe(before.messages[2]);
  });

  it('adds a system message where there was none, and none for blank text', () => {
    const before = freeze(request({ messages: [{ role: 'user', content: 'Hello' }] }));
    expect(adapter.withSystem(before, 'new').messages).toEqual([{ role: 'system', content: 'new' }, ...before.messages]);
    expect(adapter.withSystem(request(), ' ').messages).toEqual(before.messages);
    expect(adapter.withSystem(request({ messages: [] }), 'new').messages).toEqual([{ role: 'system', content: 'new' }]);
  });
});

describe('context', () => {
  it('holds the model, the very tools, and the output cap', () => {
    const tools = [weather];
    const context = adapter.context(request({ tools, max_tokens: 5, max_completion_tokens: 7 }));
    expect(context).toEqual({ model: 'gpt-5', tools, outputCap: 7 });
    expect(context.tools).toBe(tools);
    expect(adapter.context(request({ max_tokens: 5, max_completion_tokens: null })).outputCap).toBe(5);
  });

  it('counts legacy functions as tools', () => {
    const functions = [{ name: 'old' }];
    expect(adapter.context(request({ functions })).tools).toBe(functions);
    expect(adapter.context(request({ functions, tools: [weather] })).tools).toEqual([weather, ...functions]);
  });

  it('has nothing where the request says nothing', () => {
    expect(adapter.context(request({ max_tokens: null }))).toEqual({ model: 'gpt-5', tools: undefined, outputCap: undefined });
  });
});

describe('forkForSummary', () => {
  const fork = (parent: ChatCompletionCreateParamsNonStreaming) =>
    adapter.forkForSummary(freeze(parent), 'Summarize.', { maxTokens: 1000 });

  it('is the parent plus one user message, byte for byte the same before it', () => {
    const parent = request({ tools: [weather], temperature: 0.2, reasoning_effort: 'low', prompt_cache_key: 'k' });
    const { request: summary, changed } = fork(parent);
    expect(changed).toEqual([]);
    expect(summary).toEqual({
      ...parent,
      messages: [...parent.messages, { role: 'user', content: 'Summarize.' }],
      tool_choice: 'none',
      max_completion_tokens: 1000,
    });
    expect(Object.keys(summary).slice(0, Object.keys(parent).length)).toEqual(Object.keys(parent));
    expect(
      JSON.stringify(summary).startsWith(JSON.stringify({ model: parent.model, messages: parent.messages }).slice(0, -2)),
    ).toBe(true);
    for (const [index, message] of parent.messages.entries()) expect(summary.messages[index]).toBe(message);
    expect(summary.tools).toBe(parent.tools);
  });

  it('sets the cap on the field that the request uses', () => {
    expect(fork(request({ max_tokens: 9 })).request).toMatchObject({ max_tokens: 1000 });
    expect(fork(request({ max_tokens: 9 })).request).not.toHaveProperty('max_completion_tokens');
    expect(fork(request({ max_completion_tokens: 9, max_tokens: null })).request).toMatchObject({
      max_completion_tokens: 1000,
      max_tokens: null,
    });
    expect(fork(request({ max_completion_tokens: 9, max_tokens: 9 })).request).toMatchObject({
      max_completion_tokens: 1000,
      max_tokens: 1000,
    });
  });

  it('adds a thinking budget of compatible servers to the cap', () => {
    const thinking = { ...request({ max_tokens: 9 }), thinking: { type: 'enabled', budget_tokens: 500 } };
    expect(fork(thinking).request.max_tokens).toBe(1500);
    const reasoning = { ...request(), reasoning: { max_tokens: 200 } };
    expect(fork(reasoning).request.max_completion_tokens).toBe(1200);
  });

  it('forbids tools only where there are some', () => {
    expect(fork(request({ tools: [weather], tool_choice: 'required' })).request.tool_choice).toBe('none');
    expect(fork(request()).request).not.toHaveProperty('tool_choice');
    expect(fork(request({ tools: [], tool_choice: 'auto' })).request).not.toHaveProperty('tool_choice');
    const legacy = fork(request({ functions: [{ name: 'old' }], function_call: 'auto' })).request;
    expect(legacy).toMatchObject({ functions: [{ name: 'old' }], function_call: 'none' });
    expect(legacy).not.toHaveProperty('tool_choice');
  });

  it('takes back what would multiply, cut, store or speak the summary', () => {
    const { request: summary, changed } = fork(
      request({
        n: 3,
        stop: ['\n'],
        store: true,
        metadata: { project: 'x' },
        prediction: { type: 'content', content: 'x' },
        modalities: ['text', 'audio'],
        audio: { format: 'mp3', voice: 'alloy' },
      }),
    );
    expect(changed).toEqual([]);
    expect(summary).toEqual({
      ...request(),
      messages: summary.messages,
      store: false,
      modalities: ['text'],
      max_completion_tokens: 1000,
    });
  });

  it('keeps the stream as it was', () => {
    const streaming = { ...request(), stream: true, stream_options: { include_usage: true } } as const;
    expect(adapter.forkForSummary(streaming, 'Summarize.', { maxTokens: 1 }).request).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(fork(request()).request).not.toHaveProperty('stream');
  });

  it('reports that a forced output format had to go', () => {
    const forced = fork(request({ response_format: { type: 'json_object' } }));
    expect(forced.changed).toEqual(['response_format']);
    expect(forced.request).not.toHaveProperty('response_format');
    expect(fork(request({ response_format: { type: 'text' } }))).toMatchObject({
      changed: [],
      request: { response_format: { type: 'text' } },
    });
  });

  it('is legal in every form', () => {
    for (const parent of [
      request(),
      request({ tools: [weather], tool_choice: 'required', max_tokens: 4 }),
      request({ tools: [], functions: [], function_call: 'none' }),
      request({ functions: [{ name: 'old' }] }),
    ])
      expect(validateOpenAiChat(fork(parent).request)).toEqual([]);
  });
});

describe('usage', () => {
  const usage = (fields: unknown) => adapter.usage({ choices: [], usage: fields as object }); // what servers send in spite of the types

  it('B141: counts cached tokens once', () => {
    expect(
      usage({
        prompt_tokens: 184_704,
        completion_tokens: 49,
        prompt_tokens_details: { cached_tokens: 183_936, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 20 },
      }),
    ).toEqual({ inputTokens: 184_704, outputTokens: 49, cachedInputTokens: 183_936, cacheWriteTokens: 10, reasoningTokens: 20 });
  });

  it('B142: does not add what a server counts beside it', () => {
    expect(usage({ prompt_tokens: 38_196, completion_tokens: 10, cache_n: 38_153, timings: { cache_n: 38_153 } })).toEqual({
      inputTokens: 38_196,
      outputTokens: 10,
    });
  });

  it('B148: believes the parts, not the total', () => {
    expect(usage({ prompt_tokens: 39_000, completion_tokens: 1_000, total_tokens: 210_000 })).toEqual({
      inputTokens: 39_000,
      outputTokens: 1_000,
    });
  });

  it('takes an empty answer for what it is', () => {
    expect(usage({ prompt_tokens: 10, completion_tokens: 0 })).toEqual({ inputTokens: 10, outputTokens: 0 });
    expect(usage({ prompt_tokens: 0, completion_tokens: 0 })).toBeUndefined(); // B145
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '12', null, undefined])('B145: is unknown where a part is %s', (value) => {
    expect(usage({ prompt_tokens: value, completion_tokens: 5 })).toBeUndefined();
    expect(usage({ prompt_tokens: 5, completion_tokens: value })).toBeUndefined();
  });

  it('leaves out details that cannot be', () => {
    for (const details of [null, 'x', { cached_tokens: 11 }, { cached_tokens: -1 }, { cached_tokens: Number.NaN }])
      expect(usage({ prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: details })).toEqual({
        inputTokens: 10,
        outputTokens: 5,
      });
  });

  it('is unknown for a stream, which stays untouched', () => {
    const stream = {
      [Symbol.asyncIterator]: (): AsyncIterator<object> => {
        throw new Error('touched');
      },
    };
    expect(adapter.usage(stream)).toBeUndefined();
  });

  it('is unknown for a reply without it', () => {
    for (const reply of [undefined, null, 'x', {}, { choices: [] }, { usage: [] }])
      expect(adapter.usage(reply as never)).toBeUndefined(); // what servers send in spite of the types
  });
});

import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import type { CompactionEvent } from '../src/events.ts';
import { validateAnthropic } from '../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { eventOf, lifecycleOf } from './support/harness.ts';
import { sendEvents, sendJson, startServer, type TestServer } from './support/http-server.ts';
import { countTokens, goodSummary } from './support/scripted-model.ts';

interface Body {
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: { role: string; content: unknown }[];
  tool_choice?: unknown;
  tools?: unknown;
  system?: unknown;
}

const isSummaryRequest = (body: Body): boolean => JSON.stringify(body.messages.at(-1)).includes('context compaction request');

let answer: (body: Body, response: ServerResponse) => void;
let server: TestServer;
let openai: OpenAI;
let anthropic: Anthropic;
let events: CompactionEvent[];

beforeAll(async () => {
  server = await startServer((body, response) => answer(body as Body, response));
  openai = new OpenAI({ apiKey: 'test', baseURL: `${server.url}/v1`, maxRetries: 0, logLevel: 'off' });
  anthropic = new Anthropic({ apiKey: 'test', baseURL: server.url, maxRetries: 0, logLevel: 'off' });
});
afterAll(() => server.close());
beforeEach(() => {
  server.bodies.length = 0;
  events = [];
});

const shared = {
  contextWindow: 10_000,
  budget: { threshold: 500, countTokens },
  onEvent: (event: CompactionEvent) => void events.push(event),
};
const summaryAndTurns = () => {
  const bodies = server.bodies as Body[]; // what the server was sent
  return { summaries: bodies.filter(isSummaryRequest), turns: bodies.filter((body) => !isSummaryRequest(body)) };
};

describe('the openai client', () => {
  const usage = { prompt_tokens: 321, completion_tokens: 5, total_tokens: 326 };
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } } },
  ];
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'Be exact.' },
    { role: 'user', content: 'Read the file.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'x'.repeat(4000) },
  ];
  const completion = (content: string) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-5',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        logprobs: null,
        message: { role: 'assistant', content, refusal: null, annotations: [] },
      },
    ],
    usage,
  });
  const chunk = (delta: object, finish: string | null = null, fields: object = {}) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-5',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...fields,
  });

  beforeEach(() => {
    answer = (body, response) => {
      const text = isSummaryRequest(body) ? goodSummary : 'All done.';
      if (!body.stream) return sendJson(response, 200, completion(text));
      const pieces = text.match(/[\s\S]{1,8}/g) ?? [];
      sendEvents(response, [
        chunk({ role: 'assistant', content: '' }),
        ...pieces.map((content) => chunk({ content })),
        chunk({}, 'stop'),
        ...(body.stream_options?.include_usage ? [{ ...chunk({}), choices: [], usage }] : []),
        '[DONE]',
      ]);
      response.end();
    };
  });

  it('without streaming: the summary comes as an object, the turn is compacted, its usage is known', async () => {
    const create = withAutoCompaction(
      (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
      { adapter: openaiChat(), ...shared },
    );
    const reply = await create({ model: 'gpt-5', messages, tools });
    expect(reply.choices[0]?.message.content).toBe('All done.');
    const { summaries, turns } = summaryAndTurns();
    expect(summaries).toHaveLength(1);
    expect(turns).toHaveLength(1);
    expect(summaries[0]).not.toHaveProperty('stream');
    expect(turns[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(JSON.stringify(turns[0])).toContain(JSON.stringify(goodSummary).slice(1, -1));
    expect(validateOpenAiChat(summaries[0] as never)).toEqual([]);
    expect(validateOpenAiChat(turns[0] as never)).toEqual([]);
    expect(create.compactor.estimate({ model: 'gpt-5', messages, tools })).toMatchObject({
      tokens: 321,
      sources: { tokens: 'usage' },
    });
    // The reply of the SDK goes into the history as it is.
    const next = await create({
      model: 'gpt-5',
      messages: [...messages, reply.choices[0]!.message, { role: 'user', content: 'And now?' }],
      tools,
    });
    expect(next.choices[0]?.message.content).toBe('All done.');
    expect(summaryAndTurns().turns[1]?.messages).toHaveLength(4);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('the summary request is the parent’s, byte for byte, and one message more', async () => {
    const create = withAutoCompaction(
      (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
      { adapter: openaiChat(), ...shared },
    );
    await create({ model: 'gpt-5', messages, tools });
    const [summary] = summaryAndTurns().summaries;
    expect(JSON.stringify(summary?.messages.slice(0, -1))).toBe(JSON.stringify(messages));
    expect(JSON.stringify(summary?.tools)).toBe(JSON.stringify(tools));
    expect(summary?.tool_choice).toBe('none');
    expect(eventOf(events, 'auto_compaction_applied')).toMatchObject({
      prefix: 'kept',
      because: [],
      usage: { inputTokens: 321 },
    });
  });

  it('with streaming: the summary comes as a stream, and the host’s own stream is untouched', async () => {
    const create = withAutoCompaction(
      (request: OpenAI.ChatCompletionCreateParamsStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
      { adapter: openaiChat(), ...shared },
    );
    const request = { model: 'gpt-5', messages, tools, stream: true, stream_options: { include_usage: true } } as const;
    const stream = await create(request);
    const { summaries, turns } = summaryAndTurns();
    expect(summaries.map(({ stream, stream_options }) => ({ stream, stream_options }))).toEqual([
      { stream: true, stream_options: { include_usage: true } },
    ]);
    expect(turns[0]?.messages).toHaveLength(2);
    expect(stream.controller.signal.aborted).toBe(false);
    let text = '';
    let reported: number | undefined;
    for await (const { choices, usage: told } of stream) {
      text += choices[0]?.delta.content ?? '';
      reported = told?.prompt_tokens ?? reported;
    }
    expect(text).toBe('All done.');
    expect(create.compactor.estimate(request).sources.tokens).toBe('estimate');
    create.compactor.observe(request, { usage: { inputTokens: reported! } });
    expect(create.compactor.estimate(request)).toMatchObject({ tokens: 321, sources: { tokens: 'usage' } });
  });

  it('with streaming and no usage: estimates stand', async () => {
    const create = withAutoCompaction(
      (request: OpenAI.ChatCompletionCreateParamsStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
      { adapter: openaiChat(), ...shared },
    );
    for await (const _chunk of await create({ model: 'gpt-5', messages, tools, stream: true }));
    expect(eventOf(events, 'auto_compaction_applied').usage).toBeUndefined();
    expect(create.compactor.estimate({ model: 'gpt-5', messages, tools, stream: true }).sources.tokens).toBe('estimate');
  });

  it('the errors of the client come through as they are', async () => {
    answer = (body, response) =>
      isSummaryRequest(body)
        ? sendJson(response, 401, { error: { message: 'bad key' } })
        : sendJson(response, 429, { error: { message: 'slow down' } });
    const create = withAutoCompaction(
      (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
      { adapter: openaiChat(), ...shared },
    );
    await expect(create({ model: 'gpt-5', messages, tools })).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    expect(eventOf(events, 'auto_compaction_failed').error).toMatchObject({ code: 'summarizer-failed', cause: { status: 401 } });
    expect(summaryAndTurns().turns[0]?.messages).toHaveLength(messages.length);
  });

  it('an abort in the middle of the summary ends its connection and the turn', async () => {
    const controller = new AbortController();
    let closed: (() => void) | undefined;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    answer = (_body, response) => {
      sendEvents(response, [chunk({ role: 'assistant', content: 'Half a sum' })]);
      response.on('close', () => closed?.());
      controller.abort(new Error('the user left'));
    };
    const create = withAutoCompaction(
      (request: OpenAI.ChatCompletionCreateParamsStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
      { adapter: openaiChat(), ...shared },
    );
    await expect(create({ model: 'gpt-5', messages, tools, stream: true }, { signal: controller.signal })).rejects.toThrow(
      'the user left',
    );
    await gone;
    expect(summaryAndTurns().turns).toEqual([]);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
  });
});

describe('the Anthropic client', () => {
  const usage = { input_tokens: 300, cache_read_input_tokens: 21, cache_creation_input_tokens: 0, output_tokens: 5 };
  const tools: Anthropic.Tool[] = [{ name: 'read', description: 'Reads.', input_schema: { type: 'object' } }];
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: 'Read the file.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x'.repeat(4000), cache_control: { type: 'ephemeral' } }],
    },
  ];
  const base = { model: 'claude-test', max_tokens: 1000, system: 'Be exact.', messages, tools } as const;
  const message = (content: object[], stop: string | null) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage,
  });

  beforeEach(() => {
    answer = (body, response) => {
      const text = isSummaryRequest(body) ? goodSummary : 'All done.';
      if (!body.stream) return sendJson(response, 200, message([{ type: 'text', text }], 'end_turn'));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const stream = [
        { type: 'message_start', message: message([], null) },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...(text.match(/[\s\S]{1,8}/g) ?? []).map((piece) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text: piece },
        })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ];
      for (const event of stream) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    };
  });

  it('without streaming: the summary comes as an object, the turn is compacted, its usage is known', async () => {
    const create = withAutoCompaction(
      (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => anthropic.messages.create(request, { signal }),
      { adapter: anthropicMessages(), ...shared },
    );
    const reply = await create({ ...base, messages });
    expect(reply.content).toEqual([{ type: 'text', text: 'All done.' }]);
    const { summaries, turns } = summaryAndTurns();
    expect(summaries).toHaveLength(1);
    expect(JSON.stringify(summaries[0]?.messages.slice(0, -1))).toBe(JSON.stringify(messages));
    expect(summaries[0]).toMatchObject({ system: 'Be exact.', tools });
    expect(turns[0]).toMatchObject({ system: 'Be exact.', tools });
    expect(turns[0]?.messages).toHaveLength(1);
    expect(validateAnthropic(summaries[0] as never)).toEqual([]);
    expect(validateAnthropic(turns[0] as never)).toEqual([]);
    expect(create.compactor.estimate({ ...base, messages })).toMatchObject({ tokens: 321, sources: { tokens: 'usage' } });
  });

  it('with streaming: the summary comes as a stream, and the host’s own stream is untouched', async () => {
    const create = withAutoCompaction(
      (request: Anthropic.MessageCreateParamsStreaming, { signal }) => anthropic.messages.create(request, { signal }),
      { adapter: anthropicMessages(), ...shared },
    );
    const stream = await create({ ...base, messages, stream: true });
    expect(summaryAndTurns().summaries[0]?.stream).toBe(true);
    const types = [];
    for await (const event of stream) types.push(event.type);
    expect(types[0]).toBe('message_start');
    expect(types.at(-1)).toBe('message_stop');
    expect(eventOf(events, 'auto_compaction_applied')).toMatchObject({
      prefix: 'kept',
      usage: { inputTokens: 321, cachedInputTokens: 21 },
    });
  });

  it('with the streaming helper: its final message is whole', async () => {
    const create = withAutoCompaction(
      async (request: Anthropic.MessageStreamParams, { signal }) => anthropic.messages.stream(request, { signal }),
      { adapter: anthropicMessages(), ...shared },
    );
    const stream = await create({ ...base, messages });
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    expect(await stream.finalText()).toBe('All done.');
    expect(texts.join('')).toBe('All done.');
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(summaryAndTurns().turns[0]?.messages).toHaveLength(1);
  });
});

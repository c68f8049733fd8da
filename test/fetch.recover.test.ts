import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { compactingFetch } from '../src/fetch.ts';
import { validateAnthropic } from '../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { lifecycleOf, noticesOf } from './support/harness.ts';
import { type Body, bodyOf, isSummaryRequest } from './support/provider-server.ts';
import { countTokens, inputTokensOf, sendAnthropicReply, sendChatReply, sendJson } from './support/reply-formats.ts';
import { pageOf, pages, startWorkingModel, type WorkingModel } from './support/working-model.ts';

/** What the provider takes, and what it is said to take. */
const limit = 7000;
const claimed = { contextWindow: 200_000, budget: { countTokens } };

/** Refuses what is too long, summary requests too, as the provider does. */
function refuseLong(model: WorkingModel, body: (requested: number) => object, status = 400): Body[] {
  const refused: Body[] = [];
  model.intercept = (call, response) => {
    const requested = inputTokensOf(bodyOf(call));
    if (requested <= limit) return false;
    refused.push(bodyOf(call));
    sendJson(response, status, body(requested));
    return true;
  };
  return refused;
}

describe('a provider whose window is smaller than it was said to be: Chat Completions', () => {
  let model: WorkingModel;
  beforeAll(async () => {
    model = await startWorkingModel(sendChatReply, (path) => /\/chat\/completions$/.test(path));
  });
  afterAll(() => model.close());
  beforeEach(() => model.reset());

  const overflow = (requested: number) => ({
    error: {
      message: `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${requested} tokens.`,
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    },
  });
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'read', parameters: { type: 'object', properties: { page: { type: 'number' } } } } },
  ];
  const clientWith = (options: object = {}) =>
    new OpenAI({
      apiKey: 'sk-key',
      baseURL: `${model.url}/v1`,
      maxRetries: 0,
      logLevel: 'off',
      fetch: compactingFetch({ adapter: openaiChat(), ...claimed, recoverOverflow: true, onEvent: model.onEvent, ...options }),
    });

  async function work(client: OpenAI, task: string, stream: boolean): Promise<string | null> {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: `Task ${task}` }];
    for (;;) {
      const request = { model: 'gpt-5', messages, tools };
      const completion = stream
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request, { headers: { 'idempotency-key': `turn-${messages.length}` } });
      const message = completion.choices[0]!.message;
      messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      for (const call of message.tool_calls)
        if (call.type === 'function')
          messages.push({ role: 'tool', tool_call_id: call.id, content: pageOf(JSON.parse(call.function.arguments)) });
    }
  }

  it.each([
    ['create', false],
    ['stream()', true],
  ])('V74: finishes a tool loop over %s, with one compaction and one turn sent twice', async (_name, stream) => {
    const refused = refuseLong(model, overflow);
    expect(await work(clientWith(), 'alpha', stream)).toBe('Task alpha is done.');
    expect(lifecycleOf(model.events)).toEqual(['started', 'applied']);
    expect(noticesOf(model.events)).toContain('overflow-recovered');
    expect(refused.filter((body) => !isSummaryRequest(body))).toHaveLength(1);
    expect(model.turns()).toHaveLength(pages + 2);
    expect(model.received.map(bodyOf).flatMap((body) => validateOpenAiChat(body))).toEqual([]);
  });

  it('sends the smaller request without the key that belongs to the first one', async () => {
    refuseLong(model, overflow);
    await work(clientWith(), 'beta', false);
    const keys = model.received.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
    expect(keys).toHaveLength(pages + 1);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each([
    ['without the option', { recoverOverflow: false }],
    ['where compaction is off', { when: 'never' }],
  ])('hands the provider’s own error to the client %s', async (_name, options) => {
    refuseLong(model, overflow);
    await expect(work(clientWith(options), 'gamma', false)).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
    expect(model.summaries()).toEqual([]);
  });

  it('hands another error to the client as it came', async () => {
    model.intercept = (_, response) => {
      sendJson(response, 400, { error: { message: 'No such thing.', code: 'bad', type: 'invalid_request_error' } });
      return true;
    };
    await expect(work(clientWith(), 'delta', false)).rejects.toMatchObject({
      status: 400,
      code: 'bad',
      message: '400 No such thing.',
    });
    expect(model.received).toHaveLength(1);
  });
});

describe('a provider whose window is smaller than it was said to be: Anthropic Messages', () => {
  let model: WorkingModel;
  beforeAll(async () => {
    model = await startWorkingModel(sendAnthropicReply, (path) => /\/messages(\?|$)/.test(path));
  });
  afterAll(() => model.close());

  it('V74: finishes a run of the SDK’s own tool runner', async () => {
    refuseLong(model, (requested) => ({
      type: 'error',
      error: { type: 'invalid_request_error', message: `prompt is too long: ${requested} tokens > ${limit} maximum` },
    }));
    const client = new Anthropic({
      apiKey: 'sk-key',
      baseURL: model.url,
      maxRetries: 0,
      logLevel: 'off',
      fetch: compactingFetch({ adapter: anthropicMessages(), ...claimed, recoverOverflow: true, onEvent: model.onEvent }),
    });
    const runner = client.beta.messages.toolRunner({
      model: 'claude-test',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Task alpha' }],
      thread: false,
      tools: [
        {
          name: 'read',
          description: 'Reads a page.',
          input_schema: { type: 'object', properties: { page: { type: 'number' } } },
          parse: (input: unknown) => input as object,
          run: (input: object) => pageOf(input),
        },
      ],
    });
    const { content } = await runner.runUntilDone();
    expect(content).toMatchObject([{ type: 'text', text: 'Task alpha is done.' }]);
    expect(lifecycleOf(model.events)).toEqual(['started', 'applied']);
    expect(model.received.map(bodyOf).flatMap((body) => validateAnthropic(body))).toEqual([]);
  });
});

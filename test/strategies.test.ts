import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import type { CompactionEvent } from '../src/events.ts';
import { readReplacement } from '../src/prompt/replacement.ts';
import { chunkedSummarizer, firstOf, hierarchicalSummarizer, isolatedSummarizer, keepLast } from '../src/strategies.ts';
import { extractiveSummarizer } from '../src/summarize/extractive.ts';
import { forkSummarizer } from '../src/summarize/fork.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import { validateAnthropic } from '../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { type AnthropicServer, startAnthropicServer } from './support/anthropic-server.ts';
import { lifecycleOf, noticesOf } from './support/harness.ts';
import { sendJson, startServer, type TestServer } from './support/http-server.ts';
import { type Body, isSummaryRequest } from './support/provider-server.ts';
import { countTokens, goodSummary } from './support/scripted-model.ts';

// The official clients over HTTP, against servers on this machine that have a window.
const contextWindow = 8000;
const adapter = openaiChat();
let realWindow = contextWindow;
let fails = false;
let openaiServer: TestServer;
let anthropicServer: AnthropicServer;
let openai: OpenAI;
let anthropic: Anthropic;

const sizeOf = (body: Body): number => countTokens(JSON.stringify([body.messages, body.tools, body.system]));
const tooLong = (size: number): string =>
  `This model's maximum context length is ${realWindow} tokens. However, your messages resulted in ${size} tokens. Please reduce the length of the messages.`;

beforeAll(async () => {
  openaiServer = await startServer((value, response) => {
    const body: Body = value;
    if (fails) return sendJson(response, 500, { error: { message: 'down', type: 'server_error' } });
    const size = sizeOf(body) + (body.max_completion_tokens ?? 0);
    // The estimate counts words, not the JSON around them.
    if (isSummaryRequest(body) && size * 0.8 > realWindow)
      return sendJson(response, 400, {
        error: { message: tooLong(size), code: 'context_length_exceeded', type: 'invalid_request_error' },
      });
    const content = isSummaryRequest(body) ? goodSummary : 'Done.';
    sendJson(response, 200, {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, refusal: null } }],
    });
  });
  anthropicServer = await startAnthropicServer();
  openai = new OpenAI({ apiKey: 'test', baseURL: `${openaiServer.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: 'test', baseURL: anthropicServer.baseURL, maxRetries: 0 });
});

afterAll(async () => {
  await Promise.all([openaiServer.close(), anthropicServer.close()]);
});

afterEach(() => {
  openaiServer.bodies.length = 0;
  anthropicServer.bodies.length = 0;
  realWindow = contextWindow;
  fails = false;
});

/** So many turns with a marker in each message, about 620 tokens a turn. */
function history(turns: number): OpenAI.ChatCompletionMessageParam[] {
  return [
    { role: 'system', content: 'Be exact.' },
    ...Array.from({ length: turns }, (_, turn): OpenAI.ChatCompletionMessageParam[] => [
      { role: 'user', content: `<U${turn}> ${'u'.repeat(300)}` },
      { role: 'assistant', content: `<A${turn}> ${'a'.repeat(2000)}` },
    ]).flat(),
    { role: 'user', content: '<LAST> And now?' },
  ];
}

/** One compaction before a turn, with this summarizer. */
async function compactBy(summarizer: Summarizer, messages = history(16)) {
  const events: CompactionEvent[] = [];
  const create = withAutoCompaction(
    (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
    {
      adapter,
      contextWindow,
      budget: { countTokens },
      summary: { summarizer, retries: 0 },
      onEvent: (event) => events.push(event),
    },
  );
  const reply = await create({ model: 'gpt-4.1-mini', messages }).catch((error: unknown) => error);
  const bodies: Body[] = openaiServer.bodies;
  const turn = bodies.filter((body) => !isSummaryRequest(body)).at(-1);
  return {
    events,
    reply,
    summaries: bodies.filter(isSummaryRequest),
    replacement: turn?.messages.flatMap(adapter.readItem).map(readReplacement).find(Boolean),
  };
}

const markersOf = (value: unknown): string[] => JSON.stringify(value).match(/<[UA]\d+>/g) ?? [];

describe('through the official clients', () => {
  it('chunkedSummarizer: a history of ten windows ends in one summary, each message asked about once', async () => {
    const messages = history(140);
    expect(countTokens(JSON.stringify(messages))).toBeGreaterThan(10 * contextWindow);
    const { summaries, events, replacement } = await compactBy(chunkedSummarizer(), messages);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(markersOf(summaries.map((body) => body.messages))).toEqual(markersOf(messages));
    expect(summaries.length).toBeLessThan(25);
    expect(replacement?.summary).toBe(goodSummary);
    expect(noticesOf(events).filter((code) => code === 'summarized-in-pieces')).toHaveLength(summaries.length);
    expect(events.find(({ type }) => type === 'auto_compaction_applied')).toMatchObject({
      because: ['summarized in pieces'],
      omitted: undefined,
    });
    for (const body of summaries) expect(validateOpenAiChat(body)).toEqual([]);
  });

  it('chunkedSummarizer: so it does where the provider has half the window that it is said to have', async () => {
    realWindow = contextWindow / 2;
    const messages = history(60);
    const { summaries, events } = await compactBy(chunkedSummarizer(), messages);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    const answered = summaries.filter((body) => (sizeOf(body) + body.max_completion_tokens) * 0.8 <= realWindow);
    expect(markersOf(answered.map((body) => body.messages))).toEqual(markersOf(messages));
    expect(noticesOf(events)).toContain('summary-shortened');
  });

  it('isolatedSummarizer: a model of another provider writes the summary, and nothing of it reaches the one of the conversation', async () => {
    anthropicServer.answer = (body) => ({
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: body.model,
        content: [{ type: 'text', text: '## Goal\nFrom the other one.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 4000, output_tokens: 20 },
      },
    });
    const { summaries, events, replacement } = await compactBy(
      isolatedSummarizer({
        adapter: anthropicMessages(),
        request: { model: 'claude-haiku-4-5', max_tokens: 1000, messages: [] },
        send: (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => anthropic.messages.create(request, { signal }),
        contextWindow: 200_000,
      }),
    );
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(summaries).toEqual([]);
    expect(anthropicServer.bodies).toHaveLength(1);
    expect(validateAnthropic(anthropicServer.bodies[0])).toEqual([]);
    expect(markersOf(anthropicServer.bodies)).toEqual(markersOf(history(16)));
    expect(replacement).toMatchObject({
      summary: '## Goal\nFrom the other one.',
      lastUserMessage: [{ text: '<LAST> And now?' }],
    });
    expect(events.find(({ type }) => type === 'auto_compaction_applied')).toMatchObject({
      because: ['transcript'],
      usage: { inputTokens: 4000, outputTokens: 20 },
    });
  });

  it('isolatedSummarizer: its failure names its model and leaves the turn to go on', async () => {
    anthropicServer.answer = () => ({ status: 401, error: { type: 'authentication_error', message: 'sk-SECRET is wrong' } });
    const { events, reply } = await compactBy(
      isolatedSummarizer({
        adapter: anthropicMessages(),
        request: { model: 'claude-haiku-4-5', max_tokens: 1000, messages: [] },
        send: (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => anthropic.messages.create(request, { signal }),
        contextWindow: 200_000,
      }),
    );
    const failed = events.find((event) => event.type === 'auto_compaction_failed');
    expect(failed?.error).toMatchObject({ code: 'summarizer-failed', provider: 'anthropic', model: 'claude-haiku-4-5' });
    expect(String(failed?.error)).not.toContain('SECRET');
    expect(reply).toMatchObject({ object: 'chat.completion' });
  });

  it('hierarchicalSummarizer: abstract and summary stand in the one message of the user', async () => {
    const { summaries, replacement } = await compactBy(hierarchicalSummarizer());
    expect(summaries.map((body) => body.max_completion_tokens)).toEqual([150, expect.any(Number)]);
    expect(replacement?.summary).toBe(`Earlier context (abstract):\n${goodSummary}\n\nRecent context (summary):\n${goodSummary}`);
    for (const body of summaries) {
      expect(body.messages.map(({ role }: Body) => role)).toEqual(['system', 'user']);
      expect(validateOpenAiChat(body)).toEqual([]);
    }
  });

  it('firstOf: where the provider is down, the summary comes without one', async () => {
    fails = true;
    const { events, summaries } = await compactBy(firstOf(forkSummarizer(), chunkedSummarizer(), extractiveSummarizer()));
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(noticesOf(events).filter((code) => code === 'summarizer-failed-over')).toHaveLength(2);
    expect(summaries).toHaveLength(2);
  });

  it('keepLast: more messages than are kept are summarized', async () => {
    const { events, summaries } = await compactBy(keepLast(8, forkSummarizer()));
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(summaries).toHaveLength(1);
  });
});

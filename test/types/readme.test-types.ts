// Compiled, never run: what the documentation shows compiles with the SDKs' own types, without a cast, and gives them back.
import type Anthropic from '@anthropic-ai/sdk';
import type * as Beta from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type { Stream as AnthropicStream } from '@anthropic-ai/sdk/streaming';
import type OpenAI from 'openai';
import type { Stream as ChatStream } from 'openai/streaming';
import { expectTypeOf } from 'vitest';
import { type AnthropicMessage, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import {
  type AppendedReply,
  AutoCompactingLoop,
  type BudgetEstimate,
  type CompactionPlan,
  type CompactionResult,
  type ConversationSnapshot,
  compact,
  createCompactor,
  estimateBudget,
  type Message,
  type Summarizer,
  withAutoCompaction,
} from '../../src/index.ts';

type Signal = { signal: AbortSignal };
type ChatReply = Awaited<ReturnType<typeof sendChat>>;
type ChatChunks = Awaited<ReturnType<typeof streamChat>>;

declare const openai: OpenAI;
declare const anthropic: Anthropic;
declare const signal: AbortSignal;

const sendChat = (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }: Signal) =>
  openai.chat.completions.create(request, { signal });
const streamChat = (request: OpenAI.ChatCompletionCreateParamsStreaming, { signal }: Signal) =>
  openai.chat.completions.create(request, { signal });

export async function wrapChat(
  client: OpenAI,
  model: string,
  messages: OpenAI.ChatCompletionMessageParam[],
  tools: OpenAI.ChatCompletionTool[],
): Promise<void> {
  const create = withAutoCompaction(
    (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => client.chat.completions.create(request, { signal }),
    { adapter: openaiChat(), contextWindow: 128_000 },
  );
  const reply = await create({ model, messages, tools });
  expectTypeOf(reply).toEqualTypeOf<ChatReply>();
  expectTypeOf(reply).toExtend<OpenAI.ChatCompletion>();
  const { message } = reply.choices[0] ?? {};
  if (message) messages.push(message);
  await create({ model, messages, tools }, { signal, conversation: 'a', oneShot: true });
  expectTypeOf(create.compactor.prepare({ model, messages })).resolves.toExtend<{ messages: typeof messages }>();
}

export async function wrapChatStream(client: OpenAI, messages: OpenAI.ChatCompletionMessageParam[]): Promise<void> {
  const create = withAutoCompaction(
    (request: OpenAI.ChatCompletionCreateParamsStreaming, { signal }) => client.chat.completions.create(request, { signal }),
    { adapter: openaiChat(), contextWindow: 128_000 },
  );
  const request: OpenAI.ChatCompletionCreateParamsStreaming = { model: 'gpt-5', messages, stream: true };
  const stream = await create(request);
  expectTypeOf(stream).toEqualTypeOf<ChatChunks>();
  expectTypeOf(stream).toExtend<ChatStream<OpenAI.ChatCompletionChunk>>();
  for await (const chunk of stream)
    if (chunk.usage) create.compactor.observe(request, { usage: { inputTokens: chunk.usage.prompt_tokens } });
}

/** One function for both: the host decides by the request. */
export async function wrapChatEither(client: OpenAI, request: OpenAI.ChatCompletionCreateParams): Promise<void> {
  const create = withAutoCompaction(
    (params: OpenAI.ChatCompletionCreateParams, { signal }) => client.chat.completions.create(params, { signal }),
    { adapter: openaiChat(), contextWindow: 128_000 },
  );
  expectTypeOf(await create(request)).toEqualTypeOf<ChatReply | ChatChunks>();
}

export async function wrapClaude(client: Anthropic, messages: Anthropic.MessageParam[], tools: Anthropic.Tool[]): Promise<void> {
  const create = withAutoCompaction(
    (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => client.messages.create(request, { signal }),
    { adapter: anthropicMessages(), contextWindow: 200_000 },
  );
  const reply = await create({ model: 'claude-sonnet-4-5', max_tokens: 4096, system: 'Be exact.', messages, tools });
  expectTypeOf(reply).toExtend<Anthropic.Message>();
  messages.push({ role: 'assistant', content: reply.content });
}

export async function wrapClaudeStream(client: Anthropic, request: Anthropic.MessageCreateParamsStreaming): Promise<void> {
  const create = withAutoCompaction(
    (params: Anthropic.MessageCreateParamsStreaming, { signal }) => client.messages.create(params, { signal }),
    { adapter: anthropicMessages(), contextWindow: 200_000 },
  );
  expectTypeOf(await create(request)).toExtend<AnthropicStream<Anthropic.RawMessageStreamEvent>>();
}

/** The streaming helper of the SDK. */
export async function wrapClaudeHelper(client: Anthropic, request: Anthropic.MessageStreamParams): Promise<void> {
  const create = withAutoCompaction(
    async (params: Anthropic.MessageStreamParams, { signal }) => client.messages.stream(params, { signal }),
    { adapter: anthropicMessages(), contextWindow: 200_000 },
  );
  const stream = await create(request);
  expectTypeOf(stream).toExtend<ReturnType<Anthropic['messages']['stream']>>();
  expectTypeOf(await stream.finalMessage()).toExtend<Anthropic.Message>();
}

export async function wrapClaudeBeta(client: Anthropic, request: Beta.MessageCreateParamsNonStreaming): Promise<void> {
  const create = withAutoCompaction(
    (params: Beta.MessageCreateParamsNonStreaming, { signal }) => client.beta.messages.create(params, { signal }),
    { adapter: anthropicMessages(), contextWindow: 1_000_000 },
  );
  expectTypeOf(await create(request)).toExtend<Beta.BetaMessage>();
}

export async function embedCompactor(client: OpenAI, request: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<void> {
  const compactor = createCompactor({
    adapter: openaiChat(),
    contextWindow: 128_000,
    send: (params: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) =>
      client.chat.completions.create(params, { signal }),
    async commit({ request: rebuilt, replacement, covered, snapshot }) {
      expectTypeOf(rebuilt).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
      expectTypeOf(replacement).toEqualTypeOf<Message[]>();
      expectTypeOf(covered).toEqualTypeOf<number>();
      expectTypeOf(snapshot).toEqualTypeOf<ConversationSnapshot>();
    },
  });
  expectTypeOf(compactor.estimate(request)).toEqualTypeOf<BudgetEstimate>();
  expectTypeOf(compactor.plan(request)).resolves.toEqualTypeOf<CompactionPlan>();
  const prepared = await compactor.prepare(request, { signal, conversation: 'a' });
  expectTypeOf(prepared).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
  expectTypeOf(await client.chat.completions.create(prepared)).toEqualTypeOf<ChatReply>();
  const result = await compactor.compact(request, { instructions: 'Keep the plan.', onText: (text) => text.trim(), signal });
  expectTypeOf(result).toEqualTypeOf<CompactionResult<OpenAI.ChatCompletionCreateParamsNonStreaming>>();
  compactor.restore(compactor.snapshot(request));
  compactor.observe(prepared, { usage: { inputTokens: 1000 } });

  const loop = compactor.loop(request, {
    commit: ({ request: rebuilt }) => client.chat.completions.create(rebuilt).then(() => {}),
  });
  expectTypeOf(loop).toEqualTypeOf<AutoCompactingLoop<OpenAI.ChatCompletionCreateParamsNonStreaming, ChatMessage, ChatReply>>();
}

/** Requests keep what the caller's type has beyond the provider's. */
export async function keepTheRequestsOwnType(client: OpenAI, messages: OpenAI.ChatCompletionMessageParam[]): Promise<void> {
  const compactor = createCompactor({ adapter: openaiChat(), send: sendChat });
  const prepared = await compactor.prepare({ model: 'gpt-5' as const, messages, tools: [], extra: 'mine' });
  expectTypeOf(prepared.extra).toEqualTypeOf<string>();
  expectTypeOf(prepared.model).toEqualTypeOf<'gpt-5'>();
  await client.chat.completions.create(prepared);
}

export async function runLoop(client: OpenAI, request: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<void> {
  const loop = new AutoCompactingLoop(request, {
    adapter: openaiChat(),
    contextWindow: 128_000,
    send: (params: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) =>
      client.chat.completions.create(params, { signal }),
    commit: ({ request: rebuilt }) =>
      expectTypeOf(rebuilt).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>() && undefined,
    onEvent: (event) => event.type === 'auto_compaction_applied' && event.tokensAfter,
  });
  const reply = await loop.send({ params: { temperature: 0 }, signal });
  expectTypeOf(reply).toEqualTypeOf<ChatReply>();
  const appended = await loop.appendReply(reply, { onText: (text) => text.trim() });
  expectTypeOf(appended).toEqualTypeOf<AppendedReply<OpenAI.ChatCompletionMessageParam>>();
  const result: OpenAI.ChatCompletionToolMessageParam = { role: 'tool', tool_call_id: 'call_1', content: 'done' };
  loop.append([result]);
  loop.update({ system: 'Be brief.', params: { tools: [], model: 'gpt-5-mini' } });
  expectTypeOf(loop.request).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
  expectTypeOf(loop.history).toEqualTypeOf<Message[]>();
  expectTypeOf(loop.estimate()).toEqualTypeOf<BudgetEstimate>();
  expectTypeOf((await loop.compact()).request).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
  loop.reset({ ...request, messages: [] });
}

export async function runClaudeLoop(client: Anthropic, request: Anthropic.MessageCreateParamsStreaming): Promise<void> {
  const loop = new AutoCompactingLoop(request, {
    adapter: anthropicMessages(),
    send: (params: Anthropic.MessageCreateParamsStreaming, { signal }) => client.messages.create(params, { signal }),
  });
  await loop.appendReply(await loop.send());
  const results: Anthropic.MessageParam = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }],
  };
  loop.append([results]);
  loop.append([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'done' }] }]);
  loop.append([{ role: 'user', content: [{ type: 'text', text: 'Go on.' }] }]);
  expectTypeOf(loop.request).toEqualTypeOf<Anthropic.MessageCreateParamsStreaming>();
  expectTypeOf(loop.append).parameter(0).toEqualTypeOf<readonly (Anthropic.MessageParam | AnthropicMessage)[]>();
}

export async function compactOnce(request: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<void> {
  const { request: compacted } = await compact(request, {
    adapter: openaiChat(),
    contextWindow: 128_000,
    send: (params: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) =>
      openai.chat.completions.create(params, { signal }),
    instructions: 'Keep the plan.',
  });
  expectTypeOf(compacted).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
  const claude: Anthropic.MessageCreateParamsNonStreaming = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [] };
  const result = await compact(claude, {
    adapter: anthropicMessages(),
    send: (params: Anthropic.MessageCreateParamsNonStreaming, { signal }) => anthropic.messages.create(params, { signal }),
    format: 'tagged',
  });
  expectTypeOf(result.request).toEqualTypeOf<Anthropic.MessageCreateParamsNonStreaming>();
}

/** No model is asked: there is nothing to send. */
export async function withoutSend(request: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<void> {
  const summarizer: Summarizer = async ({ messages }) => ({ text: `${messages.length} messages` });
  const { request: compacted } = await compact(request, { adapter: openaiChat(), summary: { summarizer } });
  expectTypeOf(compacted).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
  const compactor = createCompactor({ adapter: openaiChat(), summary: { summarizer } });
  expectTypeOf(await compactor.prepare(request)).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
}

export function estimate(
  request: OpenAI.ChatCompletionCreateParams,
  claude: Anthropic.MessageCreateParams,
  messages: Message[],
): void {
  expectTypeOf(estimateBudget(messages, { contextWindow: 128_000 })).toEqualTypeOf<BudgetEstimate>();
  expectTypeOf(estimateBudget(messages)).toEqualTypeOf<BudgetEstimate>();
  expectTypeOf(estimateBudget(request, { adapter: openaiChat(), contextWindow: 128_000 })).toEqualTypeOf<BudgetEstimate>();
  expectTypeOf(estimateBudget(claude, { adapter: anthropicMessages(), contextWindow: 200_000 })).toEqualTypeOf<BudgetEstimate>();
  // @ts-expect-error A native request needs its adapter.
  estimateBudget(request, { contextWindow: 128_000 });
}

/** A request of another provider's shape does not fit. */
export function refusesOtherShapes(): void {
  const create = withAutoCompaction(sendChat, { adapter: openaiChat() });
  // @ts-expect-error No messages.
  void create({ model: 'gpt-5' });
  // @ts-expect-error The adapter of another provider, whose replies are different.
  withAutoCompaction(sendChat, { adapter: anthropicMessages() });
  // @ts-expect-error No such option.
  createCompactor({ adapter: openaiChat(), send: streamChat, windowSize: 1000 });
}

/** Without a `send` the loop is driven by hand. */
export async function runLoopByHand(client: OpenAI, request: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<void> {
  const summarizer: Summarizer = async ({ messages }) => ({ text: `${messages.length} messages` });
  const loop = new AutoCompactingLoop(request, { adapter: openaiChat(), summary: { summarizer } });
  const { calls } = await loop.appendReply(await client.chat.completions.create(await loop.prepare()));
  expectTypeOf(calls[0]?.name).toEqualTypeOf<string | undefined>();
}

/** Requests that are written down in place get the SDK's type from `send`. */
export function writtenInPlace(messages: OpenAI.ChatCompletionMessageParam[], tools: OpenAI.ChatCompletionTool[]): void {
  const loop = new AutoCompactingLoop({ model: 'gpt-5', messages }, { adapter: openaiChat(), send: sendChat });
  expectTypeOf(loop.request).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
  loop.update({ params: { tools } });
  const streaming = new AutoCompactingLoop(
    { model: 'gpt-5', messages, stream: true },
    { adapter: openaiChat(), send: streamChat },
  );
  expectTypeOf(streaming.request).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsStreaming>();
  streaming.update({ params: { tools } });
  createCompactor({ adapter: openaiChat(), send: sendChat }).loop({ model: 'gpt-5', messages }).update({ params: { tools } });
  const untyped = new AutoCompactingLoop(loop.request, {
    adapter: openaiChat(),
    send: (request, { signal }) => openai.chat.completions.create(request, { signal }),
  });
  expectTypeOf(untyped.request).toEqualTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>();
  expectTypeOf(untyped.send()).resolves.toEqualTypeOf<ChatReply>();
}

// Compiled, never run: LangChain's own types fit the adapter's bounds without a cast.
import type { BaseMessage, MessageFieldWithRole } from '@langchain/core/messages';
import * as messages from '@langchain/core/messages';
import type { ChatOpenAI } from '@langchain/openai';
import {
  type AgentMiddleware,
  AIMessage,
  type AIMessageChunk,
  createAgent,
  createMiddleware,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  tool,
} from 'langchain';
import { expectTypeOf } from 'vitest';
import * as z from 'zod';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { createCompactor } from '../../src/compactor.ts';
import {
  type LangchainMessage,
  type LangchainMessageClasses,
  type LangchainReply,
  type LangchainRequest,
  langchainMessages,
  langchainMiddleware,
} from '../../src/frameworks/langchain.ts';
import { withAutoCompaction } from '../../src/wrap.ts';

const messageClasses = { HumanMessage, AIMessage, ToolMessage, SystemMessage };

expectTypeOf(langchainMessages).returns.toEqualTypeOf<ProviderAdapter<LangchainRequest, LangchainMessage, LangchainReply>>();
expectTypeOf(messageClasses).toExtend<LangchainMessageClasses>();
expectTypeOf(messages).toExtend<LangchainMessageClasses>();

expectTypeOf<BaseMessage>().toExtend<LangchainMessage>();
expectTypeOf<MessageFieldWithRole>().toExtend<LangchainMessage>();
expectTypeOf<AIMessage>().toExtend<LangchainReply>();
expectTypeOf<AIMessageChunk>().toExtend<LangchainReply>();
expectTypeOf<Awaited<ReturnType<ChatOpenAI['stream']>>>().toExtend<LangchainReply>();
expectTypeOf<{ messages: BaseMessage[] }>().toExtend<LangchainRequest>();

type ModelRequest = Parameters<NonNullable<AgentMiddleware['wrapModelCall']>>[0];
expectTypeOf<ModelRequest>().toExtend<LangchainRequest>();

/** The middleware is one of LangChain's, and leaves the types of the agent alone. */
export async function runAgent(model: ChatOpenAI): Promise<void> {
  const compacting = langchainMiddleware({ messageClasses, contextWindow: 400_000 });
  expectTypeOf(compacting).toExtend<AgentMiddleware>();
  const counting = createMiddleware({ name: 'Counting', stateSchema: z.object({ count: z.number().default(0) }) });
  const read = tool(async ({ path }: { path: string }) => path, { name: 'read', schema: z.object({ path: z.string() }) });
  const alone = createAgent({ model, tools: [read], middleware: [compacting] });
  expectTypeOf((await alone.invoke({ messages: [new HumanMessage('Hello')] })).messages).toExtend<BaseMessage[]>();
  const agent = createAgent({
    model,
    tools: [read],
    responseFormat: z.object({ title: z.string() }),
    middleware: [counting, langchainMiddleware({ messageClasses: messages, when: 'tool-turn', conversation: () => undefined })],
  });
  const { count, structuredResponse } = await agent.invoke({ messages: [new HumanMessage('Hello')] });
  expectTypeOf(count).toEqualTypeOf<number>();
  expectTypeOf(structuredResponse).toEqualTypeOf<{ title: string }>();
}

/** A loop of one's own, with and without streams. */
export async function runLoop(model: ChatOpenAI): Promise<void> {
  const options = { adapter: langchainMessages(messageClasses), contextWindow: 400_000 };
  const invoke = withAutoCompaction(
    (request: { messages: BaseMessage[] }, { signal }) => model.invoke(request.messages, { signal }),
    options,
  );
  expectTypeOf(await invoke({ messages: [new HumanMessage('Hello')] })).toExtend<AIMessageChunk>();
  const stream = withAutoCompaction(
    (request: { messages: BaseMessage[] }, { signal }) => model.stream(request.messages, { signal }),
    options,
  );
  for await (const chunk of await stream({ messages: [new HumanMessage('Hello')] }))
    expectTypeOf(chunk).toExtend<AIMessageChunk>();
  const plain = withAutoCompaction(
    (request: { messages: MessageFieldWithRole[] }, { signal }) => model.invoke(request.messages, { signal }),
    options,
  );
  await plain({ messages: [{ role: 'user', content: 'Hello' }] });
  const compactor = createCompactor({
    ...options,
    send: (request: { messages: BaseMessage[] }, { signal }) => model.invoke(request.messages, { signal }),
  });
  expectTypeOf(await compactor.prepare({ messages: [new HumanMessage('Hello')] })).toExtend<{ messages: BaseMessage[] }>();
}

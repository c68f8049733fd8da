import {
  AutoCompactingLoop,
  type CompactionObserver,
  type FinishReason,
  type Message,
  type ToolCallPart,
} from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import { createSession, type ManualView, readTurn, type Session, type SessionStore } from 'context-compactor/session';
import { loadTokenCounter } from 'context-compactor/tokenizer';
import type OpenAI from 'openai';
import { describeError } from './describe-error.ts';
import type { ChatModel } from './model.ts';
import { type TokensUsed, watchUsage } from './watch-usage.ts';

type ChatRequest = OpenAI.ChatCompletionCreateParamsStreaming;

export interface ConversationOptions {
  model: ChatModel;
  store: SessionStore;
  /** Name of the session. */
  id: string;
  onEvent: CompactionObserver;
}

/** What a turn shows while it runs. */
export interface TurnView {
  onText(text: string): void;
  onTool(call: ToolCallPart): void;
}

/** One session, and the agent that goes on with it. */
export interface Conversation {
  readonly session: Session;
  /** How full the window is, in tokens. */
  readonly size: { tokens: number; contextWindow: number };
  /** What this process has used, summaries included. */
  readonly used: TokensUsed;
  /**
   * Answers one message of the user, tools and all. What was visible until an abort or a failure stays in the conversation.
   *
   * @throws what the provider or the store fails with; the abort's reason.
   */
  ask(text: string, view: TurnView, signal: AbortSignal): Promise<FinishReason>;
  /**
   * Compacts by hand.
   *
   * @throws CompactionError, nothing changed; `cancelled` after `cancelCompaction`.
   */
  compact(focus: string | undefined, view: ManualView): Promise<void>;
  /** Cancels a compaction under way, automatic or not, and nothing else. */
  cancelCompaction(): void;
}

const system = 'You are a helpful agent in a terminal. Use your tools to look before you answer. Write plain text, no markup.';

/**
 * @throws as `createSession` does.
 */
export async function openConversation({ model, store, id, onEvent }: ConversationOptions): Promise<Conversation> {
  const { client, contextWindow, tools } = model;
  const adapter = openaiChat();
  const used: TokensUsed = { inputTokens: 0, outputTokens: 0 };
  const session = await createSession({ store, id });
  const { recorder } = session;
  const fresh: ChatRequest = {
    model: model.name,
    messages: [{ role: 'system', content: system }],
    tools: tools.map(({ definition }) => definition),
    stream: true,
    stream_options: { include_usage: true },
  };
  const { request, snapshot } = session.restore(adapter, fresh);
  const loop = new AutoCompactingLoop(
    request,
    {
      adapter,
      contextWindow,
      // The default margin, but in a small window no more than an eighth of it: room for the summary.
      budget: {
        safetyMargin: Math.ceil(Math.min(contextWindow / 8, Math.max(4_096, contextWindow / 20))),
        countTokens: await loadTokenCounter(),
      },
      send: async (turn: ChatRequest, { signal }) => {
        // The SDK listens to the signal of each request for good, and a turn may have many.
        const own = AbortSignal.any([signal]);
        return watchUsage(await client.chat.completions.create(turn, { signal: own }), used);
      },
      commit: session.commit,
      onEvent,
    },
    { snapshot },
  );

  async function runTurn({ onText, onTool }: TurnView, signal: AbortSignal): Promise<FinishReason> {
    const show = (text: string): void => {
      recorder.onText(text);
      onText(text);
    };
    for (;;) {
      const reply = await loop.send({ signal });
      const before = loop.request.messages.length;
      const { calls, finish } = await loop.appendReply(reply, { signal, onText: show });
      for (const call of calls) {
        onTool(call);
        loop.append([await runTool(call)]);
      }
      await session.appendTurn({ ...readTurn(adapter, loop.request.messages.slice(before)), snapshot: loop.snapshot() });
      if (calls.length === 0) return finish;
      signal.throwIfAborted();
    }
  }

  /** A tool that fails tells the model why: that is never the end of a turn. */
  async function runTool(call: ToolCallPart): Promise<OpenAI.ChatCompletionToolMessageParam> {
    const { id, name, input } = call;
    recorder.onToolStart(call);
    try {
      const tool = tools.find(({ definition }) => definition.function.name === name);
      if (!tool) throw new Error(`There is no tool ${JSON.stringify(name)}.`);
      const output = await tool.run(input);
      recorder.onToolEnd({ id, output });
      return { role: 'tool', tool_call_id: id, content: output };
    } catch (error) {
      const output = `Error: ${describeError(error)}`;
      recorder.onToolEnd({ id, status: 'error', output });
      return { role: 'tool', tool_call_id: id, content: output };
    }
  }

  /** What was visible of a turn that did not come to its end. */
  async function keepPartial(error: unknown, interrupted: boolean): Promise<void> {
    const messages = recorder.messages();
    loop.append(messages.flatMap((message) => adapter.writeMessage(message)));
    const reason = interrupted ? undefined : describeError(error);
    await session.appendTurn({ messages, interrupted, error: reason, snapshot: loop.snapshot() });
  }

  return {
    session,
    used,
    get size() {
      return { tokens: loop.estimate().tokens, contextWindow };
    },
    async ask(text, view, signal) {
      const message: Message = { role: 'user', parts: [{ type: 'text', text }] };
      await session.appendUser(message);
      loop.append(adapter.writeMessage(message));
      recorder.start();
      try {
        return await runTurn(view, signal);
      } catch (error) {
        await keepPartial(error, signal.aborted);
        throw error;
      }
    },
    async compact(focus, view) {
      await loop.compact({ instructions: focus, ...session.recordManual(view) });
    },
    cancelCompaction: () => loop.cancelCompaction(),
  };
}

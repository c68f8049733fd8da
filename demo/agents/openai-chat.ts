import { withAutoCompaction } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import OpenAI from 'openai';
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { type AgentOptions, type AgentRun, outputCap, readCall, runToolLoop } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { schemaOf, tools } from '../tools.ts';

const chatTools: ChatCompletionFunctionTool[] = tools.map((tool) => ({
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: { ...schemaOf(tool) } },
}));

/** Answers the question with streamed Chat Completions. Its own list of messages only grows: compaction happens on the way out. */
export async function runOpenAiChat(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent } = options;
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const create = withAutoCompaction(
    (request: ChatCompletionCreateParamsStreaming, { signal }) => client.chat.completions.create(request, { signal }),
    { adapter: openaiChat(), contextWindow, onEvent },
  );

  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: question },
  ];
  const newRequest = (): ChatCompletionCreateParamsStreaming => ({
    model,
    messages: [...messages],
    tools: chatTools,
    max_completion_tokens: outputCap,
    stream: true,
    stream_options: { include_usage: true },
  });

  let request = newRequest();
  const answer = await runToolLoop(options, {
    async ask() {
      request = newRequest();
      const { content, toolCalls, inputTokens } = await readStream(await create(request));
      // A stream is the caller's own: the library does not read it, so its usage must be told.
      if (inputTokens !== undefined) create.compactor.observe(request, { usage: { inputTokens } });
      if (toolCalls.length > 0) messages.push({ role: 'assistant', content, tool_calls: toolCalls });
      return { text: content, calls: toolCalls.map(({ id, function: { name, arguments: text } }) => readCall(id, name, text)) };
    },
    answer(results) {
      for (const { call, output } of results) messages.push({ role: 'tool', tool_call_id: call.id, content: output.text });
    },
  });
  return { answer, sendWhole: () => client.chat.completions.create(request) };
}

interface StreamedReply {
  content: string;
  toolCalls: ChatCompletionMessageFunctionToolCall[];
  inputTokens: number | undefined;
}

async function readStream(stream: AsyncIterable<ChatCompletionChunk>): Promise<StreamedReply> {
  let content = '';
  let inputTokens: number | undefined;
  const toolCalls: ChatCompletionMessageFunctionToolCall[] = [];
  for await (const { choices, usage } of stream) {
    inputTokens = usage?.prompt_tokens ?? inputTokens;
    const delta = choices[0]?.delta;
    content += delta?.content ?? '';
    for (const piece of delta?.tool_calls ?? []) {
      toolCalls[piece.index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } };
      const call = toolCalls[piece.index];
      if (!call) continue;
      call.id += piece.id ?? '';
      call.function.name += piece.function?.name ?? '';
      call.function.arguments += piece.function?.arguments ?? '';
    }
  }
  return { content, toolCalls, inputTokens };
}

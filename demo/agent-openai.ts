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
import { type AgentCall, type AgentOptions, type AgentRun, describeCalls, maxSteps, runCalls } from './agent.ts';
import { question, systemPrompt } from './question.ts';
import { schemaOf, type ToolInput, tools } from './tools.ts';

const chatTools: ChatCompletionFunctionTool[] = tools.map((tool) => ({
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: { ...schemaOf(tool) } },
}));

/** Answers the question with streamed Chat Completions. Its own list of messages only grows: compaction happens on the way out. */
export async function runOpenAiAgent(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent, onStep } = options;
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const create = withAutoCompaction(
    (request: ChatCompletionCreateParamsStreaming, { signal }) => client.chat.completions.create(request, { signal }),
    { adapter: openaiChat(), contextWindow, onEvent },
  );

  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: question },
  ];
  const request = (): ChatCompletionCreateParamsStreaming => ({
    model,
    messages: [...messages],
    tools: chatTools,
    max_completion_tokens: 2048,
    stream: true,
    stream_options: { include_usage: true },
  });

  for (let step = 1; step <= maxSteps; step++) {
    const uncompactedRequest = request();
    const { content, toolCalls, inputTokens } = await readStream(await create(uncompactedRequest));
    // A stream is the caller's own: the library does not read it, so its usage must be told.
    if (inputTokens !== undefined) create.compactor.observe(uncompactedRequest, { usage: { inputTokens } });
    const calls = toolCalls.map(readCall);
    onStep(describeCalls(calls));
    if (calls.length === 0) return { answer: content, steps: step, toolTurns: step - 1, uncompactedRequest };
    messages.push({ role: 'assistant', content, tool_calls: toolCalls });
    for (const { id, output } of await runCalls(calls)) messages.push({ role: 'tool', tool_call_id: id, content: output.text });
  }
  throw new Error(`No answer after ${maxSteps} steps.`);
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

/** Arguments that are no JSON object reach the tool as none at all, and the tool says what it misses. */
function readCall({ id, function: { name, arguments: text } }: ChatCompletionMessageFunctionToolCall): AgentCall {
  try {
    // A tool checks each argument that it reads.
    return { id, name, input: (JSON.parse(text) as ToolInput | null) ?? {} };
  } catch {
    return { id, name, input: {} };
  }
}

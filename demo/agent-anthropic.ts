import Anthropic from '@anthropic-ai/sdk';
import type {
  Tool as AnthropicTool,
  ContentBlockParam,
  MessageCreateParamsNonStreaming,
  MessageParam,
  ToolUseBlock,
} from '@anthropic-ai/sdk/resources/messages';
import { withAutoCompaction } from 'context-compactor';
import { anthropicMessages } from 'context-compactor/anthropic';
import { type AgentCall, type AgentOptions, type AgentRun, describeCalls, maxSteps, runCalls } from './agent.ts';
import { question, systemPrompt } from './question.ts';
import { schemaOf, type ToolInput, tools } from './tools.ts';

const cached = { cache_control: { type: 'ephemeral' } } as const;

const anthropicTools: AnthropicTool[] = tools.map((tool) => ({
  name: tool.name,
  description: tool.description,
  input_schema: schemaOf(tool),
}));

/** Answers the question with the Messages API. Its own list of messages only grows: compaction happens on the way out. */
export async function runAnthropicAgent(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent, onStep } = options;
  const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
  const create = withAutoCompaction(
    (request: MessageCreateParamsNonStreaming, { signal }) => client.messages.create(request, { signal }),
    { adapter: anthropicMessages(), contextWindow, onEvent },
  );

  const messages: MessageParam[] = [{ role: 'user', content: question }];
  for (let step = 1; step <= maxSteps; step++) {
    const uncompactedRequest: MessageCreateParamsNonStreaming = {
      model,
      max_tokens: 2048,
      system: [{ type: 'text', text: systemPrompt, ...cached }],
      tools: anthropicTools,
      messages: markLast(messages),
    };
    const reply = await create(uncompactedRequest);
    const calls = reply.content.filter((block) => block.type === 'tool_use').map(readCall);
    onStep(describeCalls(calls));
    if (calls.length === 0) {
      const answer = reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      return { answer, steps: step, toolTurns: step - 1, uncompactedRequest };
    }
    messages.push({ role: 'assistant', content: reply.content });
    const results = (await runCalls(calls)).map(
      ({ id, output }): ContentBlockParam => ({
        type: 'tool_result',
        tool_use_id: id,
        content: output.text,
        ...(output.isError ? { is_error: true } : {}),
      }),
    );
    messages.push({ role: 'user', content: results });
  }
  throw new Error(`No answer after ${maxSteps} steps.`);
}

/** The conversation with a cache marker on its last block, as the provider advises. The marker moves on with each request. */
function markLast(messages: readonly MessageParam[]): MessageParam[] {
  const last = messages.at(-1);
  if (last?.role !== 'user' || typeof last.content === 'string') return [...messages];
  const blocks = last.content.map((block, index, all) =>
    index === all.length - 1 && block.type === 'tool_result' ? { ...block, ...cached } : block,
  );
  return [...messages.slice(0, -1), { ...last, content: blocks }];
}

function readCall({ id, name, input }: ToolUseBlock): AgentCall {
  // A tool checks each argument that it reads.
  return { id, name, input: (input as ToolInput | null) ?? {} };
}

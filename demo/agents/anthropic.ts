import Anthropic from '@anthropic-ai/sdk';
import type {
  Tool as AnthropicTool,
  ContentBlockParam,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from '@anthropic-ai/sdk/resources/messages';
import { withAutoCompaction } from 'context-compactor';
import { anthropicMessages } from 'context-compactor/anthropic';
import { type AgentOptions, type AgentRun, outputCap, readCall, runToolLoop } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { schemaOf, tools } from '../tools.ts';

const cached = { cache_control: { type: 'ephemeral' } } as const;

const anthropicTools: AnthropicTool[] = tools.map((tool) => ({
  name: tool.name,
  description: tool.description,
  input_schema: schemaOf(tool),
}));

/** Answers the question with the Messages API. Its own list of messages only grows: compaction happens on the way out. */
export async function runAnthropic(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent } = options;
  const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
  const create = withAutoCompaction(
    (request: MessageCreateParamsNonStreaming, { signal }) => client.messages.create(request, { signal }),
    { adapter: anthropicMessages(), contextWindow, onEvent },
  );

  const messages: MessageParam[] = [{ role: 'user', content: question }];
  const newRequest = (): MessageCreateParamsNonStreaming => ({
    model,
    max_tokens: outputCap,
    system: [{ type: 'text', text: systemPrompt, ...cached }],
    tools: anthropicTools,
    messages: markLast(messages),
  });

  let request = newRequest();
  const answer = await runToolLoop(options, {
    async ask() {
      request = newRequest();
      const { content } = await create(request);
      messages.push({ role: 'assistant', content });
      return {
        text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: content.flatMap((block) => (block.type === 'tool_use' ? [readCall(block.id, block.name, block.input)] : [])),
      };
    },
    answer(results) {
      const content = results.map(
        ({ call, output }): ContentBlockParam => ({
          type: 'tool_result',
          tool_use_id: call.id,
          content: output.text,
          ...(output.isError ? { is_error: true } : {}),
        }),
      );
      messages.push({ role: 'user', content });
    },
  });
  return { answer, sendWhole: () => client.messages.create(request) };
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

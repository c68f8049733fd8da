import { AutoCompactingLoop } from 'context-compactor';
import { openaiResponses } from 'context-compactor/openai-responses';
import OpenAI from 'openai';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';
import type { FunctionTool, ResponseCreateParamsNonStreaming, ResponseInputItem } from 'openai/resources/responses/responses';
import { type AgentOptions, type AgentRun, outputCap, readCall, runToolLoop } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { schemaOf, tools } from '../tools.ts';

export const responsesTools: FunctionTool[] = tools.map((tool) => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  parameters: { ...schemaOf(tool) },
  strict: false,
}));

/** Answers the question with the Responses API, nothing of it stored there. The library's loop owns the history. */
export async function runOpenAiResponses(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent } = options;
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const input: ResponseInputItem[] = [{ role: 'user', content: question }];
  const request: ResponseCreateParamsNonStreaming = {
    model,
    instructions: systemPrompt,
    input: [...input],
    tools: responsesTools,
    max_output_tokens: outputCap,
    store: false,
  };
  const loop = new AutoCompactingLoop(request, {
    adapter: openaiResponses(),
    contextWindow,
    onEvent,
    send: (params: ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(params, { signal }),
  });

  const answer = await runToolLoop(options, {
    async ask() {
      const reply = await loop.send();
      const { text, calls } = await loop.appendReply(reply);
      if (calls.length > 0) input.push(...toResponseInputItems(reply.output));
      return { text, calls: calls.map((call) => readCall(call.id, call.name, call.input)) };
    },
    answer(results) {
      const items = results.map(
        ({ call, output }): ResponseInputItem => ({ type: 'function_call_output', call_id: call.id, output: output.text }),
      );
      loop.append(items);
      input.push(...items);
    },
  });
  return { answer, sendWhole: () => client.responses.create({ ...request, input }) };
}

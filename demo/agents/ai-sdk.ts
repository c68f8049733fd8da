import { createAnthropic } from '@ai-sdk/anthropic';
import { jsonSchema, type ModelMessage, stepCountIs, streamText, type ToolSet, tool, wrapLanguageModel } from 'ai';
import { aiSdkMiddleware } from 'context-compactor/ai-sdk';
import { type AgentOptions, type AgentRun, maxSteps, outputCap, readCall } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { runTool, schemaOf, type ToolInput, tools } from '../tools.ts';

const toolSet: ToolSet = Object.fromEntries(
  tools.map(({ name, description, parameters }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema<ToolInput>(schemaOf({ parameters })),
      execute: async (input) => (await runTool(name, input)).text,
    }),
  ]),
);

/** Answers the question with `streamText`, which runs the tools itself, over the Messages API. */
export async function runAiSdk(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model: modelId, contextWindow, onEvent, onReply } = options;
  const anthropic = createAnthropic({ baseURL: `${baseURL}/v1`, apiKey })(modelId);
  const request = { tools: toolSet, system: systemPrompt, maxOutputTokens: outputCap, maxRetries: 0 };
  const prompt: ModelMessage = { role: 'user', content: question };

  const { text, response } = streamText({
    ...request,
    model: wrapLanguageModel({ model: anthropic, middleware: aiSdkMiddleware({ contextWindow, onEvent }) }),
    messages: [prompt],
    stopWhen: stepCountIs(maxSteps),
    onStepFinish: ({ toolCalls }) => onReply(toolCalls.map((call) => readCall(call.toolCallId, call.toolName, call.input))),
  });
  const answer = await text;
  const { messages } = await response;
  return {
    answer,
    sendWhole: () =>
      streamText({ ...request, model: anthropic, messages: [prompt, ...messages.slice(0, -1)], onError: () => {} }).text,
  };
}

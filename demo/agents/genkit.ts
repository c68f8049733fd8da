import { openAICompatible } from '@genkit-ai/compat-oai';
import { genkitMiddleware } from 'context-compactor/genkit';
import { genkit, z } from 'genkit';
import type { ModelMiddleware } from 'genkit/model';
import { type AgentOptions, type AgentRun, maxSteps, outputCap, readCall } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { noteTool, runTool, schemaOf, type ToolInput, tools } from '../tools.ts';

/** Answers the question with `ai.generate`, which runs the tools itself. The messages that it gives back are whole. */
export async function runGenkit(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent, onReply } = options;
  const ai = genkit({ plugins: [openAICompatible({ name: 'openai', baseURL, apiKey, maxRetries: 0 })] });
  // This plugin drops what a model says beside its calls, so that it is given a tool to say it with.
  const genkitTools = [...tools, noteTool].map((tool) =>
    ai.defineTool(
      { name: tool.name, description: tool.description, inputJsonSchema: schemaOf(tool), outputSchema: z.string() },
      async (input: ToolInput) => (await runTool(tool.name, input)).text,
    ),
  );
  const watch: ModelMiddleware = async (request, next) => {
    const reply = await next(request);
    const parts = reply.message?.content ?? [];
    onReply(parts.flatMap(({ toolRequest: call }) => (call ? [readCall(call.ref ?? '', call.name, call.input)] : [])));
    return reply;
  };

  const request = {
    model: `openai/${model}`,
    config: { max_completion_tokens: outputCap },
    tools: genkitTools,
  };
  const { text, messages } = await ai.generate({
    ...request,
    system: systemPrompt,
    prompt: question,
    maxTurns: maxSteps,
    use: [watch, genkitMiddleware({ contextWindow, onEvent })],
  });
  return { answer: text, sendWhole: () => ai.generate({ ...request, messages: messages.slice(0, -1) }) };
}

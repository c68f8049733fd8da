import {
  BedrockRuntimeClient,
  type Tool as BedrockTool,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { withAutoCompaction } from 'context-compactor';
import { bedrockConverse } from 'context-compactor/bedrock';
import { type AgentOptions, type AgentRun, outputCap, readCall, runToolLoop } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { schemaOf, tools } from '../tools.ts';

const cachePoint = { cachePoint: { type: 'default' } } as const;

const bedrockTools: BedrockTool[] = tools.map((tool) => ({
  toolSpec: { name: tool.name, description: tool.description, inputSchema: { json: { ...schemaOf(tool) } } },
}));

// The client warns of the Node versions that it will leave behind.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

/** Answers the question with Converse. Its own list of messages only grows: compaction happens on the way out. */
export async function runBedrock(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent } = options;
  const client = new BedrockRuntimeClient({
    endpoint: baseURL,
    region: 'us-east-1',
    token: { token: apiKey },
    authSchemePreference: ['httpBearerAuth'],
    maxAttempts: 1,
    // The client's own handler speaks HTTP/2.
    requestHandler: new NodeHttpHandler(),
  });
  const converse = withAutoCompaction(
    (input: ConverseCommandInput, { signal }) => client.send(new ConverseCommand(input), { abortSignal: signal }),
    { adapter: bedrockConverse(), contextWindow, onEvent },
  );

  const messages: Message[] = [{ role: 'user', content: [{ text: question }] }];
  const newRequest = (): ConverseCommandInput => ({
    modelId: model,
    system: [{ text: systemPrompt }, cachePoint],
    toolConfig: { tools: bedrockTools },
    inferenceConfig: { maxTokens: outputCap },
    messages: markLast(messages),
  });

  let request = newRequest();
  const answer = await runToolLoop(options, {
    async ask() {
      request = newRequest();
      const { output } = await converse(request);
      const content = output?.message?.content ?? [];
      messages.push({ role: 'assistant', content });
      return {
        text: content.map(({ text }) => text ?? '').join(''),
        calls: content.flatMap(({ toolUse }) =>
          toolUse ? [readCall(toolUse.toolUseId ?? '', toolUse.name ?? '', toolUse.input)] : [],
        ),
      };
    },
    answer(results) {
      const content = results.map(
        ({ call, output }): ContentBlock => ({
          toolResult: {
            toolUseId: call.id,
            content: [{ text: output.text }],
            ...(output.isError && { status: 'error' }),
          },
        }),
      );
      messages.push({ role: 'user', content });
    },
  });
  return { answer, sendWhole: () => client.send(new ConverseCommand(request)) };
}

/** The conversation with a cache point at its end. It moves on with each request. */
function markLast(messages: readonly Message[]): Message[] {
  const last = messages.at(-1);
  return [...messages.slice(0, -1), { role: last?.role, content: [...(last?.content ?? []), cachePoint] }];
}

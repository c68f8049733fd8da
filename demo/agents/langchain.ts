import { ChatOpenAI } from '@langchain/openai';
import { langchainMiddleware } from 'context-compactor/langchain';
import { AIMessage, createAgent, createMiddleware, HumanMessage, SystemMessage, ToolMessage, tool } from 'langchain';
import { type AgentOptions, type AgentRun, maxSteps, outputCap, readCall } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { runTool, schemaOf, type ToolInput, tools } from '../tools.ts';

const langchainTools = tools.map(({ name, description, parameters }) =>
  tool(async (input: ToolInput) => (await runTool(name, input)).text, {
    name,
    description,
    schema: schemaOf({ parameters }),
  }),
);

/** Answers the question with an agent of LangChain, which runs the tools itself, over Chat Completions. Its state is whole. */
export async function runLangchain(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model: name, contextWindow, onEvent, onReply } = options;
  const model = new ChatOpenAI({ model: name, apiKey, maxRetries: 0, maxTokens: outputCap, configuration: { baseURL } });
  const watch = createMiddleware({
    name: 'Watch',
    async wrapModelCall(request, handler) {
      const reply = await handler(request);
      const calls = AIMessage.isInstance(reply) ? (reply.tool_calls ?? []) : [];
      onReply(calls.map((call) => readCall(call.id ?? '', call.name, call.args)));
      return reply;
    },
  });
  const compacting = langchainMiddleware({
    messageClasses: { HumanMessage, AIMessage, ToolMessage, SystemMessage },
    contextWindow,
    onEvent,
  });

  const agent = createAgent({ model, tools: langchainTools, systemPrompt, middleware: [watch, compacting] });
  const { messages } = await agent.invoke({ messages: [new HumanMessage(question)] }, { recursionLimit: 4 * maxSteps });
  return {
    answer: messages.at(-1)?.text ?? '',
    sendWhole: () => model.bindTools(langchainTools).invoke([new SystemMessage(systemPrompt), ...messages.slice(0, -1)]),
  };
}

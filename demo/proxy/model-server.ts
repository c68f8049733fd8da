import { type ChatCompletionRequest, type ChatMessage, LLMock } from '@copilotkit/aimock';
import type { ReceivedText, ScriptedReply } from '../script.ts';
import { echoMark } from './wire-format.ts';

export interface ModelServer {
  /** Origin, without a path. */
  url: string;
  close(): Promise<void>;
}

/** Serves a scripted model in the wire formats of the providers, and repeats what it is asked to repeat. */
export async function startModelServer(decide: (received: ReceivedText) => ScriptedReply): Promise<ModelServer> {
  const server = new LLMock({ port: 0 });
  server.on({ systemMessage: echoMark }, (request) => ({ content: textOf(request.messages.at(-1)) }));
  server.on({ predicate: () => true }, (request) => {
    const { text, calls } = decide(read(request));
    if (calls.length === 0) return { content: text };
    return {
      content: text,
      toolCalls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
    };
  });
  const url = await server.start();
  return { url, close: () => server.stop() };
}

function read({ messages }: ChatCompletionRequest): ReceivedText {
  const lastTurn = messages.findLastIndex((message) => message.role !== 'tool');
  return { all: messages.map(textOf).join('\n'), lastResults: messages.slice(lastTurn + 1).map(textOf) };
}

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n');
}

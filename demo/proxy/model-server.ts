import { type ChatCompletionRequest, type ChatMessage, LLMock } from '@copilotkit/aimock';
import type { ReceivedText, ScriptedReply } from '../script.ts';
import { countTokens } from './count-tokens.ts';
import type { RequestRecord } from './request-record.ts';
import { echoMark } from './wire-format.ts';

export interface ModelServer {
  /** Origin, without a path. */
  url: string;
  close(): Promise<void>;
}

/**
 * Tells the model server what it cannot know: the tokens of the request, as the usage in its reply, and in which format the reply will be.
 */
export function usageHeaders({ wire, tokens }: Pick<RequestRecord, 'wire' | 'tokens'>): Record<string, string> {
  return { 'x-aimock-context': `${wire} ${tokens}` };
}

/** Serves a scripted model in the wire formats of the providers, and repeats what it is asked to repeat. */
export async function startModelServer(decide: (received: ReceivedText) => ScriptedReply): Promise<ModelServer> {
  const server = new LLMock({ port: 0 });
  server.on({ systemMessage: echoMark }, (request) => say(request, { text: textOf(request.messages.at(-1)), calls: [] }));
  server.on({ predicate: () => true }, (request) => say(request, decide(read(request))));
  const url = await server.start();
  return { url, close: () => server.stop() };
}

function say({ _context: context = '' }: ChatCompletionRequest, { text, calls }: ScriptedReply) {
  const [wire, tokens] = context.split(' ');
  const toolCalls = calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) }));
  const output = [text, ...toolCalls.flatMap((call) => [call.name, call.arguments])].join(' ');
  return {
    content: text,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(tokens && { usage: { prompt_tokens: Number(tokens), completion_tokens: countTokens(output) } }),
    // Gemini ends a turn that calls functions like any other.
    ...(wire === 'google-genai' && { finishReason: 'STOP' }),
  };
}

function read({ messages, tools = [] }: ChatCompletionRequest): ReceivedText {
  const lastTurn = messages.findLastIndex((message) => message.role !== 'tool');
  return {
    all: messages.map(textOf).join('\n'),
    lastResults: messages.slice(lastTurn + 1).map(readResult),
    tools: tools.map((tool) => tool.function.name),
  };
}

/** Gemini takes no result that is a text: what a tool printed stands under `output`. */
function readResult(message: ChatMessage): string {
  const text = textOf(message);
  return text.startsWith('{"output":') ? String(JSON.parse(text).output) : text;
}

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n');
}

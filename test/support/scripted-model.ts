import type { ChatMessage, ChatReply, ChatRequest } from '../../src/adapters/openai-chat.ts';
import type { SendContext } from '../../src/options.ts';

/** One answer of the model, or what happens in its place. */
export type Step = (request: ChatRequest, context: SendContext) => ChatReply | PromiseLike<ChatReply>;

export interface Sent {
  request: ChatRequest;
  context: SendContext;
}

/** A `send` that plays a script and remembers what it was sent. */
export interface ScriptedModel {
  send: (request: ChatRequest, context: SendContext) => Promise<ChatReply>;
  readonly summaries: Sent[];
  readonly turns: Sent[];
}

const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
export const goodSummary = '## Goal\nShip it.\n\n## Accomplished\nHalf of it.';

/** Plays the steps for summary requests in their order, then good summaries; turns get `turn`, by default a reply without usage. */
export function scriptedModel(
  steps: readonly Step[] = [],
  turn: Step = () => ({ ...says('Done.'), usage: null }),
): ScriptedModel {
  const script = [...steps];
  const summaries: Sent[] = [];
  const turns: Sent[] = [];
  return {
    summaries,
    turns,
    async send(request, context) {
      const isSummary = context.purpose === 'summary';
      (isSummary ? summaries : turns).push({ request, context });
      return isSummary ? (script.shift() ?? summarizes())(request, context) : turn(request, context);
    },
  };
}

export function summarizes(text: string = goodSummary): Step {
  return () => says(text);
}

export function throws(error: unknown): Step {
  return () => {
    throw error;
  };
}

export function answers(reply: ChatReply): Step {
  return () => reply;
}

/** A finished reply with this text. */
export function says(content: string | null, finish: string | null = 'stop', fields: object = {}): ChatReply {
  return { choices: [{ message: { role: 'assistant', content, ...fields }, finish_reason: finish }] as never, usage };
}

/** A reply that calls tools after a preamble. */
export function callsTools(ids: readonly string[], preamble: string | null = null, fields: object = {}): ChatReply {
  return says(preamble, 'tool_calls', { tool_calls: ids.map(toolCall), ...fields });
}

/** A streamed reply. The pieces come one by one; `finish` null is a stream that was cut. */
export async function* streams(
  pieces: readonly string[],
  finish: string | null = 'stop',
  between: (index: number) => unknown = () => undefined,
): AsyncGenerator<object> {
  for (const [index, content] of pieces.entries()) {
    await between(index);
    yield { choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] };
  }
  await between(pieces.length);
  if (finish === null) return;
  yield { choices: [{ index: 0, delta: {}, finish_reason: finish }] };
  yield { choices: [], usage };
}

export function toolCall(id: string): object {
  return { id, type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } };
}

export const readTool = {
  type: 'function',
  function: {
    name: 'read',
    description: 'Reads a file.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
  },
} as const;

/** An error as providers' SDKs throw it. */
export function httpError(status: number, message: string, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(message), { status, headers });
}

/** Four characters are a token. */
export const countTokens = (text: string): number => Math.ceil(text.length / 4);

/** A conversation of about 1,250 tokens that is due for compaction under `smallBudget`, ending with the result of a tool. */
export function longConversation(fields: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'gpt-5',
    tools: [readTool],
    messages: [
      { role: 'system', content: 'Be exact.' },
      { role: 'user', content: 'Read the first file.' },
      ...toolTurn('call_1', 'a'.repeat(2000)),
      { role: 'assistant', content: 'Read it.' } as ChatMessage,
      { role: 'user', content: 'Read the second file.' },
      ...toolTurn('call_2', 'b'.repeat(3000)),
    ],
    ...fields,
  };
}

/** A call and its result. */
export function toolTurn(id: string, result: string): ChatMessage[] {
  return [
    { role: 'assistant', content: null, tool_calls: [toolCall(id)] } as ChatMessage,
    { role: 'tool', tool_call_id: id, content: result } as ChatMessage,
  ];
}

/** Input budget 5,904 tokens, compacted from 500 on. */
export const smallBudget: { contextWindow: number; budget: { threshold: number; countTokens: typeof countTokens } } = {
  contextWindow: 10_000,
  budget: { threshold: 500, countTokens },
};

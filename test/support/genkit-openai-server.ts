import type { ServerResponse } from 'node:http';
import { sendEvents, sendJson } from './http-server.ts';
import { countTokens } from './scripted-model.ts';

export interface ChatBody {
  model: string;
  stream?: boolean;
  messages: { role: string; content?: unknown; tool_calls?: { id: string }[]; tool_call_id?: string }[];
  tools?: object[];
}

/** What a model behind OpenAI's wire says. */
export interface Words {
  text?: string;
  calls?: { id: string; name: string; input: object }[];
  finish?: string;
}

/** Sends it as the provider does, in one piece or as a stream. */
export function sendWords(response: ServerResponse, body: ChatBody, { text, calls = [], finish }: Words): void {
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const finish_reason = finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const base = { id: 'chatcmpl-1', created: 1, model: body.model };
  const prompt_tokens = countTokens(JSON.stringify(body));
  const usage = { prompt_tokens, completion_tokens: 5, total_tokens: prompt_tokens + 5 };
  if (!body.stream) {
    const message = { role: 'assistant', content: text ?? null, refusal: null, ...(calls.length > 0 && { tool_calls }) };
    sendJson(response, 200, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason, logprobs: null, message }],
      usage,
    });
    return;
  }
  const chunk = (delta: object, end: string | null = null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: end }],
  });
  const pieces = text?.match(/[\s\S]{1,20}/g) ?? [];
  sendEvents(response, [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    ...tool_calls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, finish_reason),
    { ...base, object: 'chat.completion.chunk', choices: [], usage },
    '[DONE]',
  ]);
  response.end();
}

/** True for the library's private request, in every round. */
export function isSummaryBody({ messages }: ChatBody): boolean {
  return messages.some(
    ({ role, content }) => role === 'user' && String(content).startsWith('This is a context compaction request.'),
  );
}

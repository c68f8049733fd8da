import type { ServerResponse } from 'node:http';
import type { Body } from './provider-server.ts';

/** What the model says: text, or one call. */
export interface Words {
  text?: string;
  call?: { id: string; name: string; input: object };
  /** Where the server holds the history: under which id, and how many tokens there are before the request. */
  held?: { id: string; tokens: number };
}

/** Sends what the model says as the provider does, in one piece or as a stream. */
export type SendReply = (response: ServerResponse, body: Body, words: Words) => void;

/** Three characters are a token. */
export const countTokens = (text: string): number => Math.ceil(text.length / 3);
export const inputTokensOf = (body: Body): number => countTokens(JSON.stringify(body));

const outputTokens = 7;

/** Clients tell replies apart by their ids. */
let replies = 0;
const nextId = (kind: string): string => `${kind}_${++replies}`;

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Each event in two writes, so that no reader can count on whole events. */
function sendEvents(response: ServerResponse, events: readonly object[], last = '', lineEnd = '\n'): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const text = events.map((event) => {
    const name = 'type' in event ? `event: ${event.type}${lineEnd}` : '';
    return `${name}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`;
  });
  const bytes = Buffer.from(`: comment${lineEnd}${lineEnd}${text.join('')}${last}`);
  for (let start = 0; start < bytes.length; start += 97) response.write(bytes.subarray(start, start + 97));
  response.end();
}

const piecesOf = (text: string): string[] => text.match(/[\s\S]{1,8}/g) ?? [];

export const sendChatReply: SendReply = (response, body, { text = null, call }) => {
  const prompt_tokens = inputTokensOf(body);
  const usage = { prompt_tokens, completion_tokens: outputTokens, total_tokens: prompt_tokens + outputTokens };
  const calls = call && [{ id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } }];
  const finish = calls ? 'tool_calls' : 'stop';
  const base = { id: nextId('chatcmpl'), created: 1, model: body.model };
  if (!body.stream) {
    const message = { role: 'assistant', content: text, refusal: null, annotations: [], ...(calls && { tool_calls: calls }) };
    const choices = [{ index: 0, finish_reason: finish, logprobs: null, message }];
    return sendJson(response, 200, { ...base, object: 'chat.completion', choices, usage });
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const deltas = [
    ...piecesOf(text ?? '').map((content) => chunk({ content })),
    ...(calls?.map((each) => chunk({ tool_calls: [{ index: 0, ...each }] })) ?? []),
  ];
  const last = body.stream_options?.include_usage ? [{ ...chunk({}), choices: [], usage }] : [];
  const events = [chunk({ role: 'assistant', content: text === null ? null : '' }), ...deltas, chunk({}, finish), ...last];
  sendEvents(response, events, 'data: [DONE]\n\n');
};

export const sendResponsesReply: SendReply = (response, body, { text = '', call, held }) => {
  const input_tokens = inputTokensOf(body) + (held?.tokens ?? 0);
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + outputTokens,
  };
  const id = nextId(call ? 'fc' : 'msg');
  const responseId = held?.id ?? nextId('resp');
  const item = call
    ? { id, type: 'function_call', status: 'completed', call_id: call.id, name: call.name, arguments: JSON.stringify(call.input) }
    : {
        id,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      };
  const whole = (fields: object) => ({
    id: responseId,
    object: 'response',
    created_at: 1,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: body.model,
    output: [item],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage,
    ...fields,
  });
  if (!body.stream) return sendJson(response, 200, whole({}));
  const started = call ? { ...item, arguments: '', status: 'in_progress' } : { ...item, content: [], status: 'in_progress' };
  const at = { item_id: id, output_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
  const pieces = call
    ? [
        { type: 'response.function_call_arguments.delta', ...at, delta: JSON.stringify(call.input) },
        { type: 'response.function_call_arguments.done', ...at, arguments: JSON.stringify(call.input), name: call.name },
      ]
    : [
        { type: 'response.content_part.added', ...at, content_index: 0, part },
        ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...at, content_index: 0, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...at, content_index: 0, text, logprobs: [] },
        { type: 'response.content_part.done', ...at, content_index: 0, part: { ...part, text } },
      ];
  const events = [
    { type: 'response.created', response: whole({ status: 'in_progress', output: [], usage: null }) },
    { type: 'response.output_item.added', output_index: 0, item: started },
    ...pieces,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole({}) },
  ];
  sendEvents(
    response,
    events.map((event, sequence_number) => ({ ...event, sequence_number })),
  );
};

export const sendAnthropicReply: SendReply = (response, body, { text = '', call }) => {
  const usage = { input_tokens: inputTokensOf(body), output_tokens: outputTokens };
  const block = call ? { type: 'tool_use', id: call.id, name: call.name, input: call.input } : { type: 'text', text };
  const stop_reason = call ? 'tool_use' : 'end_turn';
  const message = { id: nextId('msg'), type: 'message', role: 'assistant', model: body.model, stop_sequence: null };
  if (!body.stream)
    return sendJson(response, 200, { ...message, content: [block], stop_reason, usage }, { 'request-id': 'req_1' });
  const deltas = call
    ? piecesOf(JSON.stringify(call.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    : piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece }));
  sendEvents(response, [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: call ? { ...block, input: {} } : { type: 'text', text: '' } },
    { type: 'ping' },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: outputTokens } },
    { type: 'message_stop' },
  ]);
};

/** As events where the address asks for them, else in one array: a stream of Gemini has two forms. */
export const sendGeminiReply: SendReply = (response, body, { text = '', call }) => {
  const path = response.req.url ?? '';
  const promptTokenCount = inputTokensOf(body);
  const usageMetadata = {
    promptTokenCount,
    candidatesTokenCount: outputTokens,
    totalTokenCount: promptTokenCount + outputTokens,
  };
  const functionCall = call && { id: call.id, name: call.name, args: call.input };
  const parts = functionCall
    ? [{ functionCall, thoughtSignature: 'c2lnbmF0dXJl' }]
    : piecesOf(text).map((piece) => ({ text: piece }));
  const chunk = (shown: object[], last: boolean) => ({
    candidates: [{ content: { role: 'model', parts: shown }, index: 0, ...(last && { finishReason: 'STOP' }) }],
    usageMetadata,
    modelVersion: 'gemini-3-pro',
    responseId: nextId('gemini'),
  });
  if (!path.includes(':streamGenerateContent')) return sendJson(response, 200, chunk(parts, true));
  const chunks = parts.map((part, index) => chunk([part], index === parts.length - 1));
  if (path.includes('alt=sse')) sendEvents(response, chunks, '', '\r\n');
  else sendJson(response, 200, chunks);
};

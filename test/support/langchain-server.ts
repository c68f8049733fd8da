import type { ServerResponse } from 'node:http';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import type { WireViolation } from '../../src/testing/wire/violation.ts';
import { sendEvents, sendJson, startServer } from './http-server.ts';
import { countTokens, goodSummary } from './scripted-model.ts';

/** What the package for OpenAI sends, over either of its wires. */
export interface SentBody {
  model: string;
  stream?: boolean;
  messages?: { role: string; content?: unknown; tool_calls?: object[]; tool_call_id?: string }[];
  input?: { type?: string; role?: string; content?: unknown; call_id?: string }[];
  tools?: object[];
  tool_choice?: unknown;
  text?: { format?: unknown };
}

/** What the model says. */
export interface Words {
  text?: string;
  calls?: { id: string; name: string; input: object }[];
  finish?: string;
}

/** What goes wrong in its place. */
export interface Fault {
  status: number;
  error: object;
}

/** What the model answers, in order. Then `Done.` to turns, and good summaries. */
export interface Script {
  turns: (Words | Fault | ((body: SentBody) => Words | Fault))[];
  summaries: (Words | Fault | 'hang')[];
}

export interface LangchainServer {
  url: string;
  script: Script;
  bodies: SentBody[];
  /** What the provider would have refused, over all bodies. */
  violations: WireViolation[];
  summaries(): SentBody[];
  turns(): SentBody[];
  close(): Promise<void>;
}

/** Chat Completions and the Responses API on this machine: what is not legal is refused. */
export async function startLangchainServer(): Promise<LangchainServer> {
  const script: Script = { turns: [], summaries: [] };
  const violations: WireViolation[] = [];
  const server = await startServer((sent, response) => {
    const body = sent as SentBody; // the client sent it
    const found = body.input ? validateOpenAiResponses(body) : validateOpenAiChat(body);
    violations.push(...found);
    if (found[0]) return sendJson(response, 400, { error: { message: JSON.stringify(found), type: 'invalid_request_error' } });
    const next = isSummary(body)
      ? (script.summaries.shift() ?? { text: goodSummary })
      : (script.turns.shift() ?? { text: 'Done.' });
    const words = typeof next === 'function' ? next(body) : next;
    if (words === 'hang') return;
    if ('status' in words) sendJson(response, words.status, { error: words.error });
    else if (body.input) sendResponse(response, body, words);
    else sendCompletion(response, body, words);
  });
  const bodies = server.bodies as SentBody[]; // what the client sent
  return {
    ...server,
    bodies,
    script,
    violations,
    summaries: () => bodies.filter(isSummary),
    turns: () => bodies.filter((body) => !isSummary(body)),
  };
}

/** The conversation of a body. */
export function messagesOf({ messages, input }: SentBody): readonly { role?: string; content?: unknown }[] {
  return messages ?? input ?? [];
}

/** True for the library's private request, in every round. */
export function isSummary(body: SentBody): boolean {
  return messagesOf(body).some(
    ({ role, content }) => role === 'user' && String(content).startsWith('This is a context compaction request.'),
  );
}

function sendCompletion(response: ServerResponse, body: SentBody, { text, calls = [], finish }: Words): void {
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const finish_reason = finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const base = { id: `chatcmpl-${crypto.randomUUID()}`, created: 1, model: body.model };
  const prompt_tokens = countTokens(JSON.stringify(body));
  const usage = {
    prompt_tokens,
    completion_tokens: 5,
    total_tokens: prompt_tokens + 5,
    prompt_tokens_details: { cached_tokens: 0 },
  };
  if (!body.stream) {
    const message = { role: 'assistant', content: text ?? null, refusal: null, ...(calls.length > 0 && { tool_calls }) };
    const choices = [{ index: 0, finish_reason, logprobs: null, message }];
    sendJson(response, 200, { ...base, object: 'chat.completion', choices, usage });
    return;
  }
  const chunk = (delta: object, end: string | null = null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: end }],
  });
  sendEvents(response, [
    chunk({ role: 'assistant', content: '' }),
    ...piecesOf(text).map((content) => chunk({ content })),
    ...tool_calls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, finish_reason),
    { ...base, object: 'chat.completion.chunk', choices: [], usage },
    '[DONE]',
  ]);
  response.end();
}

function sendResponse(response: ServerResponse, { model, stream, ...body }: SentBody, { text, calls = [], finish }: Words): void {
  const message = { type: 'message', id: `msg_${crypto.randomUUID()}`, role: 'assistant', status: 'completed' };
  const content = [{ type: 'output_text', text: text ?? '', annotations: [] }];
  const output = [
    ...(text === undefined ? [] : [{ ...message, content }]),
    ...calls.map(({ id, name, input }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ];
  const input_tokens = countTokens(JSON.stringify(body));
  const whole = {
    id: `resp_${crypto.randomUUID()}`,
    object: 'response',
    created_at: 1,
    model,
    status: finish === undefined ? 'completed' : 'incomplete',
    incomplete_details: finish === undefined ? null : { reason: finish },
    error: null,
    output,
    usage: { input_tokens, output_tokens: 5, total_tokens: input_tokens + 5, input_tokens_details: { cached_tokens: 0 } },
  };
  if (!stream) {
    sendJson(response, 200, whole);
    return;
  }
  const at = { output_index: 0, content_index: 0, item_id: message.id };
  sendEvents(response, [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
    ...output.flatMap((item, output_index) => [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, ...('content' in item ? { content: [] } : { arguments: '' }) },
      },
      ...('content' in item
        ? piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] }))
        : []),
      ...('call_id' in item
        ? [{ type: 'response.function_call_arguments.delta', output_index, item_id: item.id, delta: item.arguments }]
        : []),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: finish === undefined ? 'response.completed' : 'response.incomplete', response: whole },
  ]);
  response.end();
}

function piecesOf(text = ''): string[] {
  return text.match(/[\s\S]{1,20}/g) ?? [];
}

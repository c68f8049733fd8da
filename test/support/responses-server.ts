import type { ServerResponse } from 'node:http';
import type { ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import { sendJson, startServer, type TestServer } from './http-server.ts';

/** The body of a request, as far as the server looks at it. */
export interface ResponsesBody {
  model: string;
  input: string | ResponsesItem[];
  previous_response_id?: string | null;
  store?: boolean;
  stream?: boolean;
}

/** The Responses API with its memory. */
export interface ResponsesMemory {
  reply(body: ResponsesBody): Answer;
  /** The ids of the responses that it holds, oldest first. */
  held(): string[];
  /** What the model sees of a request, from the first message on. */
  seen(body: ResponsesBody): readonly ResponsesItem[] | undefined;
}

export interface ResponsesServer extends TestServer, Pick<ResponsesMemory, 'held'> {
  /** The requests for a summary, and all others, in order. */
  summaries(): ResponsesBody[];
  turns(): ResponsesBody[];
}

export interface ResponsesServerOptions {
  /** Window in tokens. */
  window: number;
  /** What the model puts out, given everything that it sees. */
  answer: (items: readonly ResponsesItem[]) => ResponsesItem[];
  /** An error in place of a summary. */
  summaryError?: (() => { status: number; error: object } | undefined) | undefined;
}

export interface Answer {
  status: number;
  body: { output?: ResponsesItem[]; [field: string]: unknown };
}

/** A model that counts: about four characters a token. */
function count(value: unknown): number {
  return Math.ceil((JSON.stringify(value) ?? '').length / 4);
}

export function isSummaryRequest(items: readonly ResponsesItem[]): boolean {
  const last = items.at(-1);
  return typeof last?.content === 'string' && last.content.startsWith('This is a context compaction request.');
}

/** Holds what is stored, and goes on from there. Refuses what it does not know, what is not legal and what is too long. */
export function createResponsesMemory(options: ResponsesServerOptions): ResponsesMemory {
  const memory = new Map<string, ResponsesItem[]>();
  let ids = 0;

  function seen({ previous_response_id: previous, ...body }: ResponsesBody): ResponsesItem[] | undefined {
    const before = previous ? memory.get(previous) : [];
    return before && [...before, ...itemsOf(body)];
  }

  function reply(body: ResponsesBody): Answer {
    const refuse = (status: number, error: object): Answer => ({ status, body: { error } });
    const items = seen(body);
    if (!items)
      return refuse(400, {
        message: `Previous response with id '${body.previous_response_id}' not found.`,
        type: 'invalid_request_error',
        param: 'previous_response_id',
        code: 'previous_response_not_found',
      });
    // With what it holds, the request must be as legal as if all of it had been sent.
    const whole = { ...body, previous_response_id: null, input: items };
    const [violation] = [...validateOpenAiResponses(body), ...validateOpenAiResponses(whole)];
    if (violation) return refuse(400, { message: JSON.stringify(violation), type: 'invalid_request_error' });
    const input_tokens = count(whole);
    if (input_tokens > options.window)
      return refuse(400, {
        message: 'Your input exceeds the context window of this model.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      });
    const isSummary = isSummaryRequest(items);
    const failure = isSummary ? options.summaryError?.() : undefined;
    if (failure) return refuse(failure.status, failure.error);
    const output = isSummary ? [writeSummary(items)] : options.answer(items);
    const id = `resp_${++ids}`;
    if (body.store !== false) memory.set(id, [...items, ...output]);
    const output_tokens = count(output);
    const usage = {
      input_tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input_tokens + output_tokens,
    };
    const rest = { error: null, incomplete_details: null, store: body.store !== false };
    return { status: 200, body: { id, object: 'response', status: 'completed', ...rest, output, usage } };
  }

  function writeSummary(items: readonly ResponsesItem[]): ResponsesItem {
    const said = items.filter(({ role }) => role === 'user').length;
    return says(`## Goal\nShip it.\n\n## Accomplished\nThe model saw ${items.length} items, ${said} of them of the user.`);
  }

  return { reply, seen, held: () => [...memory.keys()] };
}

/** The same behind HTTP. */
export async function startResponsesServer(options: ResponsesServerOptions): Promise<ResponsesServer> {
  const { reply, held } = createResponsesMemory(options);
  const server = await startServer((sent, response) => {
    const request = sent as ResponsesBody; // the validator looks at the rest
    const { status, body } = reply(request);
    if (request.stream && status === 200) sendStream(response, body);
    else sendJson(response, status, body);
  });
  const split = (summaries: boolean) =>
    (server.bodies as ResponsesBody[]).filter((body) => isSummaryRequest(itemsOf(body)) === summaries);
  return {
    ...server,
    held,
    summaries: () => split(true),
    turns: () => split(false),
  };
}

function itemsOf({ input }: ResponsesBody): ResponsesItem[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
}

let messages = 0;

export function says(text: string): ResponsesItem {
  return {
    type: 'message',
    id: `msg_${++messages}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
}

function sendStream(response: ServerResponse, body: Answer['body']): void {
  const events = [
    { type: 'response.created', response: { ...body, status: 'in_progress', output: [], usage: null } },
    ...(body.output ?? []).flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: body },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

import type { ServerResponse } from 'node:http';
import type { ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { validateOpenAiCodex } from '../../src/testing/wire/openai-codex.ts';
import { sendJson, startServer, type TestServer } from './http-server.ts';

/** What the backend puts out for the items that it is sent; or an error in place of it. */
export type CodexAnswer = (items: readonly ResponsesItem[]) => ResponsesItem[] | { code: string; message: string };

interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** The backend of Codex: streams alone. What is wrong is said as `{ detail }`; its last event has no output. */
export function startCodexServer(answer: CodexAnswer): Promise<TestServer> {
  return startServer((sent, response) => {
    const [violation] = validateOpenAiCodex(sent);
    if (violation) return sendJson(response, 400, { detail: `${violation.rule}: ${violation.path}` });
    const { input } = sent as { input: ResponsesItem[] }; // checked just now
    const output = answer(input);
    const count = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);
    const usage = { input_tokens: count(sent), output_tokens: count(output) };
    if (!Array.isArray(output)) {
      sendEvents(response, [{ type: 'response.failed', response: { id: 'resp_1', status: 'failed', error: output } }]);
      return;
    }
    sendEvents(response, [
      { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
      ...output.flatMap(eventsOf),
      { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [], usage } },
    ]);
  });
}

function eventsOf(item: ResponsesItem, output_index: number): StreamEvent[] {
  const [part] = Array.isArray(item.content) ? item.content : [];
  const at = { item_id: item.id, output_index, content_index: 0 };
  return [
    { type: 'response.output_item.added', output_index, item: part ? { ...item, status: 'in_progress', content: [] } : item },
    ...(part
      ? [
          { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
          { type: 'response.output_text.delta', ...at, delta: part.text, logprobs: [] },
        ]
      : []),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function sendEvents(response: ServerResponse, events: readonly StreamEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, event] of events.entries())
    response.write(`event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`);
  response.end();
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fields = Record<string, unknown>;

/** What the server does with a request. */
type AnthropicAnswer =
  | { message: Fields }
  | { events: Fields[]; ending: 'end' | 'hang' | 'reset' }
  | { status: number; error: { type: string; message: string }; headers?: Record<string, string> };

export interface AnthropicServer {
  /** Without `/v1`, as the official client takes it. */
  readonly baseURL: string;
  /** The bodies that were received. */
  readonly bodies: Fields[];
  answer: (body: Fields) => AnthropicAnswer;
  close(): Promise<void>;
}

/** The Messages endpoint on a port of its own: JSON, or events where the answer has events. */
export async function startAnthropicServer(): Promise<AnthropicServer> {
  const bodies: Fields[] = [];
  const server = createServer((incoming, outgoing) => {
    void readBody(incoming).then((body) => {
      bodies.push(body);
      send(outgoing, started.answer(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
  const started: AnthropicServer = {
    baseURL: `http://127.0.0.1:${port}`,
    bodies,
    answer: () => ({ status: 500, error: { type: 'api_error', message: 'The test gave no answer.' } }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return started;
}

async function readBody(incoming: IncomingMessage): Promise<Fields> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

function send(outgoing: ServerResponse, answer: AnthropicAnswer): void {
  if ('message' in answer) sendJson(outgoing, 200, answer.message);
  else if ('error' in answer) sendJson(outgoing, answer.status, { type: 'error', error: answer.error }, answer.headers);
  else sendEvents(outgoing, answer.events, answer.ending);
}

function sendEvents(outgoing: ServerResponse, events: readonly Fields[], ending: 'end' | 'hang' | 'reset'): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) outgoing.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  if (ending === 'end') outgoing.end();
  // After the events have left, so that the client has read them when the connection breaks.
  if (ending === 'reset') setTimeout(() => outgoing.destroy(), 50);
}

function sendJson(outgoing: ServerResponse, status: number, body: Fields, headers: Record<string, string> = {}): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...headers });
  outgoing.end(JSON.stringify(body));
}

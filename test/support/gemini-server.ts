import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fields = Record<string, unknown>;

/** What the server does with a request. */
export type GeminiAnswer =
  | { response: Fields }
  | { chunks: Fields[]; ending?: 'end' | 'hang' | 'reset' | 'half' }
  | { status: number; error: Fields };

export interface GeminiServer {
  /** As the official client takes it in `httpOptions.baseUrl`. */
  readonly baseUrl: string;
  /** The bodies that were received. */
  readonly bodies: Fields[];
  /** The methods that were called, for instance `streamGenerateContent`. */
  readonly methods: string[];
  /** How many clients went away before they had their whole answer. */
  aborted: number;
  answer: (body: Fields, method: string) => GeminiAnswer;
  close(): Promise<void>;
}

/** `generateContent` on a port of its own: JSON, or events where the answer has chunks. */
export async function startGeminiServer(): Promise<GeminiServer> {
  const server = createServer((incoming, outgoing) => {
    void readBody(incoming).then((body) => {
      const method = /:(\w+)/.exec(incoming.url ?? '')?.[1] ?? '';
      started.bodies.push(body);
      started.methods.push(method);
      outgoing.on('close', () => {
        if (!outgoing.writableFinished) started.aborted++;
      });
      send(outgoing, started.answer(body, method));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
  const started: GeminiServer = {
    baseUrl: `http://127.0.0.1:${port}`,
    bodies: [],
    methods: [],
    aborted: 0,
    answer: () => ({ status: 500, error: { code: 500, message: 'The test gave no answer.', status: 'INTERNAL' } }),
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

function send(outgoing: ServerResponse, answer: GeminiAnswer): void {
  if ('response' in answer) sendJson(outgoing, 200, answer.response);
  else if ('error' in answer) sendJson(outgoing, answer.status, { error: answer.error });
  else sendEvents(outgoing, answer.chunks, answer.ending ?? 'end');
}

/** Lines end as the provider ends them. */
function sendEvents(outgoing: ServerResponse, chunks: readonly Fields[], ending: 'end' | 'hang' | 'reset' | 'half'): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) outgoing.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
  if (ending === 'half') outgoing.write('data: {"candidates": [{"con');
  if (ending === 'end' || ending === 'half') outgoing.end();
  // After the events have left, so that the client has read them when the connection breaks.
  if (ending === 'reset') setTimeout(() => outgoing.destroy(), 50);
}

function sendJson(outgoing: ServerResponse, status: number, body: Fields): void {
  outgoing.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  outgoing.end(JSON.stringify(body));
}

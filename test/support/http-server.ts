import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestServer {
  url: string;
  /** Bodies of the requests so far, parsed. */
  bodies: unknown[];
  close(): Promise<void>;
}

/** A provider on this machine: reads each request as JSON and lets `answer` reply. */
export async function startServer(answer: (body: unknown, response: ServerResponse) => void): Promise<TestServer> {
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body: unknown = JSON.parse(await readText(request));
    bodies.push(body);
    answer(body, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function sendEvents(response: ServerResponse, events: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
}

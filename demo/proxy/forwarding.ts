import type { IncomingMessage, ServerResponse } from 'node:http';

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Headers that belong to one connection; the encoding is settled anew on each side. */
const connectionHeaders = [
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'content-encoding',
];

/** A request on its way to another server. */
export interface Forwarding {
  upstream: string;
  /** In place of its own. */
  body: Buffer;
  /** Beside its own. */
  headers?: Record<string, string>;
}

/** Sends a request on to another server, and hands the reply on as it comes. */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, body, headers }: Forwarding,
): Promise<void> {
  const reply = await fetch(new URL(request.url ?? '/', upstream), {
    method: request.method ?? 'GET',
    headers: { ...passingHeaders(Object.entries(request.headers)), ...headers },
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
  });
  const replyHeaders: [string, string][] = [];
  reply.headers.forEach((value, name) => {
    replyHeaders.push([name, value]);
  });
  response.writeHead(reply.status, passingHeaders(replyHeaders));
  for await (const chunk of reply.body ?? []) response.write(chunk);
  response.end();
}

function passingHeaders(entries: readonly (readonly [string, unknown])[]): Record<string, string> {
  return Object.fromEntries(
    entries
      .filter(([name, value]) => value !== undefined && !connectionHeaders.includes(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

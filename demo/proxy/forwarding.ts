import type { IncomingMessage, ServerResponse } from 'node:http';
import { rewriteJsonUsage, rewriteStreamUsage } from './rewrite-usage.ts';
import type { WireFormat } from './wire-format.ts';

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

/** Sends a request on to another server. */
export function forward(request: IncomingMessage, body: Buffer, upstream: string): Promise<Response> {
  return fetch(new URL(request.url ?? '/', upstream), {
    method: request.method ?? 'GET',
    headers: passingHeaders(Object.entries(request.headers)),
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
  });
}

function replyHeaders(reply: Response): Record<string, string> {
  const entries: [string, string][] = [];
  reply.headers.forEach((value, name) => {
    entries.push([name, value]);
  });
  return passingHeaders(entries);
}

function passingHeaders(entries: readonly (readonly [string, unknown])[]): Record<string, string> {
  return Object.fromEntries(
    entries
      .filter(([name, value]) => value !== undefined && !connectionHeaders.includes(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

/** Hands a reply on as it comes. */
export async function passOn(reply: Response, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status, replyHeaders(reply));
  for await (const chunk of reply.body ?? []) response.write(chunk);
  response.end();
}

/** Hands a reply on with real counts in its usage. */
export async function passOnWithUsage(
  format: WireFormat,
  reply: Response,
  response: ServerResponse,
  inputTokens: number,
): Promise<void> {
  if (!reply.ok || !reply.body) return passOn(reply, response);
  response.writeHead(reply.status, replyHeaders(reply));
  const streaming = reply.headers.get('content-type')?.includes('event-stream') === true;
  const texts = streaming
    ? rewriteStreamUsage(format, reply.body, inputTokens)
    : [rewriteJsonUsage(format, await reply.text(), inputTokens)];
  for await (const text of texts) response.write(text);
  response.end();
}

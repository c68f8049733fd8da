import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { forward, readBody } from './forwarding.ts';
import { usageHeaders } from './model-server.ts';
import type { Refusal } from './refusals.ts';
import { type ReceivedRequest, type RequestRecord, readRequest } from './request-record.ts';
import type { JsonObject, WireFormat } from './wire-format.ts';
import { findFormat } from './wire-formats.ts';

export interface RecordingProxyOptions {
  /** Origin of the server behind the proxy. */
  upstream: string;
  /**
   * Plays the provider with a window of so many tokens: counts go into the usage of the replies, what does not fit or is not valid is
   * refused, summary requests are answered here. Absent: everything is passed on as it is and only recorded.
   */
  contextWindow?: number;
}

export interface RecordingProxy {
  /** Origin, without a path. */
  url: string;
  records: readonly RequestRecord[];
  /**
   * Tokens of the request that this call would send. It is counted and refused: it goes nowhere, and is not among the records.
   *
   * @throws Error where no request came, or where it holds a block that was never received before: the count would be a claim.
   */
  countUnsent(send: () => PromiseLike<unknown>): Promise<number>;
  close(): Promise<void>;
}

/** Starts a proxy that keeps and counts every request on its way to a model. */
export async function startRecordingProxy(options: RecordingProxyOptions): Promise<RecordingProxy> {
  const records: RequestRecord[] = [];
  /** Where requests go that are not to be sent. */
  let unsent: RequestRecord[] | undefined;
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 502, headers: { 'content-type': 'text/plain' }, body: String(error) });
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await readBody(request);
    const { upstream, contextWindow } = options;
    const { pathname } = new URL(request.url ?? '/', upstream);
    const found = request.method === 'POST' ? findFormat(pathname) : undefined;
    if (!found) return forward(request, response, { upstream, body: raw });

    const { format, fields } = found;
    const body = parseObject(raw.toString('utf8'));
    if (!body) return refuse(response, format.refuse('The body is no JSON object.'));
    const received = readRequest(format, { ...fields, ...body }, raw);
    (unsent ?? records).push(received.record);
    if (unsent) return refuse(response, format.refuse('This request was counted and not sent.'));
    if (contextWindow === undefined) return forward(request, response, { upstream, body: raw });

    const refusal = findRefusal(format, received, contextWindow);
    if (refusal) return refuse(response, refusal);
    const { record, summary } = received;
    const asked = summary === undefined ? raw : Buffer.from(JSON.stringify(format.echo(body, summary)));
    return forward(request, response, { upstream, body: asked, headers: usageHeaders(record) });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    records,
    async countUnsent(send) {
      const held: RequestRecord[] = [];
      unsent = held;
      await Promise.resolve(send()).catch(() => {}); // it was refused
      unsent = undefined;
      const [record] = held;
      if (!record) throw new Error('No request came.');
      const received = new Set(records.flatMap(({ blocks }) => blocks));
      const unknown = [...record.problems, ...record.blocks].find((block) => !received.has(block));
      if (unknown !== undefined) throw new Error(`This was never received: ${unknown.slice(0, 200)}`);
      return record.tokens;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function findRefusal(format: WireFormat, { record, outputCap }: ReceivedRequest, contextWindow: number): Refusal | undefined {
  if (record.problems.length > 0) return format.refuse(record.problems.join('\n'));
  return format.refuseOverflow(record.tokens, outputCap, contextWindow);
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // An object that is no array is a JsonObject.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, { status, headers, body }: Refusal): void {
  response.writeHead(status, headers);
  response.end(body);
}

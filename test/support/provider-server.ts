import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request, as it came over the wire. */
export interface Received {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** Settles when the connection of the reply is closed before its end. */
  lost: Promise<void>;
}

export interface ProviderServer {
  url: string;
  received: Received[];
  close(): Promise<void>;
}

/** A provider on this machine that keeps what it receives, byte for byte, and lets `answer` reply. */
export async function startProvider(answer: (call: Received, response: ServerResponse) => void): Promise<ProviderServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const lost = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const { method = '', url = '', headers } = request;
    const call = { method, path: url, headers, bytes: Buffer.concat(pieces), lost };
    received.push(call);
    answer(call, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four shapes, looked into by tests
export type Body = any;

export const bodyOf = ({ bytes }: Received): Body => JSON.parse(bytes.toString('utf8'));

/** True for the library's private request, in any shape. */
export function isSummaryRequest(body: Body): boolean {
  const items = body.messages ?? body.input ?? body.contents ?? [];
  return JSON.stringify(items.at(-1) ?? null).includes('context compaction request');
}

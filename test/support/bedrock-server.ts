import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { fromUtf8, toUtf8 } from '@smithy/core/serde';
import { NodeHttpHandler } from '@smithy/node-http-handler';

type Fields = Record<string, unknown>;

/** One frame of a stream: its type, and what it holds. */
export type BedrockFrame = readonly [type: string, payload: Fields];

export type BedrockAnswer =
  | { output: Fields }
  | { error: string; status: number; message: string }
  | { frames: readonly BedrockFrame[]; ending: 'end' | 'hang' | 'reset' };

/** A Bedrock on this machine, and the official client that talks to it. */
export interface BedrockServer {
  client: BedrockRuntimeClient;
  /** Bodies of the requests so far, as they came over the wire: bytes are base64. */
  bodies: Fields[];
  headers: IncomingMessage['headers'][];
  /** `streamed`: the request came to `/converse-stream`. */
  answer: (body: Fields, streamed: boolean) => BedrockAnswer;
  close(): Promise<void>;
}

const codec = new EventStreamCodec(toUtf8, fromUtf8);

export async function startBedrockServer(): Promise<BedrockServer> {
  const bodies: Fields[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((incoming, outgoing) => {
    void readBody(incoming).then((body) => {
      bodies.push(body);
      headers.push(incoming.headers);
      send(outgoing, started.answer(body, incoming.url?.endsWith('/converse-stream') ?? false));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' },
    endpoint: `http://127.0.0.1:${port}`,
    // The client's own handler speaks HTTP/2.
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
  const started: BedrockServer = {
    client,
    bodies,
    headers,
    answer: () => ({ status: 500, error: 'InternalServerException', message: 'The test gave no answer.' }),
    close: () =>
      new Promise((resolve) => {
        client.destroy();
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

function send(outgoing: ServerResponse, answer: BedrockAnswer): void {
  if ('output' in answer) sendJson(outgoing, 200, answer.output);
  else if ('error' in answer)
    sendJson(outgoing, answer.status, { message: answer.message }, { 'x-amzn-errortype': answer.error });
  else sendFrames(outgoing, answer.frames, answer.ending);
}

function sendFrames(outgoing: ServerResponse, frames: readonly BedrockFrame[], ending: 'end' | 'hang' | 'reset'): void {
  outgoing.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'request-1' });
  for (const frame of frames) outgoing.write(encodeFrame(frame));
  if (ending === 'end') outgoing.end();
  // After the frames have left, so that the client has read them when the connection breaks.
  if (ending === 'reset') setTimeout(() => outgoing.destroy(), 50);
}

function encodeFrame([type, payload]: BedrockFrame): Uint8Array {
  const kind = type.endsWith('Exception') ? 'exception' : 'event';
  return codec.encode({
    headers: {
      ':message-type': { type: 'string', value: kind },
      [`:${kind}-type`]: { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
    },
    body: fromUtf8(JSON.stringify(payload)),
  });
}

function sendJson(outgoing: ServerResponse, status: number, body: Fields, headers: Record<string, string> = {}): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'x-amzn-requestid': 'request-1', ...headers });
  outgoing.end(JSON.stringify(body));
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicWire } from './anthropic-wire.ts';
import { countTokens } from './count-tokens.ts';
import { forward, passOn, passOnWithUsage, readBody } from './forwarding.ts';
import { openaiChatWire } from './openai-chat-wire.ts';
import { summarize } from './summarize.ts';
import { isSummaryRequest, type JsonObject, type WireFormat } from './wire-format.ts';

export interface RecordingProxyOptions {
  /** Origin of the server behind the proxy. */
  upstream: string;
  /**
   * Plays the provider with a window of so many tokens: counts go into the usage of the replies, what does not fit or is not valid is
   * refused, summary requests are answered here. Absent: everything is passed on as it is and only recorded.
   */
  contextWindow?: number;
}

/** One request as it was received. */
export interface RequestRecord {
  provider: WireFormat['provider'];
  purpose: 'turn' | 'summary';
  /** The body, byte for byte. */
  raw: Uint8Array;
  /** Tokens of the body in o200k. */
  tokens: number;
  /** Serialized tools, system and content, in order. */
  blocks: readonly string[];
  /** Text blocks of each user message. */
  userTexts: readonly (readonly string[])[];
  /** What the provider would refuse. */
  problems: readonly string[];
}

export interface RecordingProxy {
  /** Origin, without a path. */
  url: string;
  records: readonly RequestRecord[];
  /**
   * Tokens of a body that was never sent as a whole. Every block of it must have been received in one request or another.
   *
   * @throws Error for a block that was never received: the count would be a claim.
   */
  countReceived(provider: WireFormat['provider'], body: string): number;
  close(): Promise<void>;
}

const formats: readonly WireFormat[] = [openaiChatWire, anthropicWire];

/** Starts a proxy that keeps and counts every request on its way to a model. */
export async function startRecordingProxy(options: RecordingProxyOptions): Promise<RecordingProxy> {
  const records: RequestRecord[] = [];
  const server = createServer((request, response) => {
    handle(request, response, options, records).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 502, { error: { message: String(error), type: 'proxy_error' } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    records,
    countReceived(provider, body) {
      const received = new Set(records.flatMap((record) => record.blocks));
      const format = formats.find((candidate) => candidate.provider === provider);
      const unknown = format?.blocksOf(JSON.parse(body) as JsonObject).find((block) => !received.has(block));
      if (unknown !== undefined) throw new Error(`This was never received: ${unknown.slice(0, 200)}`);
      return countTokens(body);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: RecordingProxyOptions,
  records: RequestRecord[],
): Promise<void> {
  const raw = await readBody(request);
  const { pathname } = new URL(request.url ?? '/', options.upstream);
  const format = formats.find(({ path }) => request.method === 'POST' && pathname.endsWith(path));
  if (!format) return passOn(await forward(request, raw, options.upstream), response);

  const text = raw.toString('utf8');
  const body = parseObject(text);
  if (!body) return sendJson(response, 400, format.refusal('The body is no JSON object.'));
  const record = readRecord(format, body, raw, countTokens(text));
  records.push(record);

  const { contextWindow, upstream } = options;
  if (contextWindow === undefined) return passOn(await forward(request, raw, upstream), response);
  if (record.problems.length > 0) return sendJson(response, 400, format.refusal(record.problems.join('\n')));
  const overflow = format.overflow(body, record.tokens, contextWindow);
  if (overflow) return sendJson(response, 400, overflow);
  const asked = record.purpose === 'turn' ? raw : Buffer.from(JSON.stringify(format.echoRequest(body, summarize(format, body))));
  await passOnWithUsage(format, await forward(request, asked, upstream), response, record.tokens);
}

/** A body that the validator refuses may have any shape: it is kept and counted, but not read. */
function readRecord(format: WireFormat, body: JsonObject, raw: Uint8Array, tokens: number): RequestRecord {
  const problems = format.findProblems(body);
  const { provider } = format;
  if (problems.length > 0) return { provider, purpose: 'turn', raw, tokens, blocks: [], userTexts: [], problems };
  return {
    provider,
    purpose: isSummaryRequest(format, body) ? 'summary' : 'turn',
    raw,
    tokens,
    blocks: format.blocksOf(body),
    userTexts: format.userTexts(body),
    problems,
  };
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

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

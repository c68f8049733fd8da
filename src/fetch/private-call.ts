import { isRecord, stringOf } from '../adapters/fields.ts';
import { withBody } from './call-init.ts';
import { decodeReply, formatOf, parseJson } from './decode-reply.ts';
import type { ModelCall } from './model-call.ts';
import { readText } from './read-text.ts';

/** These belong to the parent's own body. */
export const headersOfParent: readonly string[] = ['content-length', 'idempotency-key', 'x-idempotency-key'];

/** What an error keeps of its headers: the others may hold what must not be shown. */
const tellingHeaders = ['retry-after', 'retry-after-ms', 'x-request-id', 'request-id'];

/**
 * Sends another request to where its parent goes, in the same way, and reads the reply.
 *
 * @throws an error with the fields that those of the SDKs have, where the provider refuses it.
 */
export async function callPrivately<Shape extends object>(
  send: (url: string | URL, init: RequestInit) => Promise<Response>,
  parent: ModelCall<Shape>,
  request: Shape,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await send(parent.url, { ...withBody(parent.init, request, headersOfParent), signal });
  if (!response.ok) throw await readRefusal(response);
  return decodeReply(readText(response), formatOf(response, request));
}

/** What a client makes of a reply that is none, with the fields that the SDKs' errors have. */
export async function readRefusal(response: Response): Promise<Error> {
  const { status } = response;
  const headers: Record<string, string> = {};
  for (const name of tellingHeaders) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const error = parseJson(await response.text());
  return Object.assign(new Error(`${status} ${messageOf(error)}`), { status, headers, error });
}

function messageOf(body: unknown): string {
  const error = isRecord(body) ? (body.error ?? body) : body;
  return (isRecord(error) ? stringOf(error.message) : stringOf(error)) || 'no message';
}

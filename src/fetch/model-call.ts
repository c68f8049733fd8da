import { isRecord } from '../adapters/fields.ts';

/** A call of the model, and the request that is its body. */
export interface ModelCall<Shape> {
  url: string | URL;
  init: RequestInit;
  request: Shape;
}

/**
 * Undefined for every call that is none of the model, or whose body cannot be read: the body of a `Request`, for one, can be read only
 * once.
 */
export function readModelCall<Shape>(
  endpoint: RegExp,
  input: string | URL | Request,
  init: RequestInit | undefined,
): ModelCall<Shape> | undefined {
  if (init?.method?.toUpperCase() !== 'POST' || typeof init.body !== 'string') return undefined;
  if (typeof input !== 'string' && !('href' in input)) return undefined;
  if (pathOf(input).search(endpoint) === -1) return undefined; // unlike `test`, without a memory
  try {
    const request: unknown = JSON.parse(init.body);
    // What it is, the adapter looks at: it throws where it cannot read it.
    return isRecord(request) ? { url: input, init, request: request as Shape } : undefined;
  } catch {
    return undefined;
  }
}

/** How the paths of model calls end, whoever's they are. */
const anyModelCall = /\/(?:chat\/completions|responses|messages)$|:(?:streamGenerateContent|generateContent)$/;

/** The path of a call of a model that is none of the adapter's: most likely the adapter is the wrong one. */
export function findOtherModelCall(
  endpoint: RegExp,
  input: string | URL | Request,
  init: RequestInit | undefined,
): string | undefined {
  if (init?.method?.toUpperCase() !== 'POST' || (typeof input !== 'string' && !('href' in input))) return undefined;
  const path = pathOf(input);
  return anyModelCall.test(path) && path.search(endpoint) === -1 ? path : undefined;
}

function pathOf(url: string | URL): string {
  try {
    return new URL(url, 'http://localhost').pathname; // in a browser it may be relative
  } catch {
    return '';
  }
}

import { isRecord } from '../fields.ts';
import type { BedrockCommand, BedrockInput, BedrockRequest } from './shape.ts';

/** What is sent to the provider, in a command or by itself. */
export function inputOf(request: BedrockRequest): BedrockInput {
  return isCommand(request) ? request.input : request;
}

/**
 * The same request with another input. Of a command it is a copy: same class, same middleware. A new one from its class would lose what
 * the caller added to this one; the SDK's own middleware is added again with each `send`, in place of what is there.
 */
export function withInput<R extends BedrockRequest>(request: R, input: BedrockInput): R {
  // The copy has R's prototype and all its fields, and the input differs only in what the adapter changes.
  if (isCommand(request)) return Object.assign(Object.create(Object.getPrototypeOf(request)), request, { input });
  return input as R;
}

/** An input has no field of that name. */
function isCommand(request: BedrockRequest): request is BedrockCommand {
  return isRecord(request) && isRecord(request.input);
}

import type { AiSdkReply, AiSdkRequest } from '../../adapters/ai-sdk.ts';
import type { Send } from '../../options.ts';
import type { AiSdkModelCall } from './shape.ts';

/** Calls of the library's own, with which an inner middleware has no business. */
export const summaryCalls: WeakSet<object> = new WeakSet<object>();

/**
 * The model of a call writes the summary that is made before it. Where the call is to be streamed the summary is, too: some providers send
 * other tool definitions then, and the prompt cache would not know them.
 */
export function sendBy<Params extends AiSdkRequest>({ type, model }: AiSdkModelCall<Params>): Send<AiSdkRequest, AiSdkReply> {
  return async (request, { signal }) => {
    // What is sent is a copy of the call's parameters, with other values.
    const params = { ...callOptionsOf(request), abortSignal: signal } as Params;
    summaryCalls.add(params);
    return type === 'stream' ? await model.doStream(params) : await model.doGenerate(params);
  };
}

/** The request as the SDK knows it. */
export function callOptionsOf<Request extends AiSdkRequest>(request: Request): Request {
  const { model: _name, ...callOptions } = request;
  return callOptions as Request; // the field is optional
}

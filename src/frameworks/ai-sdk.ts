/**
 * Compaction for the AI SDK (`ai` 6): a middleware for language models, and the adapter that it is built on.
 *
 * @packageDocumentation
 */
import { isStream } from '../adapters/ai-sdk/read-reply.ts';
import { readUsage } from '../adapters/ai-sdk/read-usage.ts';
import {
  type AiSdkGenerateReply,
  type AiSdkMessage,
  type AiSdkReply,
  type AiSdkRequest,
  type AiSdkStreamReply,
  aiSdkModel,
} from '../adapters/ai-sdk.ts';
import { isRecord } from '../adapters/fields.ts';
import { createCompactor } from '../compactor.ts';
import { sendAndRecover } from '../recover.ts';
import { callOptionsOf, sendBy, summaryCalls } from './ai-sdk/ask-model.ts';
import type { AiSdkMiddleware, AiSdkMiddlewareOptions, AiSdkModelCall, GenerateCall, StreamCall } from './ai-sdk/shape.ts';
import { watchStream } from './ai-sdk/watch-stream.ts';
import { nameSafely } from './conversation-name.ts';
import { refuseOptions } from './refuse-options.ts';
import { refuseToSend } from './refuse-to-send.ts';

export {
  type AiSdkGenerateReply,
  type AiSdkMessage,
  type AiSdkModelName,
  type AiSdkPart,
  type AiSdkReply,
  type AiSdkRequest,
  type AiSdkStreamReply,
  aiSdkModel,
} from '../adapters/ai-sdk.ts';
export type {
  AiSdkMiddleware,
  AiSdkMiddlewareOptions,
  AiSdkModel,
  AiSdkModelCall,
  GenerateCall,
  StreamCall,
} from './ai-sdk/shape.ts';

/** A call as it was prepared. */
interface PreparedCall<Request> {
  request: Request;
  name: string | undefined;
  /** The smaller request to send in place of one that the provider found too long. */
  recover: (error: unknown) => Promise<Request | undefined>;
}

/**
 * Keeps the calls of `generateText`, `streamText` and `ToolLoopAgent` inside the window, each step of their tool loops too. Every call of
 * the model is checked, compacted where that is due, and made once. The summary is written by the same model, which is asked for it below
 * the SDK and with the call's own `abortSignal`: no stream, callback or step of the caller's shows it, and no tool runs for it.
 *
 * The messages that the SDK hands out stay whole, and so do those of a loop of your own around `generateText({ messages })`. One middleware
 * serves any number of conversations and of models: make it once, not for each call.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const model = wrapLanguageModel({ model: openai('gpt-5'), middleware: aiSdkMiddleware({ contextWindow: 400_000 }) });
 * const { text } = await generateText({ model, tools, stopWhen: stepCountIs(100), prompt: 'Why did a request fail?' });
 */
export function aiSdkMiddleware<Request extends AiSdkRequest>(
  options: AiSdkMiddlewareOptions<Request> = {},
): AiSdkMiddleware<Request> {
  refuseOptions(options, ['adapter', 'send']);
  const { conversation, ...shared } = options;
  const nameOf = nameSafely(conversation, options.onEvent);
  const summarySend = shared.summary?.send;
  const compactor = createCompactor<AiSdkRequest, AiSdkMessage, AiSdkReply, Request, AiSdkReply>({
    ...shared,
    ...(typeof summarySend === 'function' && {
      summary: { ...shared.summary, send: (request, context) => summarySend(callOptionsOf(request), context) },
    }),
    adapter: aiSdkModel(),
    send: refuseToSend,
  });
  /** What was prepared, by the parameters that the model is then called with. */
  const prepared = new WeakMap<object, PreparedCall<Request>>();

  /** A model may be wrapped twice: what the outer middleware rebuilt is not another conversation. */
  const rebuilt = new WeakSet<object>();

  /** `reply` has a usage. It was paid for: nothing that is odd about it may lose it. */
  function observe(params: object, reply: unknown): void {
    try {
      const call = prepared.get(params);
      const usage = isRecord(reply) ? readUsage(reply.usage) : undefined;
      if (call && usage) compactor.observe(call.request, { usage }, { conversation: call.name });
    } catch {
      // What cannot be measured is estimated.
    }
  }

  async function transformParams<Params extends AiSdkRequest>(call: AiSdkModelCall<Params>): Promise<Params> {
    const { params, model } = call;
    if (summaryCalls.has(params) || rebuilt.has(params)) return params;
    // The SDK calls every model with the same type, by whichever name the options know it.
    const callOptions = params as AiSdkRequest as Request;
    const name = nameOf(callOptions);
    const request: Request = { ...callOptions, model: { provider: model.provider, modelId: model.modelId } };
    const options = { signal: params.abortSignal, conversation: name, send: sendBy(call) };
    const sent = await compactor.prepare(request, options);
    const recover = (error: unknown) => compactor.recover(request, error, options);
    if (sent === request) {
      prepared.set(params, { request, name, recover });
      return params;
    }
    return keep<Params>({ request: sent, name, recover });
  }

  /** Call options that were rebuilt: they differ in their prompt alone. */
  function keep<Params extends AiSdkRequest>(call: PreparedCall<Request>): Params {
    const transformed = callOptionsOf(call.request) as AiSdkRequest as Params;
    rebuilt.add(transformed);
    prepared.set(transformed, call);
    return transformed;
  }

  /** Makes a call, and where the provider finds it too long the smaller one that the compactor gives in its place. */
  async function callModel<Result>(
    params: AiSdkRequest,
    call: () => PromiseLike<Result>,
    callAgain: (params: AiSdkRequest) => PromiseLike<Result>,
  ): Promise<{ result: Result; params: AiSdkRequest }> {
    const known = prepared.get(params);
    if (!known) return { result: await call(), params };
    return sendAndRecover<Request, { result: Result; params: AiSdkRequest }>(
      known.request,
      async (request, attempt) => {
        if (attempt === 1) return { result: await call(), params };
        const smaller = keep<AiSdkRequest>({ ...known, request });
        return { result: await callAgain(smaller), params: smaller };
      },
      known.recover,
    );
  }

  return {
    specificationVersion: 'v3',
    transformParams,
    async wrapGenerate<Result extends AiSdkGenerateReply>({ doGenerate, params, model }: GenerateCall<Result>): Promise<Result> {
      const again = (smaller: AiSdkRequest) => model.doGenerate(smaller as never) as PromiseLike<Result>; // see `GenerateCall`
      const { result, params: called } = await callModel(params, doGenerate, again);
      observe(called, result);
      return result;
    },
    async wrapStream<Result extends AiSdkStreamReply>({ doStream, params, model }: StreamCall<Result>): Promise<Result> {
      const again = (smaller: AiSdkRequest) => model.doStream(smaller as never) as PromiseLike<Result>; // see `StreamCall`
      const { result, params: called } = await callModel(params, doStream, again);
      if (!prepared.has(called) || !isStream(result)) return result;
      const stream = watchStream(result.stream, (part) => {
        if (isRecord(part) && part.type === 'finish') observe(called, part);
      });
      return { ...result, stream };
    },
    compactor,
  };
}

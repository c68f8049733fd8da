import type {
  AiSdkGenerateReply,
  AiSdkMessage,
  AiSdkModelName,
  AiSdkReply,
  AiSdkRequest,
  AiSdkStreamReply,
} from '../../adapters/ai-sdk.ts';
import type { Compactor } from '../../compactor.ts';
import type { SharedOptions } from '../../options.ts';

/** `Request` is the SDK's `LanguageModelV3CallOptions`, where an option names its type. */
export interface AiSdkMiddlewareOptions<Request extends AiSdkRequest>
  extends Omit<SharedOptions<AiSdkRequest, AiSdkMessage, AiSdkReply, Request, AiSdkReply>, 'adapter'> {
  /** Names the conversation that a call belongs to, for instance from its headers. Default: it is found by its content. */
  conversation?: ((callOptions: Request) => string | undefined) | undefined;
}

/** What the middleware needs of a model: the SDK's `LanguageModelV3` fits. */
export interface AiSdkModel<Request> extends AiSdkModelName {
  doGenerate(callOptions: Request): PromiseLike<AiSdkGenerateReply>;
  doStream(callOptions: Request): PromiseLike<AiSdkStreamReply>;
}

/** A call of a model, before it is made. */
export interface AiSdkModelCall<Params> {
  type: 'generate' | 'stream';
  params: Params;
  model: AiSdkModel<Params>;
}

/** A call that is made now. */
export interface GenerateCall<Result> {
  doGenerate: () => PromiseLike<Result>;
  params: AiSdkRequest;
  // `never` and `unknown`, so that every model fits. It takes what it was called with, and its replies are all of one type.
  model: { doGenerate(callOptions: never): PromiseLike<unknown> };
}

/** The same, streamed. */
export interface StreamCall<Result> {
  doStream: () => PromiseLike<Result>;
  params: AiSdkRequest;
  model: { doStream(callOptions: never): PromiseLike<unknown> };
}

/** A `LanguageModelMiddleware` of the AI SDK, and the compactor behind it. */
export interface AiSdkMiddleware<Request extends AiSdkRequest> {
  readonly specificationVersion: 'v3';
  transformParams: <Params extends AiSdkRequest>(call: AiSdkModelCall<Params>) => Promise<Params>;
  wrapGenerate: <Result extends AiSdkGenerateReply>(call: GenerateCall<Result>) => Promise<Result>;
  wrapStream: <Result extends AiSdkStreamReply>(call: StreamCall<Result>) => Promise<Result>;
  /**
   * For `estimate`, `plan`, `snapshot`, `restore` and `reconcile`, and for compacting call options by hand: that asks `summary.send` for
   * the summary, because it happens outside of any call.
   */
  readonly compactor: Compactor<AiSdkRequest, AiSdkMessage, Request, AiSdkReply>;
}

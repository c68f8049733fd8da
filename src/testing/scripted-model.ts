import type { Send, SendContext } from '../options.ts';
import type { ProviderKit, ReplyScript } from './provider-kit.ts';
import type { WireViolation } from './wire/violation.ts';

/** What the model says next, or how it comes to it. */
export type ScriptedAnswer<Request> =
  | ReplyScript
  | ((request: Request, context: SendContext) => ReplyScript | PromiseLike<ReplyScript>);

/** What a scripted model says. */
export interface ScriptedModelOptions<Request> {
  /** Answers to summary requests, in order; then one good summary after the other. */
  summaries?: readonly ScriptedAnswer<Request>[] | undefined;
  /** Answers to all other requests, in order; then `Done.`. */
  turns?: readonly ScriptedAnswer<Request>[] | undefined;
  /** Replies come as streams. Default false. */
  streamed?: boolean | undefined;
}

/** One request that a scripted model was sent. */
export interface SentRequest<Request> {
  request: Request;
  context: SendContext;
  /** What the provider would have refused. */
  violations: readonly WireViolation[];
}

/** A model that says what it is told to, and remembers what it was sent. */
export interface ScriptedModel<Request, Reply> {
  send: Send<Request, Reply>;
  readonly summaries: readonly SentRequest<Request>[];
  readonly turns: readonly SentRequest<Request>[];
}

/** The summary that a scripted model writes. */
export const scriptedSummary = '## Goal\nShip it.\n\n## Accomplished\nHalf of it.';

/**
 * A `send` for tests, without a network and without a model.
 *
 * @example
 * const model = scriptedModel(providerKits['openai-chat'], { summaries: [{ text: 'Too sh', ending: 'length' }] });
 * const compactor = createCompactor({ adapter: openaiChat(), send: model.send });
 */
export function scriptedModel<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  { summaries = [], turns = [], streamed = false }: ScriptedModelOptions<Request> = {},
): ScriptedModel<Request, Reply> {
  const scripts = { summary: [...summaries], turn: [...turns] };
  const endings = { summary: { text: scriptedSummary }, turn: { text: 'Done.' } };
  const sent: Record<SendContext['purpose'], SentRequest<Request>[]> = { summary: [], turn: [] };
  return {
    summaries: sent.summary,
    turns: sent.turn,
    async send(request, context) {
      const { purpose } = context;
      sent[purpose].push({ request, context, violations: kit.validate(request) });
      const answer = scripts[purpose].shift() ?? endings[purpose];
      const script = typeof answer === 'function' ? await answer(request, context) : answer;
      return streamed && kit.stream ? kit.stream(script) : kit.reply(script);
    },
  };
}

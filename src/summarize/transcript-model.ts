import type { ProviderAdapter } from '../adapters/adapter.ts';
import { createMeter, type Meter } from '../budget/meter.ts';
import { describeFailure } from '../errors.ts';
import { countLeadingSystem, createItemReader } from '../history/reading.ts';
import { readRequest } from '../history/view.ts';
import type { Message } from '../message.ts';
import type { Send } from '../options.ts';
import { untilAborted } from '../until-aborted.ts';
import { freedMargin, withMargin } from './estimate-margin.ts';
import type { SummaryTask } from './summarizer.ts';

/** A model that is given a transcript in one message. */
export interface TranscriptModel<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  /** What it is asked with, without a conversation. */
  request: Request;
  send: (request: Request) => Promise<Reply>;
  /** Size of a text in a message of the user, in tokens. */
  count: (text: string) => number;
  /** Tokens that the window has beside the request. */
  room: number;
  effort?: string | undefined;
  verbosity?: string | undefined;
  /** The error that its failure is told with. */
  describe: (error: unknown, inputTokens: number) => unknown;
}

/** A model of its own for summaries, of any provider. */
export interface SummaryModel<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape> {
  /** Translates the shape of its provider, for instance `anthropicMessages()`. */
  adapter: ProviderAdapter<Shape, Item, ReplyShape>;
  /** A request without a conversation: the model, and what else each request needs. System text is sent along, a cap is set. */
  request: Request;
  /** Sends such a request; `purpose` is `summary`. */
  send: Send<Request, Reply>;
  /** Its window in tokens. */
  contextWindow: number;
}

/** The parent's model, with its system text and tools. */
export function parentModel<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
): TranscriptModel<Request, Item, Reply> {
  const { adapter, request, countItems, estimatedTokens, send, effort, verbosity } = task;
  const items = adapter.items(request);
  const leading = items.slice(0, countLeadingSystem(items.map((item) => ({ messages: adapter.readItem(item) }))));
  const count = (text: string): number => (text.trim() === '' ? 0 : countItems(adapter.writeMessage(userMessage(text))));
  const conversation = countItems(items) - countItems(leading);
  // What goes takes the tenth that was kept free for it along, and so does the instruction, which is counted with the transcript.
  const freed = withMargin(count(task.instruction)) + freedMargin(conversation, estimatedTokens);
  return {
    adapter,
    request: adapter.withItems(request, leading),
    send,
    count,
    room: task.roomForOutput + conversation + freed,
    effort,
    verbosity,
    describe: (error) => error,
  };
}

/** Makes the model of a task out of what the host gave. Loads the tokenizer where that is needed. */
export function ownModel<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  model: SummaryModel<Shape, Item, ReplyShape, Request, Reply>,
): (task: Pick<SummaryTask<unknown, unknown, unknown>, 'signal'>) => Promise<TranscriptModel<Request, Item, Reply>> {
  const adapter: ProviderAdapter<Request, Item, Reply> = model.adapter;
  const meter = createMeter(adapter.family);
  return async ({ signal }) => {
    await untilAborted(() => meter.load(), signal);
    const { request, send, contextWindow } = model;
    const view = readRequest(adapter, createItemReader(adapter), request);
    const { model: name } = view.context;
    const { tokens } = meter.measure(view);
    let attempt = 0;
    return {
      adapter,
      request,
      send: (asked) => {
        attempt++;
        return untilAborted(() => send(asked, { signal, purpose: 'summary', attempt }), signal);
      },
      count: (text) => countText(meter, text, name),
      room: contextWindow - withMargin(tokens),
      describe: (error, inputTokens) =>
        describeFailure(error, {
          overflow: adapter.classifyError(error).kind === 'overflow',
          provider: adapter.name,
          model: name,
          inputTokens,
          inputBudget: contextWindow,
        }),
    };
  };
}

function countText(meter: Meter, text: string, model: string | undefined): number {
  return text.trim() === '' ? 0 : meter.countMessages([userMessage(text)], model);
}

function userMessage(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

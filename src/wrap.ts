import type { Usage } from './adapters/adapter.ts';
import { type Compactor, createCompactor, type PrepareOptions } from './compactor.ts';
import type { Send, SharedOptions } from './options.ts';

/** A `send` with compaction before it, and the compactor that does it. */
export interface CompactingSend<Shape, Item, Request extends Shape, Reply> {
  (request: Request, options?: PrepareOptions): Promise<Reply>;
  readonly compactor: Compactor<Shape, Item, Request, Reply>;
}

/**
 * Wraps the call that a tool loop already makes. The caller keeps its own messages; each request is checked, compacted where it is due,
 * and sent exactly once. The reply comes back untouched.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const create = withAutoCompaction(
 *   (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => client.chat.completions.create(request, { signal }),
 *   { adapter: openaiChat(), contextWindow: 128_000 },
 * );
 * const reply = await create({ model, messages, tools });
 */
export function withAutoCompaction<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  send: Send<Request, Reply>,
  options: SharedOptions<Shape, Item, ReplyShape, Request, Reply>,
): CompactingSend<Shape, Item, Request, Reply> {
  const compactor = createCompactor({ ...options, send });

  async function create(request: Request, prepareOptions: PrepareOptions = {}): Promise<Reply> {
    const prepared = await compactor.prepare(request, prepareOptions);
    const signal = prepareOptions.signal ?? new AbortController().signal;
    const reply = await send(prepared, { signal, purpose: 'turn', conversation: prepareOptions.conversation, attempt: 1 });
    const usage = readUsage(reply);
    if (usage) compactor.observe(prepared, { usage }, prepareOptions);
    return reply;
  }

  /** The reply was paid for: nothing that is odd about it may lose it. */
  function readUsage(reply: Reply): Usage | undefined {
    try {
      return options.adapter.usage(reply);
    } catch {
      return undefined;
    }
  }

  return Object.assign(create, { compactor });
}

import { type CheckOptions, type Compactor, createCompactor } from './compactor.ts';
import type { Send, SharedOptions } from './options.ts';
import { sendChecked } from './send-checked.ts';

/** A `send` with compaction before it, and the compactor that does it. */
export interface CompactingSend<Shape, Item, Request extends Shape, Reply> {
  (request: Request, options?: CheckOptions): Promise<Reply>;
  /** For `plan`, `observe`, `compact`, `snapshot` and the like. */
  readonly compactor: Compactor<Shape, Item, Request, Reply>;
}

/**
 * Wraps the call that a tool loop already makes. The caller keeps its own messages; each request is checked, compacted where it is due,
 * and sent exactly once, but for `recoverOverflow`. The reply comes back untouched.
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
  const call = { compactor, readUsage: (reply: Reply) => options.adapter.usage(reply) };
  const create = (request: Request, checkOptions: CheckOptions = {}): Promise<Reply> =>
    sendChecked(call, request, send, checkOptions);
  return Object.assign(create, { compactor });
}

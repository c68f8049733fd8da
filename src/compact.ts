import type { ManualCompaction } from './launch.ts';
import { type CompactionResult, compactNow } from './machine.ts';
import type { CompactorOptions } from './options.ts';
import { createTrack } from './overlay.ts';
import { resolveOptions } from './settings.ts';

/**
 * Compacts one request now, without keeping anything about it: the summary takes the place of the conversation, system messages stay.
 *
 * @throws CompactionError, nothing changed; what `signal` was aborted with.
 * @example
 * const options = { adapter: openaiChat(), contextWindow: 128_000, send, instructions: 'Keep the plan.' };
 * const { request: compacted } = await compact(request, options);
 */
export function compact<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  request: Request,
  options: CompactorOptions<Shape, Item, ReplyShape, Request, Reply> & ManualCompaction,
): Promise<CompactionResult<Request>> {
  const { instructions, format, maxTokens, effort, allowEffortDowngrade, verbosity, ...others } = options;
  const { signal, onText, onRestart, onDenied, ...rest } = others;
  const form = { instructions, format, maxTokens, effort, allowEffortDowngrade, verbosity };
  const manual: ManualCompaction = { ...form, signal, onText, onRestart, onDenied };
  return compactNow(resolveOptions(rest), { track: createTrack(), current: () => request }, manual);
}

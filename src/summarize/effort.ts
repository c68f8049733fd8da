import { CompactionError } from '../errors.ts';

/** All levels that any provider has, lowest first. */
const levels = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

interface EffortRules {
  adapter: { name: string; efforts?: readonly string[] | undefined };
  model?: string | undefined;
  /** Take the next lower level where there is no such one. */
  allowDowngrade: boolean;
}

/**
 * The effort to ask for: undefined where a downgrade is allowed and there is nothing lower, so that the request stays as it is. V8
 *
 * @throws CompactionError `unsupported-effort`, before anything is sent.
 */
export function resolveEffort(effort: string, { adapter, model, allowDowngrade }: EffortRules): string | undefined {
  const { name, efforts = [] } = adapter;
  if (efforts.includes(effort)) return effort;
  const rank = levels.indexOf(effort);
  if (allowDowngrade && rank !== -1) return efforts.findLast((level) => levels.indexOf(level) < rank);
  throw new CompactionError(
    'unsupported-effort',
    `Failed to resolve compaction reasoning effort for ${name} / ${model ?? 'unknown model'}: expected ${efforts.length > 0 ? efforts.join(', ') : 'none, because its shape has no such parameter'}, got "${effort}".`,
  );
}

import { type Fields, isRecord } from '../../adapters/fields.ts';
import { type CompactionRequest, copyRequest, type MessagesTask, withBetas } from './anthropic-request.ts';
import { startAtMarker } from './compaction-block.ts';

/**
 * Compaction on demand: the same request, which the provider answers with a compaction alone. What shapes a reply is refused in it.
 *
 * @throws CompactionError `incomplete-turn`, `invalid-request`, `summarizer-overflow`
 */
export function askOnDemand(task: MessagesTask, instructions: string): CompactionRequest {
  const { messages, fields, changed, omitted } = copyRequest(task);
  fields.messages = startAtMarker(messages);
  if (fields.messages !== messages) changed.push('history before a compaction block');
  for (const name of ['context_management', 'output_format'])
    if (isRecord(fields[name])) {
      delete fields[name];
      changed.push(name);
    }
  if (isRecord(fields.output_config) && 'format' in fields.output_config) {
    fields.output_config = withoutFormat(fields.output_config);
    changed.push('output_config.format');
  }
  if (Array.isArray(fields.fallbacks)) fields.fallbacks = fields.fallbacks.map(withoutFallbackFormat);
  if (isRecord(fields.tool_choice) && (fields.tool_choice.type === 'any' || fields.tool_choice.type === 'tool')) {
    delete fields.tool_choice;
    changed.push('tool_choice');
  }
  fields.compaction = { type: 'summarize', ...(instructions !== '' && { instructions }) };
  return { body: withBetas(fields, ['compact-2026-09-04']), changed, omitted };
}

function withoutFormat({ format: _format, ...rest }: Fields): Fields {
  return rest;
}

function withoutFallbackFormat(fallback: unknown): unknown {
  return isRecord(fallback) && isRecord(fallback.output_config)
    ? { ...fallback, output_config: withoutFormat(fallback.output_config) }
    : fallback;
}

import { isRecord } from '../fields.ts';
import type { AnthropicRequest } from './shape.ts';

/**
 * See `ProviderAdapter.letReasoningDrop`: sets `thinking.block_binding`, where the model thinks. The provider takes it with the beta
 * `thinking-binding-controls-2026-08-01` alone, which the caller asks for: in `betas`, or in a header.
 */
export function letReasoningDrop<R extends AnthropicRequest>(request: R): R {
  const { thinking } = request;
  if (thinking?.type !== 'enabled' && thinking?.type !== 'adaptive') return request;
  const binding = 'block_binding' in thinking && isRecord(thinking.block_binding) ? thinking.block_binding : {};
  if (binding.prefix_mismatch_behavior === 'drop_block') return request;
  return { ...request, thinking: { ...thinking, block_binding: { ...binding, prefix_mismatch_behavior: 'drop_block' } } };
}

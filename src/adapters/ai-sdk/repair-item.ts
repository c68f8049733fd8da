import { isBlank, isRecord } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { errorWithoutText } from '../placeholders.ts';
import { isBlankText, partsOf } from './parts.ts';
import { optionOf, sealOf } from './provider-options.ts';
import type { AiSdkMessage, AiSdkPart } from './shape.ts';

/** See `ProviderAdapter.repairItem`. */
export function repairItem(item: AiSdkMessage): AiSdkMessage | undefined {
  const { role, content, providerOptions } = item;
  // A message of the system may say nothing and set something: an effort, other tools.
  if (typeof content === 'string') return isBlank(content) && !(role === 'system' && sealOf(providerOptions)) ? undefined : item;
  const parts = partsOf(item).filter(isAccepted).map(repairPart);
  if (parts.length === 0) return undefined;
  return isSameList(parts, content) ? item : { ...item, content: parts };
}

function isAccepted(part: unknown): boolean {
  if (!isRecord(part)) return false;
  const { providerOptions } = part;
  // An empty text may carry a signature, or stand for an item of the server's that reasoning needs behind it.
  if (isBlankText(part)) return isPinned(providerOptions) && optionOf(providerOptions, 'type') !== 'compaction'; // B038
  return part.type !== 'reasoning' || !hasEmptySignature(providerOptions); // B186
}

function isPinned(options: unknown): boolean {
  return sealOf(options) !== undefined || optionOf(options, 'itemId') !== undefined;
}

function hasEmptySignature(options: unknown): boolean {
  return isRecord(options) && Object.values(options).some((record) => isRecord(record) && record.signature === '');
}

function repairPart(part: AiSdkPart): AiSdkPart {
  const { type, input, output } = part;
  if (type === 'tool-call') return input === undefined ? { ...part, input: {} } : part;
  if (type !== 'tool-result') return part;
  if (!isRecord(output)) return { ...part, output: { type: 'json', value: output ?? null } };
  const says = typeof output.value === 'string' && !isBlank(output.value);
  return output.type !== 'error-text' || says ? part : { ...part, output: { ...output, value: errorWithoutText } };
}

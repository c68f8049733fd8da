import { type Fields, fieldsOf, isBlank, isNothing, isRecord, listOf } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { fieldsBeside, isRedactedThinking, kindOf } from './parts.ts';
import type { GenkitMessage } from './shape.ts';

/**
 * See `ProviderAdapter.repairItem`. What plugins throw on: blank text, a call without input, a result without output, a reference that is
 * no text.
 */
export function repairMessage(item: GenkitMessage): GenkitMessage | undefined {
  const content: unknown = item.content;
  if (typeof content === 'string') return isBlank(content) ? undefined : item;
  const parts = listOf(content);
  const kept = parts.flatMap((part) => repairPart(part, item.role));
  if (!kept.some(says)) return undefined;
  return isSameList(kept, parts) ? item : { ...plainMessage(item), content: kept };
}

/** The message without what a `Message` has beside its data: the very same object where it is data. */
export function plainMessage(message: GenkitMessage): GenkitMessage {
  if (!('toJSON' in message) || typeof message.toJSON !== 'function') return message;
  const { role, content, metadata } = message;
  return { role, content, ...(metadata && { metadata }) };
}

function repairPart(part: unknown, role: string): object[] {
  if (!isRecord(part)) return [];
  switch (kindOf(part)) {
    case 'text': {
      const isNeeded = fieldsBeside(part, 'text') && role !== 'user' && role !== 'system';
      return isBlank(String(part.text)) && !isNeeded ? [] : [part];
    }
    case 'reasoning': // plugins that ask for a signature throw on one that was cut: B186
      return isRecord(part.metadata) && part.metadata.thoughtSignature === '' ? [] : [part];
    case 'toolRequest':
      return [
        repairHalf(hasField(part.toolRequest, 'input') ? part : withField(part, 'toolRequest', 'input', {}), 'toolRequest'),
      ];
    case 'toolResponse':
      return [
        repairHalf(
          hasField(part.toolResponse, 'output', 'content') ? part : withField(part, 'toolResponse', 'output', ''),
          'toolResponse',
        ),
      ];
    default:
      return [part];
  }
}

/** A call and its result without a reference that Genkit takes are told by their tool and their place: both go without. */
function repairHalf(part: Fields, kind: 'toolRequest' | 'toolResponse'): Fields {
  const { ref, ...rest } = fieldsOf(part[kind]);
  return ref === undefined || typeof ref === 'string' ? part : { ...part, [kind]: rest };
}

function hasField(value: unknown, ...keys: readonly string[]): boolean {
  return isRecord(value) && keys.some((key) => value[key] !== undefined);
}

function withField(part: Fields, kind: string, key: string, value: unknown): Fields {
  const fields = part[kind];
  return { ...part, [kind]: { ...(isRecord(fields) && fields), [key]: value } };
}

/** Thoughts alone, as a reply that was cut leaves them, say nothing. B186 */
export function says(part: unknown): boolean {
  if (!isRecord(part)) return false;
  const kind = kindOf(part);
  if (kind === 'text') return !isBlank(String(part.text));
  return kind === undefined ? !isRedactedThinking(part) && !isNothing(part) : kind !== 'reasoning';
}

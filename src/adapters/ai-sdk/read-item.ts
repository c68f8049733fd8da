import type { Message, Part, Role } from '../../message.ts';
import { type Fields, isNothing, isRecord, stringOf } from '../fields.ts';
import { reasoningParts, textParts } from '../neutral-parts.ts';
import { isClientCall, partsOf } from './parts.ts';
import { optionOf, sealOf, withoutCacheMarkers } from './provider-options.ts';
import { readMedia } from './read-media.ts';
import { readOutput } from './read-output.ts';
import type { AiSdkMessage } from './shape.ts';

/**
 * A message in neutral form: always one. What a provider keeps beside a part (signatures, ciphertext) follows it as an opaque part, which
 * is no part of the SDK and is never written. Tools that the provider runs itself are carried whole.
 */
export function readItem(item: AiSdkMessage): Message[] {
  // `readItems` lets no other role through.
  const role = item.role as Role;
  const { content, providerOptions } = item;
  // The text is there also where it is empty: a message that only sets something is no checkpoint, which would stand first.
  if (role === 'system') return [{ role, parts: [{ type: 'text', text: stringOf(content) }, ...readSeal(providerOptions)] }];
  return [{ role, parts: [...partsOf(item).flatMap((part) => readPart(part, role)), ...readSeal(providerOptions)] }];
}

function readPart(part: unknown, role: Role): Part[] {
  if (!isRecord(part)) return isNothing(part) ? [] : [{ type: 'native', value: part }];
  if (part.type === 'text' && typeof part.text === 'string') return [...textParts(part.text), ...readSeal(part.providerOptions)];
  if (part.type === 'reasoning' && role === 'assistant') return [...reasoningParts(part.text), ...readSeal(part.providerOptions)];
  if (role === 'assistant' && isClientCall(part))
    return [
      { type: 'toolCall', id: stringOf(part.toolCallId), name: part.toolName, input: part.input },
      ...readSeal(part.providerOptions),
    ];
  if (role === 'tool' && part.type === 'tool-result' && !isServed(part.output))
    return [...readResult(stringOf(part.toolCallId), part), ...readSeal(part.providerOptions)];
  return [readMedia(part) ?? { type: 'native', value: withoutCacheMarkers(part) }];
}

function readResult(callId: string, { toolName, output }: Fields): Part[] {
  const { content, isError } = readOutput(output);
  return [{ type: 'toolResult', callId, name: stringOf(toolName), content, ...(isError && { isError }) }];
}

/** What the SDK writes where the user denied a tool of the provider's: it belongs to no call of the caller's. */
function isServed(output: unknown): boolean {
  return isRecord(output) && output.type === 'execution-denied' && optionOf(output.providerOptions, 'approvalId') !== undefined;
}

/** Thinking that is signed otherwise is another content. */
function readSeal(options: unknown): Part[] {
  const seal = sealOf(options);
  return seal ? [{ type: 'native', value: { providerOptions: seal } }] : [];
}

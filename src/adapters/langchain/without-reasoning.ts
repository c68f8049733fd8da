import { type Fields, fieldsOf, isNothing, isRecord, listOf, stringOf, withoutFields } from '../fields.ts';
import { isReasoning as isReasoningItem } from '../openai-responses/item-kinds.ts';
import { untieItems } from '../openai-responses/untie-items.ts';
import { copyMessage } from './copy-message.ts';
import { roleOf } from './message-role.ts';
import { saysSomething } from './repair-message.ts';
import type { LangchainMessage } from './shape.ts';

/** Where packages have the reasoning of a reply beside its content. */
const reasoningExtras = ['reasoning', 'reasoning_content', 'reasoning_details', 'thinking_blocks'];

/** See `ProviderAdapter.withoutReasoning`. Signatures of calls stay: Gemini demands them. */
export function withoutReasoning(item: LangchainMessage): LangchainMessage | undefined {
  if (roleOf(item) !== 'assistant') return item;
  const message: Fields = { ...item };
  const blocks = listOf(message.content);
  const extras = fieldsOf(message.additional_kwargs);
  const metadata = fieldsOf(message.response_metadata);
  const found = reasoningExtras.filter((name) => !isNothing(extras[name]));
  const output = listOf(metadata.output).filter(isRecord);
  const thinks = blocks.some(isReasoning);
  if (found.length === 0 && !thinks && !output.some(isReasoningItem)) return item;
  const changes: Fields = {
    ...(thinks && { content: orText(blocks.filter((block) => !isReasoning(block))) }),
    ...(isRecord(message.additional_kwargs) && {
      additional_kwargs: { ...untieExtras(extras, found), ...alignSignatures(extras, blocks) },
    }),
    ...(output.length > 0 && { response_metadata: { ...metadata, output: withoutReasoningItems(output) } }),
    // Under this id OpenAI would look for the reasoning. B021
    ...(stringOf(message.id).startsWith('msg_') && { id: undefined }),
  };
  return saysSomething({ ...message, ...changes }, 'assistant') ? copyMessage(item, changes) : undefined;
}

function isReasoning(block: unknown): boolean {
  if (!isRecord(block)) return false;
  return (
    /^(?:redacted_)?thinking$|^reasoning/.test(stringOf(block.type)) || (block.thought === true && !isRecord(block.functionCall))
  );
}

function orText(blocks: readonly unknown[]): unknown {
  return blocks.length > 0 ? blocks : '';
}

/** The ids of calls are OpenAI's own: with them it wants the reasoning that led to the calls. */
function untieExtras(extras: Fields, found: readonly string[]): Fields {
  return withoutFields(extras, [...found, '__openai_function_call_ids__']);
}

/** The package for Vertex AI keeps the signatures of a reply in a list, by the place of the block. */
function alignSignatures({ signatures }: Fields, blocks: readonly unknown[]): Fields {
  if (!Array.isArray(signatures)) return {};
  return { signatures: signatures.filter((_, index) => !isReasoning(blocks[index])) };
}

/** The package for OpenAI sends what a reply put out as it came. */
function withoutReasoningItems(output: readonly Fields[]): readonly object[] {
  return untieItems(
    output.filter((entry) => !isReasoningItem(entry)),
    output,
  );
}

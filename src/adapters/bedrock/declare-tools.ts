import { listOf, stringOf } from '../fields.ts';
import { blocksOf, isClientCall, memberOf } from './blocks.ts';
import type { BedrockInput, BedrockMessage } from './shape.ts';

/**
 * The tools of a history whose request has none: the provider refuses calls and results without them. Nothing is known of them but their
 * names. Undefined where nothing is missing. B070
 */
export function declareTools(
  { toolConfig, modelId }: BedrockInput,
  messages: readonly BedrockMessage[],
): BedrockInput['toolConfig'] {
  if (listOf(toolConfig?.tools).length > 0 || isManagedPrompt(modelId)) return undefined;
  const names = new Set(
    messages
      .flatMap(blocksOf)
      .filter(isClientCall)
      .map((block) => stringOf(memberOf(block, 'toolUse')?.name)),
  );
  if (names.size === 0) return undefined;
  return { tools: [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } })) };
}

/** A prompt of Prompt management brings its own system text, tools and inference parameters: a request with any of them is refused. */
export function isManagedPrompt(modelId: unknown): boolean {
  return stringOf(modelId).includes(':prompt/');
}

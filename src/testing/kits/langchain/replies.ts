import type { LangchainReplyMessage } from '../../../adapters/langchain.ts';
import type { Ending, ReplyScript, ScriptedCall } from '../../provider-kit.ts';
import { endingOf, halvesOf } from '../read-script.ts';
import type { LangchainKitClasses } from './messages.ts';

/** As the packages for OpenAI and Anthropic hand on what their providers say. */
const finishReasons: Record<Ending, object> = {
  stop: { finish_reason: 'stop' },
  length: { finish_reason: 'length' },
  'tool-calls': { finish_reason: 'tool_calls' },
  refusal: { stop_reason: 'refusal' },
  'content-filter': { finish_reason: 'content_filter' },
  cut: {},
};

function finishOf(script: ReplyScript): object {
  return { model_provider: 'openai', ...finishReasons[endingOf(script)] };
}

export function answer(AIMessage: LangchainKitClasses['AIMessage'], script: ReplyScript): LangchainReplyMessage {
  const { text = '', reasoning, calls = [] } = script;
  return new AIMessage({
    content: text,
    tool_calls: calls.map(writeCall),
    ...(reasoning !== undefined && { additional_kwargs: { reasoning_content: reasoning } }),
    response_metadata: finishOf(script),
    ...usageOf(script),
  });
}

export async function* chunksOf(
  AIMessageChunk: LangchainKitClasses['AIMessageChunk'],
  script: ReplyScript,
): AsyncGenerator<LangchainReplyMessage> {
  const { reasoning, calls = [] } = script;
  if (reasoning !== undefined) yield new AIMessageChunk({ content: '', additional_kwargs: { reasoning_content: reasoning } });
  for (const piece of halvesOf(script)) yield new AIMessageChunk({ content: piece });
  if (calls.length > 0) yield new AIMessageChunk({ content: '', tool_calls: calls.map(writeCall) });
  yield new AIMessageChunk({ content: '', response_metadata: finishOf(script) });
  yield new AIMessageChunk({ content: '', ...usageOf(script) });
}

export function writeCall({ id, name, input }: ScriptedCall): object {
  return { type: 'tool_call', id, name, args: input };
}

function usageOf({ usage }: ReplyScript): object {
  if (!usage) return {};
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    usage_metadata: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      input_token_details: { cache_read: cachedInputTokens, cache_creation: cacheWriteTokens },
    },
  };
}

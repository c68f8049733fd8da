import type { BedrockBlock } from '../../../adapters/bedrock.ts';
import type { Ending, ReplyScript, ScriptedCall } from '../../provider-kit.ts';
import { endingOf, halvesOf } from '../read-script.ts';

const stopReasons: Record<Ending, string | undefined> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  refusal: 'content_filtered',
  'content-filter': 'guardrail_intervened',
  cut: undefined,
};

export function stopReasonOf(script: ReplyScript): string | undefined {
  return stopReasons[endingOf(script)];
}

export function writeReply({ text, reasoning, calls = [] }: ReplyScript): BedrockBlock[] {
  return [
    ...(reasoning === undefined ? [] : [{ reasoningContent: { reasoningText: { text: reasoning, signature: 'c2lnbmVk' } } }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(writeCall),
  ];
}

function writeCall({ id, name, input }: ScriptedCall): BedrockBlock {
  return { toolUse: { toolUseId: id, name, input } };
}

/** The provider counts cached tokens beside the others. */
export function usageOf({ usage }: ReplyScript): { usage?: object } {
  if (!usage) return {};
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    usage: {
      inputTokens: inputTokens - cachedInputTokens - cacheWriteTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      cacheReadInputTokens: cachedInputTokens,
      cacheWriteInputTokens: cacheWriteTokens,
    },
  };
}

export async function* streamEvents(script: ReplyScript): AsyncGenerator<object> {
  const { text = '', reasoning, calls = [] } = script;
  let contentBlockIndex = 0;
  const stop = () => ({ contentBlockStop: { contentBlockIndex: contentBlockIndex++ } });
  const delta = (delta: object) => ({ contentBlockDelta: { contentBlockIndex, delta } });
  yield { messageStart: { role: 'assistant' } };
  if (reasoning !== undefined) {
    yield delta({ reasoningContent: { text: reasoning } });
    yield delta({ reasoningContent: { signature: 'c2lnbmVk' } });
    yield stop();
  }
  for (const piece of halvesOf(script)) yield delta({ text: piece });
  if (text !== '') yield stop();
  for (const { id, name, input } of calls) {
    yield { contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } } };
    yield delta({ toolUse: { input: JSON.stringify(input) } });
    yield stop();
  }
  const stopReason = stopReasonOf(script);
  if (stopReason === undefined) return;
  yield { messageStop: { stopReason } };
  yield { metadata: { ...usageOf(script), metrics: { latencyMs: 1 } } };
}

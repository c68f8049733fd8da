import type { ChatMessage } from '../../../adapters/openai-chat.ts';
import type { Ending, ReplyScript, ScriptedCall } from '../../provider-kit.ts';
import { endingOf, halvesOf } from '../read-script.ts';

const finishReasons: Record<Ending, string | null> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refusal: 'stop',
  'content-filter': 'content_filter',
  cut: null,
};

export function finishOf(script: ReplyScript): string | null {
  return finishReasons[endingOf(script)];
}

export function writeReply({ text, reasoning, calls = [], ending }: ReplyScript): ChatMessage {
  const refused = ending === 'refusal';
  return {
    role: 'assistant',
    content: refused ? null : (text ?? null),
    ...(refused && { refusal: text ?? 'No.' }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(writeCall) }),
  };
}

function writeCall({ id, name, input }: ScriptedCall): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

export function usageOf({ usage }: ReplyScript): object {
  if (!usage) return {};
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      prompt_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: cacheWriteTokens },
    },
  };
}

export async function* chunksOf(script: ReplyScript): AsyncGenerator<object> {
  const { reasoning, calls = [], ending } = script;
  const chunk = (delta: object, finish: string | null = null) => ({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  yield chunk({ role: 'assistant', content: '' });
  if (reasoning !== undefined) yield chunk({ reasoning_content: reasoning });
  for (const piece of halvesOf(script)) yield chunk(ending === 'refusal' ? { refusal: piece } : { content: piece });
  for (const [index, { id, name, input }] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    yield chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(input) } }] });
  }
  if (ending === 'cut') return;
  yield chunk({}, finishOf(script));
  if (script.usage) yield { choices: [], ...usageOf(script) };
}

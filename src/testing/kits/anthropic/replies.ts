import type { Ending, ReplyScript, ScriptedCall } from '../../provider-kit.ts';
import { endingOf, halvesOf } from '../read-script.ts';

export type Block = { type: string } & Record<string, unknown>;

const stopReasons: Record<Ending, string | null> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  refusal: 'refusal',
  'content-filter': 'refusal',
  cut: null,
};

export function stopReasonOf(script: ReplyScript): string | null {
  return stopReasons[endingOf(script)];
}

export function writeReply({ text, reasoning, calls = [] }: ReplyScript): Block[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'c2lnbmVk' }]),
    ...(text === undefined ? [] : [textBlock(text)]),
    ...calls.map(writeCall),
  ];
}

export function textBlock(text: string): Block {
  return { type: 'text', text };
}

function writeCall({ id, name, input }: ScriptedCall): Block {
  return { type: 'tool_use', id, name, input };
}

/** The provider counts cached tokens beside the others. */
export function usageOf({ usage }: ReplyScript): object {
  if (!usage) return {};
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: inputTokens - cachedInputTokens - cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    output_tokens: outputTokens,
  };
}

export async function* eventsOf(script: ReplyScript): AsyncGenerator<object> {
  const { reasoning, calls = [], ending } = script;
  const { output_tokens, ...input } = usageOf(script) as { output_tokens?: number };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], stop_reason: null };
  yield { type: 'message_start', message: { ...message, usage: { ...input, output_tokens: 1 } } };
  let index = 0;
  const pieces = halvesOf(script);
  const blocks: [start: Block, deltas: Block[]][] = [
    ...(reasoning === undefined
      ? []
      : [
          [
            { type: 'thinking', thinking: '', signature: '' },
            [
              { type: 'thinking_delta', thinking: reasoning },
              { type: 'signature_delta', signature: 'c2lnbmVk' },
            ],
          ] satisfies [Block, Block[]],
        ]),
    ...(pieces.length === 0
      ? []
      : [[textBlock(''), pieces.map((piece) => ({ type: 'text_delta', text: piece }))] satisfies [Block, Block[]]]),
    ...calls.map((call): [Block, Block[]] => [
      { ...writeCall(call), input: {} },
      [{ type: 'input_json_delta', partial_json: JSON.stringify(call.input) }],
    ]),
  ];
  for (const [content_block, deltas] of blocks) {
    yield { type: 'content_block_start', index, content_block };
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
    index++;
  }
  if (ending === 'cut') return;
  yield {
    type: 'message_delta',
    delta: { stop_reason: stopReasonOf(script), stop_sequence: null },
    usage: script.usage ? { output_tokens } : {},
  };
  yield { type: 'message_stop' };
}

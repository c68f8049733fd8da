import type { AiSdkGenerateReply, AiSdkPart } from '../../../adapters/ai-sdk.ts';
import type { Ending, ReplyScript, StreamBreak } from '../../provider-kit.ts';
import { endingOf, halvesOf } from '../read-script.ts';

export type Part = AiSdkPart & Record<string, unknown>;

export const signature: object = { anthropic: { signature: 'c2lnbmVk' } };

const finishReasons: Record<Ending, { unified: string; raw: string | undefined }> = {
  stop: { unified: 'stop', raw: 'stop' },
  length: { unified: 'length', raw: 'length' },
  'tool-calls': { unified: 'tool-calls', raw: 'tool_calls' },
  refusal: { unified: 'content-filter', raw: 'refusal' },
  'content-filter': { unified: 'content-filter', raw: 'content_filter' },
  // What the SDK's providers say of a stream that ended in the middle.
  cut: { unified: 'other', raw: undefined },
};

export function finishReasonOf(script: ReplyScript): AiSdkGenerateReply['finishReason'] {
  return finishReasons[endingOf(script)];
}

export function usageOf({ usage }: ReplyScript): object {
  const { inputTokens: total, outputTokens, cachedInputTokens: cacheRead = 0, cacheWriteTokens: cacheWrite = 0 } = usage ?? {};
  return {
    inputTokens: { total, noCache: total && total - cacheRead - cacheWrite, cacheRead, cacheWrite },
    outputTokens: { total: outputTokens, text: undefined, reasoning: undefined },
  };
}

export function writeReply({ text, reasoning, calls = [] }: ReplyScript): Part[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning, providerMetadata: signature }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input }) => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: JSON.stringify(input),
    })),
  ];
}

export function streamParts(script: ReplyScript): Part[] {
  const blocks = writeReply(script).flatMap((part, index): Part[] => {
    if (part.type === 'tool-call') return [part];
    const id = String(index);
    const text = String(part.text);
    const pieces = halvesOf({ text });
    return [
      { type: `${part.type}-start`, id },
      ...pieces.map((delta) => ({ type: `${part.type}-delta`, id, delta })),
      { type: `${part.type}-end`, id, ...('providerMetadata' in part && { providerMetadata: part.providerMetadata }) },
    ];
  });
  const start = { type: 'stream-start', warnings: [] };
  if (script.ending === 'cut') return [start, ...blocks];
  return [start, ...blocks, { type: 'finish', finishReason: finishReasonOf(script), usage: usageOf(script) }];
}

export function streamOf(parts: readonly Part[], breaks: StreamBreak | undefined): ReadableStream<AiSdkPart> {
  const rest = parts.slice(0, breaks?.after);
  return new ReadableStream({
    pull(controller) {
      const part = rest.shift();
      if (part) controller.enqueue(part);
      else if (breaks && 'error' in breaks) controller.error(breaks.error);
      else controller.close();
    },
  });
}

/** The assistant's text and the results stand in messages of their own; several results in one, as the SDK joins them. */

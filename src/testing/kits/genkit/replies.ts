import type { Ending, ReplyScript, ScriptedCall } from '../../provider-kit.ts';

/** A plugin says `stop` when the model calls tools, and `unknown` when it was told nothing. */
const finishReasons: Record<Ending, string> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'stop',
  refusal: 'blocked',
  'content-filter': 'blocked',
  cut: 'unknown',
};

export function finishOf({ ending = 'stop' }: ReplyScript): string {
  return finishReasons[ending];
}

export function writeReply({ text, reasoning, calls = [] }: ReplyScript): object[] {
  return [
    ...(reasoning === undefined ? [] : [{ reasoning, metadata: { thoughtSignature: 'c2lnbmVk' } }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map((call) => writeCall(call)),
  ];
}

export function writeCall({ id, name, input }: ScriptedCall, isReferenced = true): object {
  return { toolRequest: { name, ...(isReferenced && { ref: id }), input } };
}

export function usageOf({ usage }: ReplyScript): object {
  if (!usage) return { usage: {} };
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  const totalTokens = inputTokens + outputTokens;
  return {
    usage: {
      inputTokens,
      outputTokens,
      totalTokens,
      ...(cachedInputTokens !== undefined && { cachedContentTokens: cachedInputTokens }),
    },
  };
}

import { type AiSdkMessage, type AiSdkReply, type AiSdkRequest, aiSdkModel } from '../../adapters/ai-sdk.ts';
import { outlineConversation } from '../outline.ts';
import type { ErrorScript, ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateAiSdk } from '../wire/ai-sdk.ts';
import { marker, writeTurn } from './ai-sdk/conversation.ts';
import { createAiSdkError } from './ai-sdk/errors.ts';
import { finishReasonOf, streamOf, streamParts, usageOf, writeReply } from './ai-sdk/replies.ts';
import { settingAt } from './fork-setting.ts';

/** Calls of a language model of the AI SDK, as `generateText` and `streamText` make them. */
export const aiSdkKit: ProviderKit<AiSdkRequest, AiSdkMessage, AiSdkReply> = {
  name: 'ai-sdk',
  adapter: aiSdkModel(),
  request: (
    items,
    { system = 'Be exact.', tools = true, outputCap = 1000, model = 'gpt-5' }: RequestScript = {},
  ): AiSdkRequest => ({
    model: { provider: 'openai.responses', modelId: model },
    maxOutputTokens: outputCap,
    prompt: [...(system === '' ? [] : [{ role: 'system', content: system, providerOptions: marker }]), ...items],
    ...(tools && { tools: ['read', 'write'].map(toolNamed), toolChoice: { type: 'auto' } }),
  }),
  validate: validateAiSdk,
  reply: (script) => ({
    content: writeReply(script),
    finishReason: finishReasonOf(script),
    usage: usageOf(script),
    warnings: [],
  }),
  stream: (script, breaks) => ({ stream: streamOf(streamParts(script), breaks) }),
  neutralized: [
    settingAt('stopSequences', ['END']),
    settingAt('toolChoice', { type: 'required' }),
    settingAt('providerOptions.openai', { truncation: 'auto' }),
  ],
  relaxed: [settingAt('responseFormat', { type: 'json' })],
  error: (script: ErrorScript) => createAiSdkError(script),
  conversation: (choose, open) => outlineConversation(choose, open).flatMap((turn) => writeTurn(turn, choose)),
};

function toolNamed(name: string): object {
  const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
  return { type: 'function', name, description: `Tool ${name}.`, inputSchema };
}

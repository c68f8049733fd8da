import { type BedrockInput, type BedrockMessage, type BedrockReply, bedrockConverse } from '../../adapters/bedrock.ts';
import type { ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateBedrock } from '../wire/bedrock.ts';
import { writeConversation } from './bedrock/conversation.ts';
import { createError } from './bedrock/errors.ts';
import { stopReasonOf, streamEvents, usageOf, writeReply } from './bedrock/replies.ts';
import { breakOff } from './break-off.ts';
import { settingAt } from './fork-setting.ts';

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

/** Converse, as `@aws-sdk/client-bedrock-runtime` takes and gives it. Requests are the inputs of its commands. */
export const bedrockKit: ProviderKit<BedrockInput, BedrockMessage, BedrockReply> = {
  name: 'bedrock',
  adapter: bedrockConverse(),
  request: (items, { system = 'Be exact.', tools = true, outputCap = 1000, model = claude }: RequestScript = {}) => ({
    modelId: model,
    messages: items,
    inferenceConfig: { maxTokens: outputCap },
    ...(system !== '' && { system: [{ text: system }, cachePoint] }),
    ...(tools && { toolConfig: { tools: [...['read', 'write'].map(toolNamed), cachePoint] } }),
  }),
  validate: validateBedrock,
  reply: (script) => ({
    $metadata: { httpStatusCode: 200 },
    output: { message: { role: 'assistant', content: writeReply(script) } },
    stopReason: stopReasonOf(script),
    metrics: { latencyMs: 1 },
    ...usageOf(script),
  }),
  stream: (script, breaks) => ({ $metadata: { httpStatusCode: 200 }, stream: breakOff(streamEvents(script), breaks) }),
  neutralized: [settingAt('inferenceConfig.stopSequences', ['END'])],
  relaxed: [
    settingAt('outputConfig.textFormat', { type: 'json_schema', structure: { jsonSchema: { schema: '{}' } } }),
    settingAt('toolConfig.toolChoice', { any: {} }),
  ],
  error: createError,
  conversation: writeConversation,
};

export const cachePoint = { cachePoint: { type: 'default' } };

function toolNamed(name: string): object {
  const json = { type: 'object', properties: { path: { type: 'string' } } };
  return { toolSpec: { name, description: `Tool ${name}.`, inputSchema: { json } } };
}

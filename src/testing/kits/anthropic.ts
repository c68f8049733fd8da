import {
  type AnthropicMessage,
  type AnthropicReply,
  type AnthropicRequest,
  anthropicMessages,
} from '../../adapters/anthropic.ts';
import { outlineConversation } from '../outline.ts';
import type { ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateAnthropic } from '../wire/anthropic.ts';
import { writeTurn } from './anthropic/conversation.ts';
import { createError } from './anthropic/errors.ts';
import { eventsOf, stopReasonOf, usageOf, writeReply } from './anthropic/replies.ts';
import { breakOff } from './break-off.ts';
import { settingAt } from './fork-setting.ts';

/** The Messages API, as `@anthropic-ai/sdk` takes and gives it. */
export const anthropicKit: ProviderKit<AnthropicRequest, AnthropicMessage, AnthropicReply> = {
  name: 'anthropic',
  adapter: anthropicMessages(),
  request: (
    items,
    { system = 'Be exact.', tools = true, outputCap = 1000, model = 'claude-sonnet-4-5' }: RequestScript = {},
  ) => ({
    model,
    max_tokens: outputCap,
    ...(system !== '' && { system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] }),
    ...(tools && { tools: ['read', 'write'].map(toolNamed) }),
    messages: items,
  }),
  validate: validateAnthropic,
  reply: (script) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: writeReply(script),
    stop_reason: stopReasonOf(script),
    stop_sequence: null,
    usage: usageOf(script) as never,
  }),
  stream: (script, breaks) => breakOff(eventsOf(script), breaks),
  neutralized: [settingAt('stop_sequences', ['END'])],
  relaxed: [
    settingAt('output_config.format', { type: 'json_schema', schema: { type: 'object' } }),
    settingAt('tool_choice', { type: 'any' }),
  ],
  error: createError,
  conversation: (choose, open) => outlineConversation(choose, open).flatMap((turn) => writeTurn(turn, choose)),
};

function toolNamed(name: string): object {
  const input_schema = { type: 'object', properties: { path: { type: 'string' } } };
  return { name, description: `Tool ${name}.`, input_schema, ...(name === 'write' && { cache_control: { type: 'ephemeral' } }) };
}

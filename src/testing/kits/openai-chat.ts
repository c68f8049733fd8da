import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../../adapters/openai-chat.ts';
import { outlineConversation } from '../outline.ts';
import type { ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateOpenAiChat } from '../wire/openai-chat.ts';
import { breakOff } from './break-off.ts';
import { settingAt } from './fork-setting.ts';
import { writeTurn } from './openai-chat/conversation.ts';
import { createError } from './openai-chat/errors.ts';
import { chunksOf, finishOf, usageOf, writeReply } from './openai-chat/replies.ts';

/** Chat Completions, as the `openai` SDK takes and gives it. */
export const openaiChatKit: ProviderKit<ChatRequest, ChatMessage, ChatReply> = {
  name: 'openai-chat',
  adapter: openaiChat(),
  request: (items, { system = 'Be exact.', tools = true, outputCap = 1000, model = 'gpt-5' }: RequestScript = {}) => ({
    model,
    max_completion_tokens: outputCap,
    ...(tools && { tools: ['read', 'write'].map(toolNamed) }),
    messages: system === '' ? items : [{ role: 'system', content: system }, ...items],
  }),
  validate: validateOpenAiChat,
  reply: (script) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: writeReply(script), finish_reason: finishOf(script) }],
    ...usageOf(script),
  }),
  stream: (script, breaks) => breakOff(chunksOf(script), breaks),
  neutralized: [settingAt('n', 2), settingAt('stop', ['END']), settingAt('store', true), settingAt('tool_choice', 'required')],
  relaxed: [settingAt('response_format', { type: 'json_schema', json_schema: { name: 'plan', schema: { type: 'object' } } })],
  error: createError,
  retryAfter: 7000,
  conversation: (choose, open) => outlineConversation(choose, open).flatMap((turn) => writeTurn(turn, choose)),
};

const parameters = { type: 'object', properties: { path: { type: 'string' } } };

function toolNamed(name: string): object {
  return { type: 'function', function: { name, description: `Tool ${name}.`, parameters } };
}

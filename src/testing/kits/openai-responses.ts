import {
  openaiResponses,
  type ResponsesItem,
  type ResponsesReply,
  type ResponsesRequest,
} from '../../adapters/openai-responses.ts';
import type { ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateOpenAiResponses } from '../wire/openai-responses.ts';
import { breakOff } from './break-off.ts';
import { settingAt } from './fork-setting.ts';
import { writeConversation } from './openai-responses/conversation.ts';
import { createOpenAiError } from './openai-responses/errors.ts';
import { replyObject, replyStream } from './openai-responses/replies.ts';

/** The Responses API, as the `openai` SDK takes and gives it. */
export const openaiResponsesKit: ProviderKit<ResponsesRequest, ResponsesItem, ResponsesReply> = {
  name: 'openai-responses',
  adapter: openaiResponses(),
  request: (items, { system = 'Be exact.', tools = true, outputCap = 1000, model = 'gpt-5' }: RequestScript = {}) => ({
    model,
    max_output_tokens: outputCap,
    ...(system !== '' && { instructions: system }),
    ...(tools && { tools: ['read', 'write'].map(toolNamed) }),
    input: items,
  }),
  validate: validateOpenAiResponses,
  reply: replyObject,
  stream: (script, breaks) => breakOff(replyStream(script), breaks),
  neutralized: [
    settingAt('store', true),
    settingAt('background', true),
    settingAt('truncation', 'auto'),
    settingAt('tool_choice', 'required'),
  ],
  relaxed: [settingAt('text.format', { type: 'json_object' })],
  error: createOpenAiError,
  conversation: writeConversation,
};

const parameters = { type: 'object', properties: { path: { type: 'string' } } };

export function toolNamed(name: string): object {
  return { type: 'function', name, description: `Tool ${name}.`, parameters, strict: false };
}

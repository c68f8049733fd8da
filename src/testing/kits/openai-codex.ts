import { openaiCodex } from '../../adapters/openai-codex.ts';
import type { ResponsesItem, ResponsesReply, ResponsesRequest } from '../../adapters/openai-responses.ts';
import type { ErrorScript, ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateOpenAiCodex } from '../wire/openai-codex.ts';
import { breakOff } from './break-off.ts';
import { settingAt } from './fork-setting.ts';
import { writeConversation } from './openai-responses/conversation.ts';
import { createOpenAiError } from './openai-responses/errors.ts';
import { replyObject, replyStream } from './openai-responses/replies.ts';
import { toolNamed } from './openai-responses.ts';

/** The backend of Codex, as the `openai` SDK takes and gives it. Its last event has no output. */
export const openaiCodexKit: ProviderKit<ResponsesRequest, ResponsesItem, ResponsesReply> = {
  name: 'openai-codex',
  adapter: openaiCodex(),
  request: (items, { system = 'Be exact.', tools = true, model = 'gpt-5-codex' }: RequestScript = {}): ResponsesRequest => {
    const request = {
      model,
      instructions: system,
      ...(tools && { tools: ['read', 'write'].map(toolNamed), tool_choice: 'auto', parallel_tool_calls: true }),
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'session-1',
      store: false,
      stream: true,
      input: items,
    };
    return request;
  },
  validate: validateOpenAiCodex,
  reply: replyObject,
  stream: (script, breaks) => breakOff(replyStream(script, false), breaks),
  neutralized: [settingAt('tool_choice', 'required')],
  relaxed: [settingAt('text.format', { type: 'json_object' })],
  error: createError,
  conversation: (choose, open) => writeConversation(choose, open).filter(({ role }) => role !== 'developer'),
};

/** An overflow is told in the stream. What the backend says under `detail`, the SDK does not show. */
function createError(script: ErrorScript): Error {
  switch (script) {
    case 'overflow':
      return new Error('The provider answered with an error: Your input exceeds the context window of this model.', {
        cause: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' },
      });
    case 'invalid':
      return Object.assign(new Error('400 status code (no body)'), { status: 400, headers: new Headers(), error: undefined });
    default:
      return createOpenAiError(script);
  }
}

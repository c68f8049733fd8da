import {
  type LangchainMessage,
  type LangchainReply,
  type LangchainRequest,
  langchainMessages,
} from '../../adapters/langchain.ts';
import { outlineConversation } from '../outline.ts';
import type { ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateLangchain } from '../wire/langchain.ts';
import { breakOff } from './break-off.ts';
import { settingAt } from './fork-setting.ts';
import { writeTurn } from './langchain/conversation.ts';
import { createError } from './langchain/errors.ts';
import { type LangchainKitClasses, standInClasses } from './langchain/messages.ts';
import { answer, chunksOf } from './langchain/replies.ts';

export type LangchainKit = ProviderKit<LangchainRequest, LangchainMessage, LangchainReply>;

/** The `ModelRequest` of a LangChain agent, with messages of the classes given. */
export function createLangchainKit(classes: LangchainKitClasses): LangchainKit {
  return {
    name: 'langchain',
    adapter: langchainMessages(classes),
    request: (items, { system = 'Be exact.', tools = true, outputCap = 1000, model = 'gpt-5' }: RequestScript = {}) => ({
      model: { model, _llmType: () => 'openai' },
      messages: items,
      systemPrompt: system,
      systemMessage: new classes.SystemMessage({ content: system }),
      tools: tools ? ['read', 'write'].map(toolNamed) : [],
      modelSettings: { maxTokens: outputCap },
      state: { messages: items },
      runtime: { configurable: {} },
    }),
    validate: validateLangchain,
    reply: (script) => answer(classes.AIMessage, script),
    stream: (script, breaks) => breakOff(chunksOf(classes.AIMessageChunk, script), breaks),
    neutralized: [settingAt('modelSettings.stop', ['END']), settingAt('modelSettings.n', 2), settingAt('toolChoice', 'any')],
    relaxed: [
      settingAt('responseFormat', { type: 'object' }),
      settingAt('modelSettings.response_format', { type: 'json_object' }),
    ],
    error: createError,
    conversation: (choose, open) => outlineConversation(choose, open).flatMap((turn) => writeTurn(turn, classes, choose)),
  };
}

export const langchainKit: LangchainKit = createLangchainKit(standInClasses);

const schema = { type: 'object', properties: { path: { type: 'string' } } };

function toolNamed(name: string): object {
  return { name, description: `Tool ${name}.`, schema };
}

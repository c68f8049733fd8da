import { type GenkitMessage, type GenkitReply, type GenkitRequest, genkitModel } from '../../adapters/genkit.ts';
import { outlineConversation } from '../outline.ts';
import type { ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateGenkit } from '../wire/genkit.ts';
import { settingAt } from './fork-setting.ts';
import { writeTurn } from './genkit/conversation.ts';
import { createError } from './genkit/errors.ts';
import { finishOf, usageOf, writeReply } from './genkit/replies.ts';

/** Requests and replies of Genkit's models, as a middleware sees them. The shape has no streams: chunks go another way. */
export const genkitKit: ProviderKit<GenkitRequest, GenkitMessage, GenkitReply> = {
  name: 'genkit',
  adapter: genkitModel(),
  request: (items, { system = 'Be exact.', tools = true, outputCap = 1000, model = 'gemini-2.5-flash' }: RequestScript = {}) => ({
    messages: system === '' ? items : [{ role: 'system', content: [{ text: system }] }, ...items],
    config: { version: model, maxOutputTokens: outputCap },
    docs: undefined,
    tools: tools ? ['read', 'write'].map(toolNamed) : [],
    output: {},
  }),
  validate: validateGenkit,
  reply: (script) => ({
    message: { role: 'model', content: writeReply(script) },
    finishReason: finishOf(script),
    ...usageOf(script),
    latencyMs: 7,
    custom: {},
  }),
  neutralized: [
    settingAt('config.stopSequences', ['END']),
    settingAt('config.candidateCount', 2),
    settingAt('config.store', true),
    settingAt('toolChoice', 'required'),
  ],
  relaxed: [
    settingAt('output', { format: 'json', schema: { type: 'object' } }),
    settingAt('docs', [{ content: [{ text: 'A note.' }] }]),
  ],
  error: createError,
  conversation: (choose, open) => outlineConversation(choose, open).flatMap((turn) => writeTurn(turn, choose)),
};

const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };

function toolNamed(name: string): object {
  return { name, key: `/tool/${name}`, description: `Tool ${name}.`, inputSchema };
}

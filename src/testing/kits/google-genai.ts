import { type GeminiContent, type GeminiReply, type GeminiRequest, geminiContents } from '../../adapters/google-genai.ts';
import type { ProviderKit, RequestScript } from '../provider-kit.ts';
import { validateGemini } from '../wire/google-genai.ts';
import { breakOff } from './break-off.ts';
import { settingAt } from './fork-setting.ts';
import { writeConversation } from './google-genai/conversation.ts';
import { createGeminiError } from './google-genai/errors.ts';
import { replyObject, replyStream } from './google-genai/replies.ts';

const adapter = geminiContents();

/** `generateContent`, as `@google/genai` takes and gives it. */
export const googleGenaiKit: ProviderKit<GeminiRequest, GeminiContent, GeminiReply> = {
  name: 'google-genai',
  adapter,
  // As the adapter puts contents together: what it wrote itself needs the names of functions, signatures, and its turn.
  // Gemini 3 takes only calls that it signed itself; all else is the same.
  request: (items, { system = 'Be exact.', tools = true, outputCap = 1000, model = 'gemini-2.5-pro' }: RequestScript = {}) => ({
    model,
    contents: items,
    config: {
      maxOutputTokens: outputCap,
      ...(system !== '' && { systemInstruction: system }),
      ...(tools && { tools: [{ functionDeclarations: ['read', 'write'].map(functionNamed) }] }),
    },
  }),
  validate: validateGemini,
  reply: replyObject,
  stream: (script, breaks) => breakOff(replyStream(script), breaks),
  neutralized: [
    settingAt('config.candidateCount', 2),
    settingAt('config.stopSequences', ['END']),
    settingAt('config.toolConfig', { functionCallingConfig: { mode: 'ANY' } }),
  ],
  relaxed: [settingAt('config.responseMimeType', 'application/json')],
  error: createGeminiError,
  retryAfter: 42_000,
  conversation: writeConversation,
};

function functionNamed(name: string): object {
  const parameters = { type: 'OBJECT', properties: { path: { type: 'STRING' } } };
  return { name, description: `Function ${name}.`, parameters };
}

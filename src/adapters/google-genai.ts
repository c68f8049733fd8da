import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { classifyProviderError } from './error-class.ts';
import { isNothing } from './fields.ts';
import { withItems } from './google-genai/arrange-contents.ts';
import { fieldOf } from './google-genai/field-names.ts';
import { forkRequest } from './google-genai/fork-request.ts';
import { isModel } from './google-genai/function-parts.ts';
import { pairContents } from './google-genai/pair-contents.ts';
import { readContent } from './google-genai/read-content.ts';
import { readContents } from './google-genai/read-contents.ts';
import { readItems } from './google-genai/read-items.ts';
import { readReply, usageOf } from './google-genai/read-reply.ts';
import { repairContent } from './google-genai/repair-content.ts';
import { generationOf, settingsOf, toolsOf, withSystem } from './google-genai/settings.ts';
import type { GeminiContent, GeminiReply, GeminiRequest } from './google-genai/shape.ts';
import { withoutThoughts } from './google-genai/without-thoughts.ts';
import { writeMessage } from './google-genai/write-message.ts';

export type { GeminiContent, GeminiPart, GeminiReply, GeminiReplyObject, GeminiRequest } from './google-genai/shape.ts';

/**
 * The adapter for `generateContent` of the Gemini API and of Vertex AI. Requests and replies are those of the `@google/genai` SDK, or the
 * bodies of REST calls; streams are the SDK's, or any other asynchronous iterable of responses.
 *
 * The SDK takes a signal inside a request: `send` puts it there, unless the caller has one there already.
 *
 * A chat holds its history itself. It is compacted at the client (`httpOptions: { fetch: compactingFetch(…) }`), which leaves its history
 * whole and also sees the requests between the tools that the SDK runs by itself; or it goes on as a new chat, as in the second example.
 *
 * @example
 * const generate = withAutoCompaction(
 *   (request: GenerateContentParameters, { signal }) =>
 *     ai.models.generateContent({ ...request, config: { abortSignal: signal, ...request.config } }),
 *   { adapter: geminiContents(), contextWindow: 1_048_576 },
 * );
 * const reply = await generate({ model, contents, config });
 *
 * @example
 * let chat = ai.chats.create({ model, config });
 * async function say(text: string) {
 *   const asked = [...chat.getHistory(true), { role: 'user', parts: [{ text }] }];
 *   const { contents } = await generate.compactor.prepare({ model, config, contents: asked });
 *   if (contents !== asked) chat = ai.chats.create({ model, config, history: contents.slice(0, -1) });
 *   return chat.sendMessage({ message: contents.at(-1)?.parts ?? text });
 * }
 */
export function geminiContents(): ProviderAdapter<GeminiRequest, GeminiContent, GeminiReply> {
  return {
    name: 'google-genai',
    family: 'google',
    endpoint: /:(?:generateContent|streamGenerateContent)$/,
    startsWithUser: true,
    efforts: ['minimal', 'low', 'medium', 'high'],
    items: readItems,
    withItems,
    withSystem,
    context: readContext,
    readItem: readContent,
    writeMessage,
    repairItem: repairContent,
    withoutReasoning: withoutThoughts,
    pairItems: pairContents,
    forkForSummary: forkRequest,
    readReply,
    usage: usageOf,
    classifyError: classifyProviderError,
  };
}

function readContext(request: GeminiRequest): RequestContext {
  const settings = settingsOf(request);
  const cap = fieldOf(generationOf(request), 'maxOutputTokens');
  const last = readContents(request).at(-1);
  return {
    model: request.model,
    system: fieldOf(settings, 'systemInstruction') ?? undefined,
    tools: toolsOf(settings),
    outputCap: typeof cap === 'number' && cap > 0 ? cap : undefined,
    // A long reply that goes on, or a turn of the model that is to be continued.
    pending: isNothing(fieldOf(settings, 'continuationToken'))
      ? last && isModel(last)
        ? 'model-last'
        : undefined
      : 'continuationToken',
  };
}

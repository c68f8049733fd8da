// Compiled, never run: the SDK's own types fit the adapter's bounds without a cast.
import type {
  Chat,
  Content,
  GenerateContentParameters,
  GenerateContentResponse,
  GoogleGenAI,
  GoogleGenAIOptions,
  Part,
} from '@google/genai';
import { expectTypeOf } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import {
  type GeminiContent,
  type GeminiPart,
  type GeminiReply,
  type GeminiRequest,
  geminiContents,
} from '../../src/adapters/google-genai.ts';
import { createCompactor } from '../../src/compactor.ts';
import { compactingFetch } from '../../src/fetch.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { withAutoCompaction } from '../../src/wrap.ts';

expectTypeOf(geminiContents).returns.toEqualTypeOf<ProviderAdapter<GeminiRequest, GeminiContent, GeminiReply>>();

expectTypeOf<GenerateContentParameters>().toExtend<GeminiRequest>();
expectTypeOf<Content>().toExtend<GeminiContent>();
expectTypeOf<Part>().toExtend<GeminiPart>();
expectTypeOf<GenerateContentResponse>().toExtend<GeminiReply>();
expectTypeOf<AsyncGenerator<GenerateContentResponse>>().toExtend<GeminiReply>();
expectTypeOf<Awaited<ReturnType<Chat['sendMessageStream']>>>().toExtend<GeminiReply>();

/** Requests keep their own type on the way through the adapter, and what a reply puts out goes in again. */
export async function sendThrough(ai: GoogleGenAI, request: GenerateContentParameters): Promise<void> {
  const adapter = geminiContents();
  const { candidates = [] } = await ai.models.generateContent(request);
  const said = candidates.flatMap(({ content }) => (content ? [content] : []));
  const rebuilt = adapter.withItems(request, [...adapter.items(request), ...said]);
  const { request: fork } = adapter.forkForSummary(adapter.withSystem(rebuilt, 'Be brief.'), 'Summarize.', { maxTokens: 1000 });
  const reply = await ai.models.generateContent(fork);
  await adapter.readReply(reply);
  adapter.usage(reply);
  await adapter.readReply(await ai.models.generateContentStream(fork));
}

/** The types of the SDK are inferred from what is sent. */
export async function wrapCalls(ai: GoogleGenAI, contents: Content[]): Promise<void> {
  const generate = withAutoCompaction(
    (request: GenerateContentParameters, { signal }) =>
      ai.models.generateContent({ ...request, config: { abortSignal: signal, ...request.config } }),
    { adapter: geminiContents(), contextWindow: 1_048_576 },
  );
  expectTypeOf(await generate({ model: 'gemini-3-pro', contents })).toExtend<GenerateContentResponse>();
  expectTypeOf(await generate({ model: 'gemini-3-pro', contents: 'Hello' })).toExtend<GenerateContentResponse>();
  const stream = withAutoCompaction((request: GenerateContentParameters) => ai.models.generateContentStream(request), {
    adapter: geminiContents(),
  });
  expectTypeOf(await stream({ model: 'gemini-3-pro', contents })).toExtend<AsyncGenerator<GenerateContentResponse>>();
  const compactor = createCompactor({
    adapter: geminiContents(),
    send: (request: GenerateContentParameters) => ai.models.generateContent(request),
  });
  const prepared = await compactor.prepare({ model: 'gemini-3-pro', contents, config: { systemInstruction: 'Be brief.' } });
  expectTypeOf(prepared.contents).toEqualTypeOf<Content[]>();
}

export async function runLoop(ai: GoogleGenAI, request: GenerateContentParameters): Promise<void> {
  const loop = new AutoCompactingLoop(request, {
    adapter: geminiContents(),
    send: (sent: GenerateContentParameters) => ai.models.generateContent(sent),
  });
  const { calls } = await loop.appendReply(await loop.send());
  const parts = calls.map(({ id, name }): Part => ({ functionResponse: { id, name, response: { output: 'Done.' } } }));
  loop.append([{ role: 'user', parts }]);
}

/** A chat goes on over the history that was prepared. */
export async function chat(ai: GoogleGenAI, talk: Chat, text: string): Promise<Chat> {
  const generate = withAutoCompaction((request: GenerateContentParameters) => ai.models.generateContent(request), {
    adapter: geminiContents(),
  });
  const asked = [...talk.getHistory(true), { role: 'user', parts: [{ text }] }];
  const { contents } = await generate.compactor.prepare({ model: 'gemini-3-pro', contents: asked });
  const next = ai.chats.create({ model: 'gemini-3-pro', history: contents.slice(0, -1) });
  await next.sendMessage({ message: contents.at(-1)?.parts ?? text });
  return next;
}

/** Whatever the SDK sends is seen by a `fetch`. */
export const options: GoogleGenAIOptions = { httpOptions: { fetch: compactingFetch({ adapter: geminiContents() }) } };

import { expect, it } from 'vitest';
import { langchainMessages } from '../../src/adapters/langchain.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { compactingFetch } from '../../src/fetch.ts';
import { aiSdkMiddleware } from '../../src/frameworks/ai-sdk.ts';
import { genkitMiddleware } from '../../src/frameworks/genkit.ts';
import { langchainMiddleware } from '../../src/frameworks/langchain.ts';

// What JavaScript lets through.
const loose = (make: unknown) => make as (options?: unknown) => unknown;
const send = async () => ({});
const noSend = 'Expected no `send`';

it.each<[string, unknown, unknown, string]>([
  ['compactingFetch', compactingFetch, undefined, 'Expected options, got undefined.'],
  ['compactingFetch', compactingFetch, { adapter: openaiChat(), send }, noSend],
  ['langchainMiddleware', langchainMiddleware, undefined, 'Expected options, got undefined.'],
  ['langchainMiddleware', langchainMiddleware, { send }, noSend],
  ['langchainMessages', langchainMessages, undefined, '`messageClasses.HumanMessage`'],
  ['langchainMessages', langchainMessages, { HumanMessage: 1 }, '`messageClasses.HumanMessage`'],
  ['aiSdkMiddleware', aiSdkMiddleware, null, 'Expected options, got null.'],
  ['aiSdkMiddleware', aiSdkMiddleware, { send }, noSend],
  ['aiSdkMiddleware', aiSdkMiddleware, { adapter: openaiChat() }, 'Expected no `adapter`'],
  ['genkitMiddleware', genkitMiddleware, { send }, noSend],
  ['genkitMiddleware', genkitMiddleware, { adapter: openaiChat() }, 'Expected no `adapter`'],
])('%s refuses what it has no use for: %#', (_name, make, options, message) => {
  expect(() => loose(make)(options)).toThrow(
    expect.objectContaining({ code: 'invalid-options', message: expect.stringContaining(message) }),
  );
});

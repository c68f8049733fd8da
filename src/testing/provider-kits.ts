import { aiSdkKit } from './kits/ai-sdk.ts';
import { anthropicKit } from './kits/anthropic.ts';
import { bedrockKit } from './kits/bedrock.ts';
import { genkitKit } from './kits/genkit.ts';
import { googleGenaiKit } from './kits/google-genai.ts';
import { langchainKit } from './kits/langchain.ts';
import { openaiChatKit } from './kits/openai-chat.ts';
import { openaiCodexKit } from './kits/openai-codex.ts';
import { openaiResponsesKit } from './kits/openai-responses.ts';

/** The kit of each provider, with the types of its own requests, items and replies. */
export interface ProviderKits {
  'openai-chat': typeof openaiChatKit;
  'openai-responses': typeof openaiResponsesKit;
  'openai-codex': typeof openaiCodexKit;
  anthropic: typeof anthropicKit;
  bedrock: typeof bedrockKit;
  genkit: typeof genkitKit;
  'google-genai': typeof googleGenaiKit;
  'ai-sdk': typeof aiSdkKit;
  langchain: typeof langchainKit;
}

/** How the requests, replies and errors of each provider are made, for tests. */
export const providerKits: ProviderKits = {
  'openai-chat': openaiChatKit,
  'openai-responses': openaiResponsesKit,
  'openai-codex': openaiCodexKit,
  anthropic: anthropicKit,
  bedrock: bedrockKit,
  genkit: genkitKit,
  'google-genai': googleGenaiKit,
  'ai-sdk': aiSdkKit,
  langchain: langchainKit,
};

/** The shapes that the library knows, named as the sub-paths of their adapters. */
export type ProviderName = keyof ProviderKits;

import type { ProviderName } from 'context-compactor/testing';
import type { Agent } from './agent.ts';
import { runAiSdk } from './agents/ai-sdk.ts';
import { runAnthropic } from './agents/anthropic.ts';
import { runBedrock } from './agents/bedrock.ts';
import { runGenkit } from './agents/genkit.ts';
import { runGoogleGenAi } from './agents/google-genai.ts';
import { runLangchain } from './agents/langchain.ts';
import { runOpenAiChat } from './agents/openai-chat.ts';
import { runOpenAiCodex } from './agents/openai-codex.ts';
import { runOpenAiResponses } from './agents/openai-responses.ts';

/** Where a real model is, by the environment: `OPENAI_API_KEY`, and optionally `OPENAI_BASE_URL` and `OPENAI_MODEL`. */
export interface LiveAccess {
  prefix: 'OPENAI' | 'ANTHROPIC' | 'GEMINI';
  baseURL: string;
  model: string;
}

export interface Provider {
  name: ProviderName;
  agent: Agent;
  /** What its agent is built on, in a few words. */
  client: string;
  /** The path that the official client expects in its base URL. */
  basePath: string;
  /** What the scripted model is called there. Default `scripted`. */
  scriptedModel?: string;
  /** Absent where no plain key opens it. */
  live?: LiveAccess;
}

const openai: LiveAccess = { prefix: 'OPENAI', baseURL: 'https://api.openai.com/v1', model: 'gpt-4.1-mini' };
const anthropic: LiveAccess = { prefix: 'ANTHROPIC', baseURL: 'https://api.anthropic.com', model: 'claude-haiku-4-5' };
const gemini: LiveAccess = {
  prefix: 'GEMINI',
  baseURL: 'https://generativelanguage.googleapis.com',
  model: 'gemini-2.5-flash',
};

/** One for each shape that the library knows. A model of the family gpt-5 also thinks, and sends its thoughts encrypted. */
export const providers: readonly Provider[] = [
  { name: 'openai-chat', agent: runOpenAiChat, client: 'openai, streamed', basePath: '/v1', live: openai },
  { name: 'openai-responses', agent: runOpenAiResponses, client: 'openai, AutoCompactingLoop', basePath: '/v1', live: openai },
  {
    name: 'openai-codex',
    agent: runOpenAiCodex,
    client: 'openai, streamed',
    basePath: '/backend-api/codex',
    scriptedModel: 'gpt-5-scripted',
  },
  { name: 'anthropic', agent: runAnthropic, client: '@anthropic-ai/sdk', basePath: '', live: anthropic },
  { name: 'bedrock', agent: runBedrock, client: '@aws-sdk/client-bedrock-runtime', basePath: '' },
  { name: 'google-genai', agent: runGoogleGenAi, client: '@google/genai', basePath: '', live: gemini },
  { name: 'genkit', agent: runGenkit, client: 'ai.generate, compat-oai', basePath: '/v1', live: openai },
  { name: 'ai-sdk', agent: runAiSdk, client: 'streamText, @ai-sdk/anthropic', basePath: '', live: anthropic },
  { name: 'langchain', agent: runLangchain, client: 'createAgent, @langchain/openai', basePath: '/v1', live: openai },
];

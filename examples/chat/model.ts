import OpenAI from 'openai';
import { createOfflineFetch } from './offline-model.ts';
import type { ChatOptions } from './options.ts';
import { fileTools, logTools, type Tool } from './tools.ts';

/** Who answers. */
export interface ChatModel {
  name: string;
  client: OpenAI;
  /** In tokens. */
  contextWindow: number;
  tools: readonly Tool[];
  /** One line for the user. */
  description: string;
}

/** OpenAI where the environment holds its key, else the scripted model. */
export function openModel({ model, contextWindow }: Pick<ChatOptions, 'model' | 'contextWindow'>, pace: number): ChatModel {
  if (!process.env.OPENAI_API_KEY) return openOfflineModel(contextWindow, pace);
  const name = model ?? 'gpt-4.1-mini';
  return {
    name,
    client: new OpenAI(),
    contextWindow: contextWindow ?? 1_047_576,
    tools: fileTools,
    description: `${name} answers. It may list and read the files of this folder.`,
  };
}

/**
 * @param pace milliseconds between two pieces of a reply.
 */
export function openOfflineModel(contextWindow: number | undefined, pace: number): ChatModel {
  return {
    name: 'offline',
    client: new OpenAI({
      apiKey: 'offline',
      baseURL: 'http://offline.invalid/v1',
      fetch: createOfflineFetch(pace),
      maxRetries: 0,
    }),
    contextWindow: contextWindow ?? 12_000,
    tools: logTools,
    description: 'A scripted model answers, without a network. Try “Read 3 pages of the log.” a few times.',
  };
}

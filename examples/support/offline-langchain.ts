import { offlineOpenAi } from './offline.ts';

/**
 * A `fetch` for ChatOpenAI, which names no output cap where its model was made without one. LangChain takes messages with the same id for
 * one message: each reply has its own.
 */
export const offlineLangchain: typeof fetch = async (input, init) => {
  const body = { max_completion_tokens: 2000, ...JSON.parse(String(init?.body)) };
  const response = await offlineOpenAi(input, { ...init, body: JSON.stringify(body) });
  return Response.json({ ...(await response.json()), id: `chatcmpl-${crypto.randomUUID()}` });
};

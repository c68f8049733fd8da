import { offlineOpenAi } from './offline.ts';

/** A `fetch` for `@ai-sdk/openai`, which caps the output in the older of the two fields. */
export const offlineAiSdk: typeof fetch = (input, init) => {
  const { max_tokens, ...body } = JSON.parse(String(init?.body));
  return offlineOpenAi(input, { ...init, body: JSON.stringify({ ...body, max_completion_tokens: max_tokens }) });
};

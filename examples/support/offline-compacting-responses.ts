import { offlineResponses } from './offline-openai-responses.ts';

// Stands in for the Responses API with its own compaction: all messages of the user, and one item that only the provider can read.

let compactions = 0;

/** A `fetch` for the `openai` client. */
export const offlineCompactingResponses: typeof fetch = async (url, init) => {
  if (!String(url).endsWith('/responses/compact')) return offlineResponses(url, init);
  const body = JSON.parse(String(init?.body));
  const messages = body.input.filter((item: { role?: string }) => item.role === 'user');
  const compaction = { type: 'compaction', id: `cmp_${++compactions}`, encrypted_content: `offline-${compactions}` };
  const usage = { input_tokens: Math.ceil(body.input.length * 100), output_tokens: 200 };
  return Response.json({ id: `resp_${compaction.id}`, object: 'response.compaction', output: [...messages, compaction], usage });
};

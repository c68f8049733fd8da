import { extractSummary } from 'context-compactor/extractive';
import { geminiContents } from 'context-compactor/google-genai';

// Stands in for the Gemini API: a model that reads twelve pages of a log and then answers, and that writes extractive summaries when it is
// asked for one.

const pages = 12;
let turns = 0;
const countTokens = (text: string): number => Math.ceil(text.length / 3);

/** A `fetch` for the `@google/genai` client. */
export const offlineGemini: typeof fetch = async (_input, init) => {
  const body = JSON.parse(String(init?.body));
  const { items, readItem } = geminiContents();
  const messages = items(body).flatMap(readItem);
  const question = messages.at(-1)?.parts.at(-1);
  const isSummary = question?.type === 'text' && question.text.startsWith('This is a context compaction request.');
  if (!isSummary) turns++;
  const maxTokens = body.generationConfig?.maxOutputTokens;
  const part = isSummary
    ? { text: extractSummary(messages.slice(0, -1), { maxTokens, countTokens }) }
    : turns > pages
      ? { text: 'The certificate expired: request 150 on page 2 failed.' }
      : { functionCall: { id: `call_${turns}`, name: 'read_log', args: { page: turns } }, thoughtSignature: 'b2ZmbGluZQ==' };
  return Response.json({
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: countTokens(JSON.stringify(body)), candidatesTokenCount: 20 },
  });
};

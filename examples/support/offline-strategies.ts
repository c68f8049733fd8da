import { extractSummary } from 'context-compactor/extractive';

/** A `fetch` for the `@anthropic-ai/sdk` client: a model that summarizes the transcript in its one message. */
export const offlineSummarizer: typeof fetch = async (_input, init) => {
  const { model, max_tokens: maxTokens, messages } = JSON.parse(String(init?.body));
  const transcript = { role: 'user', parts: [{ type: 'text', text: messages[0].content }] } as const;
  const text = extractSummary([transcript], { maxTokens, countTokens: (part) => Math.ceil(part.length / 3) });
  return Response.json({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 5000, output_tokens: 100 },
  });
};

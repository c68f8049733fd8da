import { extractSummary } from 'context-compactor/extractive';
import { openaiResponses } from 'context-compactor/openai-responses';

// Stands in for the Responses API, also as the backend of Codex speaks it: a model that reads twelve pages of a log and then answers, and
// that writes extractive summaries when it is asked for one.

const pages = 12;
let turns = 0;
const countTokens = (text: string): number => Math.ceil(text.length / 3);

/** A `fetch` for the `openai` client. */
export const offlineResponses: typeof fetch = async (_input, init) => {
  const body = JSON.parse(String(init?.body));
  const messages = openaiResponses().items(body).flatMap(openaiResponses().readItem);
  const asked = messages
    .at(-1)
    ?.parts.some((part) => part.type === 'text' && part.text.startsWith('This is a context compaction request.'));
  const answers = asked || ++turns > pages;
  const text = asked
    ? extractSummary(messages.slice(0, -1), { maxTokens: body.max_output_tokens ?? 1000, countTokens })
    : 'The certificate expired: request 150 on page 2 failed.';
  const id = `${asked ? 'summary' : 'turn'}_${turns}`;
  const item = answers
    ? { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content: [textPart(text)] }
    : { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read_log', arguments: JSON.stringify({ page: turns }) };
  const usage = { input_tokens: countTokens(JSON.stringify(body)), output_tokens: countTokens(JSON.stringify(item)) };
  const response = { id: `resp_${id}`, object: 'response', status: 'completed', output: [item], usage };
  if (!body.stream) return Response.json(response);
  const events = [
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ];
  const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
};

function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [] };
}

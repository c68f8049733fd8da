import { anthropicMessages } from 'context-compactor/anthropic';
import { extractSummary } from 'context-compactor/extractive';
import { openaiChat } from 'context-compactor/openai-chat';

// Stands in for a provider, so that the examples run without a key: a model that reads twelve pages of a log and then answers, and that
// writes extractive summaries when it is asked for one.

const pages = 12;
let turns = 0;
const countTokens = (text: string): number => Math.ceil(text.length / 3);

/** A tool's output, long enough to fill a small window after a few calls. */
export function readLogPage(page: number): string {
  const lines = Array.from(
    { length: 60 },
    (_, line) => `page ${page} line ${line}: request ${page * 60 + line} took ${line + 7} ms`,
  );
  return page === 2 ? [...lines, 'ERROR request 150 failed: certificate expired'].join('\n') : lines.join('\n');
}

/** A `fetch` for the `openai` client. */
export const offlineOpenAi: typeof fetch = async (_input, init) => {
  const body = JSON.parse(String(init?.body));
  const messages = openaiChat().items(body).flatMap(openaiChat().readItem);
  const text = summaryOf(messages, body.max_completion_tokens);
  const answers = answersNow(body, text);
  const call = {
    id: `call_${turns}`,
    type: 'function',
    function: { name: 'read_log', arguments: JSON.stringify({ page: turns }) },
  };
  const message = answers
    ? { role: 'assistant', content: text ?? 'The certificate expired: request 150 on page 2 failed.', refusal: null }
    : { role: 'assistant', content: null, refusal: null, tool_calls: [call] };
  const finish = 'tool_calls' in message ? 'tool_calls' : 'stop';
  if (!body.stream)
    return Response.json({ id: 'c', object: 'chat.completion', choices: [{ index: 0, finish_reason: finish, message }] });
  const chunk = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: message, finish_reason: finish }] };
  if ('tool_calls' in message) Object.assign(chunk.choices[0]?.delta ?? {}, { tool_calls: [{ index: 0, ...call }] });
  return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
};

/** A `fetch` for the `@anthropic-ai/sdk` client. */
export const offlineAnthropic: typeof fetch = async (_input, init) => {
  const body = JSON.parse(String(init?.body));
  const messages = anthropicMessages().items(body).flatMap(anthropicMessages().readItem);
  const text = summaryOf(messages, body.max_tokens);
  const answers = answersNow(body, text);
  const content = answers
    ? { type: 'text', text: text ?? 'The certificate expired: request 150 on page 2 failed.' }
    : { type: 'tool_use', id: `call_${turns}`, name: 'read_log', input: { page: turns } };
  const usage = { input_tokens: countTokens(JSON.stringify(body)), output_tokens: 20 };
  const stop_reason = answers ? 'end_turn' : 'tool_use';
  return Response.json({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [content],
    stop_reason,
    usage,
  });
};

type Messages = Parameters<typeof extractSummary>[0];

function summaryOf(messages: Messages, maxTokens: number): string | undefined {
  const asked = messages
    .at(-1)
    ?.parts.some((part) => part.type === 'text' && part.text.startsWith('This is a context compaction request.'));
  return asked ? extractSummary(messages.slice(0, -1), { maxTokens, countTokens }) : undefined;
}

/** A summary is an answer; a question without tools is answered at once; else the last page comes first. */
function answersNow(request: { tools?: unknown }, summary: string | undefined): boolean {
  if (summary === undefined) turns++;
  return summary !== undefined || !request.tools || turns > pages;
}

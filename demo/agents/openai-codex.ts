import { withAutoCompaction } from 'context-compactor';
import { openaiCodex } from 'context-compactor/openai-codex';
import OpenAI from 'openai';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';
import type {
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { type AgentOptions, type AgentRun, readCall, runToolLoop } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { responsesTools } from './openai-responses.ts';

/** Answers the question with the backend of Codex, which only streams and stores nothing. */
export async function runOpenAiCodex(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent } = options;
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, defaultHeaders: { 'chatgpt-account-id': 'demo' } });
  const create = withAutoCompaction(
    (request: ResponseCreateParamsStreaming, { signal }) => client.responses.create(request, { signal }),
    { adapter: openaiCodex(), contextWindow, onEvent },
  );

  const input: ResponseInputItem[] = [{ role: 'user', content: question }];
  const newRequest = (): ResponseCreateParamsStreaming => ({
    model,
    instructions: systemPrompt,
    input: [...input],
    tools: responsesTools,
    include: ['reasoning.encrypted_content'],
    store: false,
    stream: true,
  });

  let request = newRequest();
  const answer = await runToolLoop(options, {
    async ask() {
      request = newRequest();
      const { output, inputTokens } = await readStream(await create(request));
      // A stream is the caller's own: the library does not read it, so its usage must be told.
      if (inputTokens !== undefined) create.compactor.observe(request, { usage: { inputTokens } });
      input.push(...toResponseInputItems(output));
      return {
        text: output.map(textOf).join(''),
        calls: output.flatMap((item) =>
          item.type === 'function_call' ? [readCall(item.call_id, item.name, item.arguments)] : [],
        ),
      };
    },
    answer(results) {
      for (const { call, output } of results) input.push({ type: 'function_call_output', call_id: call.id, output: output.text });
    },
  });
  return { answer, sendWhole: () => client.responses.create(request) };
}

/** The items come one by one: the backend's last event does not hold them. */
async function readStream(
  events: AsyncIterable<ResponseStreamEvent>,
): Promise<{ output: ResponseOutputItem[]; inputTokens: number | undefined }> {
  const output: ResponseOutputItem[] = [];
  let inputTokens: number | undefined;
  for await (const event of events) {
    if (event.type === 'response.output_item.done') output.push(event.item);
    if (event.type === 'response.completed') inputTokens = event.response.usage?.input_tokens;
    if (event.type === 'response.failed') throw new Error(event.response.error?.message);
  }
  return { output, inputTokens };
}

function textOf(item: ResponseOutputItem): string {
  if (item.type !== 'message') return '';
  return item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
}

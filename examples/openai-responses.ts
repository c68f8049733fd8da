// A tool loop over the Responses API, wrapped. OPENAI_API_KEY in the environment makes it talk to OpenAI.
import { withAutoCompaction } from 'context-compactor';
import { openaiResponses } from 'context-compactor/openai-responses';
import OpenAI from 'openai';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';
import { readLogPage } from './support/offline.ts';
import { offlineResponses } from './support/offline-openai-responses.ts';
import { printCompaction } from './support/print-compaction.ts';

const client = process.env.OPENAI_API_KEY ? new OpenAI() : new OpenAI({ apiKey: 'offline', fetch: offlineResponses });

const create = withAutoCompaction(
  (request: OpenAI.Responses.ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }),
  {
    adapter: openaiResponses(),
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    onEvent: printCompaction,
  },
);

const parameters = { type: 'object', properties: { page: { type: 'number' } } };
const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'read_log', parameters, strict: false }];
const instructions = 'You find the cause of failures.';
const input: OpenAI.Responses.ResponseInput = [
  { role: 'user', content: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.' },
];

for (;;) {
  const reply = await create({ model: 'gpt-4.1-mini', instructions, input, tools, store: false }); // your array stays yours, whole
  input.push(...toResponseInputItems(reply.output));
  const calls = reply.output.filter((item) => item.type === 'function_call');
  if (calls.length === 0) {
    console.log(reply.output_text);
    break;
  }
  for (const { call_id, arguments: text } of calls)
    input.push({ type: 'function_call_output', call_id, output: readLogPage(JSON.parse(text).page) });
}

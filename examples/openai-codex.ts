// A tool loop over the backend of Codex, which streams and stores nothing. CODEX_ACCESS_TOKEN in the environment makes it talk to it.
import { withAutoCompaction } from 'context-compactor';
import { openaiCodex } from 'context-compactor/openai-codex';
import OpenAI from 'openai';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';
import { readLogPage } from './support/offline.ts';
import { offlineResponses } from './support/offline-openai-responses.ts';
import { printCompaction } from './support/print-compaction.ts';

const { CODEX_ACCESS_TOKEN: apiKey, CODEX_ACCOUNT_ID: account = 'offline' } = process.env;
const client = new OpenAI({
  baseURL: 'https://chatgpt.com/backend-api/codex',
  defaultHeaders: { 'chatgpt-account-id': account },
  ...(apiKey ? { apiKey } : { apiKey: 'offline', fetch: offlineResponses }),
});

type Request = OpenAI.Responses.ResponseCreateParamsStreaming;
const create = withAutoCompaction((request: Request, { signal }) => client.responses.create(request, { signal }), {
  adapter: openaiCodex(),
  contextWindow: 12_000, // your model's window; this one is small so that you see it work
  onEvent: printCompaction,
});

const parameters = { type: 'object', properties: { page: { type: 'number' } } };
const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'read_log', parameters, strict: false }];
const fixed = { model: 'gpt-5-codex', store: false, stream: true, include: ['reasoning.encrypted_content'] } satisfies Request;
const task = 'Read all 12 pages of the log. Why did a request fail? Never restart the server.';
const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: task }]; // stays yours, whole

for (let results = input; results.length > 0; input.push(...results)) {
  results = [];
  for await (const event of await create({ ...fixed, instructions: 'You find the cause of failures.', tools, input })) {
    if (event.type !== 'response.output_item.done') continue;
    const { item } = event;
    input.push(...toResponseInputItems([item]));
    if (item.type === 'message') console.log(item.content.map((part) => ('text' in part ? part.text : '')).join(''));
    if (item.type === 'function_call')
      results.push({ type: 'function_call_output', call_id: item.call_id, output: readLogPage(JSON.parse(item.arguments).page) });
  }
}

import type { ServerResponse } from 'node:http';
import type { ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { validateOpenAiCodex } from '../../src/testing/wire/openai-codex.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import { sendJson } from './http-server.ts';
import { type Body, bodyOf, startProvider } from './provider-server.ts';
import { createResponsesMemory, type ResponsesBody, says } from './responses-server.ts';

/** What the server answers a compaction with, in place of a compaction. */
export type CompactAnswer = { status: number; body: unknown; headers?: Record<string, string> };

export interface ResponsesCompactServer {
  /** The base of the API. */
  url: string;
  /** The bodies of turns, summaries among them, and of compactions, in order. */
  turns: Body[];
  compactions: Body[];
  close(): Promise<void>;
}

export interface ResponsesCompactOptions {
  /** Window in tokens. */
  window: number;
  /** Answers the compaction with this number, counted from 1; undefined: it compacts. */
  answer?: (count: number) => CompactAnswer | undefined;
  /** The backend of Codex, which takes hardly any parameters. */
  codex?: boolean;
}

const publicFields = new Set([
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
]);
const codexFields = new Set(['model', 'input', 'instructions']);

/** The Responses API with `/responses/compact`: it gives all that the user said, then one item that it alone can read. */
export async function startResponsesCompactServer(options: ResponsesCompactOptions): Promise<ResponsesCompactServer> {
  const memory = createResponsesMemory({ window: options.window, answer: () => [says('Done.')] });
  const turns: Body[] = [];
  const compactions: Body[] = [];
  const issued = new Set<string>();

  function compact(body: ResponsesBody): CompactAnswer {
    const answer = options.answer?.(compactions.length);
    if (answer) return answer;
    const allowed = options.codex ? codexFields : publicFields;
    const unknown = Object.keys(body).find((name) => !allowed.has(name));
    if (unknown) return refuse(`Unknown parameter: '${unknown}'.`, { param: unknown, code: 'unknown_parameter' });
    const items = memory.seen(body);
    if (!items) return refuse('Previous response not found.', { code: 'previous_response_not_found' });
    const [violation] = options.codex
      ? validateOpenAiCodex({ ...body, stream: true, store: false, parallel_tool_calls: true, tool_choice: 'auto', tools: [] })
      : validateOpenAiResponses({ ...body, input: items });
    if (violation) return refuse(JSON.stringify(violation));
    const forged = items.find((item) => item.type === 'compaction' && !issued.has(String(item.encrypted_content)));
    if (forged) return refuse('The encrypted content could not be verified.', { code: 'invalid_encrypted_content' });
    const input_tokens = Math.ceil(JSON.stringify(items).length / 4);
    if (input_tokens > options.window)
      return refuse('Your input exceeds the context window of this model.', { param: 'input', code: 'context_length_exceeded' });
    const encrypted_content = `gAAA${compactions.length}-${items.length}`;
    issued.add(encrypted_content);
    const said = items.filter(({ role }) => role === 'user').map((item) => ({ ...item, type: 'message' }));
    return {
      status: 200,
      body: {
        id: `resp_compact_${compactions.length}`,
        object: 'response.compaction',
        created_at: 1_764_547_200,
        output: [...said, { type: 'compaction', id: `cmp_${compactions.length}`, encrypted_content }],
        usage: {
          input_tokens,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: 120,
          output_tokens_details: { reasoning_tokens: 20 },
          total_tokens: input_tokens + 120,
        },
      },
    };
  }

  const { url, close } = await startProvider((call, response) => {
    const body = bodyOf(call);
    if (call.path.endsWith('/responses/compact')) {
      compactions.push(body);
      send(response, compact(body));
    } else {
      turns.push(body);
      send(response, memory.reply(body));
    }
  });
  return { url, turns, compactions, close };
}

function refuse(message: string, fields: object = {}): CompactAnswer {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', ...fields } } };
}

function send(response: ServerResponse, { status, body, headers = {} }: CompactAnswer): void {
  sendJson(response, status, body, headers);
}

/** Items of a conversation of which the compaction server would know the beginning. */
export function longInput(turns: number, length = 400): ResponsesItem[] {
  const items: ResponsesItem[] = [{ type: 'message', role: 'user', content: 'Find the cause. Never restart the server.' }];
  for (let turn = 1; turn <= turns; turn++)
    items.push(
      { type: 'function_call', call_id: `call_${turn}`, name: 'read_log', arguments: `{"page":${turn}}` },
      { type: 'function_call_output', call_id: `call_${turn}`, output: `Page ${turn}: ${'all is well. '.repeat(length / 13)}` },
    );
  return items;
}

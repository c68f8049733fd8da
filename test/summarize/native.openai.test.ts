import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import { openaiResponses, type ResponsesItem, type ResponsesRequest } from '../../src/adapters/openai-responses.ts';
import { isCompactionError } from '../../src/errors.ts';
import { buildCompactionPrompt } from '../../src/prompt/instruction.ts';
import { nativeSummarizer } from '../../src/summarize/native.ts';
import type { Summary, SummaryTask } from '../../src/summarize/summarizer.ts';
import { type NativeTask, nativeTask } from '../support/native-task.ts';
import {
  longInput,
  type ResponsesCompactOptions,
  type ResponsesCompactServer,
  startResponsesCompactServer,
} from '../support/responses-compact-server.ts';

const servers: ResponsesCompactServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Run {
  server: ResponsesCompactServer;
  client: OpenAI;
  task: NativeTask<ResponsesRequest, ResponsesItem, unknown>;
  result: Summary<ResponsesItem> | { code: string; message: string; cause: unknown };
}

/** One compaction by the official SDK, over HTTP. */
async function run(
  request: ResponsesRequest,
  options: Partial<ResponsesCompactOptions> & { task?: Partial<SummaryTask<ResponsesRequest, ResponsesItem, never>> } = {},
): Promise<Run> {
  const { task: fields, ...serverOptions } = options;
  const server = await startResponsesCompactServer({ window: 100_000, ...serverOptions });
  servers.push(server);
  const client = new OpenAI({ apiKey: 'test', baseURL: server.url, maxRetries: 0 });
  const task = nativeTask(options.codex ? openaiCodex() : openaiResponses(), request, fields);
  const result = await nativeSummarizer({ openai: client.responses })(task).catch((error: unknown) => {
    if (!isCompactionError(error)) throw error;
    return { code: error.code, message: error.message, cause: error.cause };
  });
  return { server, client, task, result };
}

const parent = {
  model: 'gpt-5.6-sol',
  instructions: 'You find the cause of failures.',
  input: longInput(3),
  tools: [{ type: 'function', name: 'read_log', parameters: {}, strict: false }],
  tool_choice: 'required',
  service_tier: 'priority',
  prompt_cache_key: 'session-1',
  prompt_cache_options: { mode: 'explicit' },
  max_output_tokens: 4000,
  reasoning: { effort: 'high' },
  include: ['reasoning.encrypted_content'],
  text: { verbosity: 'low' },
  store: false,
  stream: true,
};

describe('compaction by OpenAI', () => {
  it('V57: sends what the endpoint takes of the request, and nothing else', async () => {
    const { server } = await run(parent);
    expect(server.compactions).toEqual([
      {
        model: 'gpt-5.6-sol',
        input: parent.input,
        instructions: 'You find the cause of failures.',
        service_tier: 'priority',
        prompt_cache_key: 'session-1',
        prompt_cache_options: { mode: 'explicit' },
      },
    ]);
    expect(server.turns).toEqual([]);
  });

  it('sends the backend of Codex the model, the input and the instructions', async () => {
    const { server, result } = await run(parent, { codex: true });
    expect(server.compactions).toEqual([
      { model: 'gpt-5.6-sol', input: parent.input, instructions: 'You find the cause of failures.' },
    ]);
    expect(result).toHaveProperty('items');
  });

  it('leaves out a service tier that the endpoint does not have', async () => {
    const { server } = await run({ ...parent, service_tier: 'scale' } as ResponsesRequest);
    expect(server.compactions[0]).not.toHaveProperty('service_tier');
  });

  it('V57: returns what the provider gave, word for word, and tells its size and its cost', async () => {
    const output = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Find the cause.' }], id: 'msg_1', odd: { a: [1] } },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA', created_by: 'server' },
    ];
    const usage = {
      input_tokens: 900,
      input_tokens_details: { cached_tokens: 800 },
      output_tokens: 120,
      output_tokens_details: { reasoning_tokens: 20 },
    };
    const { task, result } = await run(parent, { answer: () => ({ status: 200, body: { id: 'resp_1', output, usage } }) });
    expect(result).toEqual({
      items: output,
      tokens: task.countItems(output.slice(0, 1)) + 100,
      changed: ['tools'],
      omitted: undefined,
    });
    expect(task.usages).toEqual([{ inputTokens: 900, outputTokens: 120, cachedInputTokens: 800, reasoningTokens: 20 }]);
  });

  it('V57: does not cut what the provider gave, also where it is larger than the window', async () => {
    const output = [...longInput(300), { type: 'compaction', id: 'cmp_1', encrypted_content: 'g'.repeat(500_000) }];
    const { result } = await run(parent, { answer: () => ({ status: 200, body: { output } }) });
    expect(result).toMatchObject({ tokens: undefined });
    expect('items' in result && result.items).toEqual(output);
  });

  it('V57: puts what the user wants behind the instructions, in a section', async () => {
    const guidance = 'IMPORTANT, from the user: Keep the ports.';
    const task = { trigger: 'manual' as const, instruction: buildCompactionPrompt('Keep the ports.'), guidance };
    const { server, result } = await run(parent, { task });
    expect(server.compactions[0].instructions).toBe(
      'You find the cause of failures.\n\n[Manual Compaction Instructions]\nIMPORTANT, from the user: Keep the ports.',
    );
    expect(result).toMatchObject({ changed: ['tools', 'instructions'] });
    const without = await run({ model: 'gpt-5.6-sol', input: parent.input }, { task });
    expect(without.server.compactions[0].instructions).toBe(
      '[Manual Compaction Instructions]\nIMPORTANT, from the user: Keep the ports.',
    );
  });

  it('goes on from a history that the server holds, and sends what came after it', async () => {
    const server = await startResponsesCompactServer({ window: 100_000 });
    servers.push(server);
    const client = new OpenAI({ apiKey: 'test', baseURL: server.url, maxRetries: 0 });
    const { id } = await client.responses.create({ model: 'gpt-5', input: 'Remember the port 8080.' });
    const request = { model: 'gpt-5', input: 'And 9090.', previous_response_id: id };
    const result = await nativeSummarizer({ openai: client.responses })(nativeTask(openaiResponses(), request));
    expect(server.compactions).toEqual([{ model: 'gpt-5', input: 'And 9090.', previous_response_id: id }]);
    expect(result.items?.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
  });

  it('refuses a history that is the server’s alone, before it asks', async () => {
    const { server, result } = await run({ model: 'gpt-5', input: 'Hello', conversation: 'conv_1' });
    expect(result).toMatchObject({ code: 'invalid-request' });
    expect(server.compactions).toEqual([]);
  });

  it('leaves exactly one compaction where the history begins with one', async () => {
    const { client, server, result } = await run(parent);
    const items = result as { items: ResponsesItem[] };
    const request = { model: 'gpt-5', input: [...items.items, ...longInput(2)] };
    const again = await nativeSummarizer({ openai: client.responses })(nativeTask(openaiResponses(), request));
    expect(server.compactions[1].input).toEqual(request.input);
    expect(again.items?.filter(({ type }) => type === 'compaction')).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ['nothing', null, 'not-a-summary'],
    ['no output', { id: 'resp_1' }, 'not-a-summary'],
    ['an output that is no list', { output: 'done' }, 'not-a-summary'],
    ['items that are none', { output: [null] }, 'not-a-summary'],
    ['an empty output', { output: [] }, 'empty-summary'],
    ['messages of the user alone', { output: [{ type: 'message', role: 'user', content: 'Hello' }] }, 'empty-summary'],
    ['thoughts alone', { output: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }, 'empty-summary'],
  ])('does not take %s for a compaction', async (_name, body, code) => {
    const { result } = await run(parent, { answer: () => ({ status: 200, body }) });
    expect(result).toMatchObject({ code });
  });

  it('B038: does not take a compaction without content for one', async () => {
    const output = [
      { type: 'message', role: 'user', content: 'Hello' },
      { type: 'compaction', id: 'cmp_1', encrypted_content: null },
    ];
    const { result } = await run(parent, { answer: () => ({ status: 200, body: { output } }) });
    expect(result).toMatchObject({ code: 'empty-summary' });
  });

  it('V57: fails with the provider’s error, and does not go another way', async () => {
    const error = { message: 'No such model: secret-model', type: 'invalid_request_error', code: 'model_not_found' };
    const { server, result } = await run(parent, { answer: () => ({ status: 404, body: { error } }) });
    expect(result).toMatchObject({
      code: 'summarizer-failed',
      message: 'Failed to compact the history by the compaction of the provider; `cause` says why.',
      cause: { status: 404, code: 'model_not_found' },
    });
    expect(server.compactions).toHaveLength(1);
  });

  it('says when the provider found it too long', async () => {
    const { result } = await run({ ...parent, input: longInput(200) }, { window: 1000 });
    expect(result).toMatchObject({ code: 'summarizer-overflow', cause: { code: 'context_length_exceeded' } });
  });

  it('asks again where a failure may pass', async () => {
    const overloaded = { status: 503, body: { error: { message: 'Overloaded', type: 'server_error' } } };
    const { server, result } = await run(parent, { answer: (count) => (count === 1 ? overloaded : undefined) });
    expect(server.compactions).toHaveLength(2);
    expect(result).toHaveProperty('items');
  });

  it('rejects with the reason of an abort, and stops the request', async () => {
    const controller = new AbortController();
    const reason = new Error('The user left.');
    const answer = (): undefined => controller.abort(reason) as undefined;
    await expect(run(parent, { answer, task: { signal: controller.signal } })).rejects.toBe(reason);
  });
});

describe('the input of a compaction by OpenAI', () => {
  const marker = { type: 'compaction', id: 'cmp_1', encrypted_content: 'g'.repeat(4000) };
  const system = { type: 'message', role: 'developer', content: 'Be brief.' };
  const fakes = { answer: () => ({ status: 200, body: { output: [marker] } }) };

  it('is cut where it does not fit, to whole turns at its end and the newest steps of the one before', async () => {
    const input = [...longInput(40), ...longInput(2)];
    const { server, task, result } = await run({ model: 'gpt-5', input }, { ...fakes, task: { roomForOutput: -2000 } });
    const sent: ResponsesItem[] = server.compactions[0].input;
    expect(task.countItems(sent)).toBeLessThanOrEqual(task.countItems(input) - 3000);
    const [opening, ...rest] = sent;
    expect(opening).toEqual(input[0]);
    expect(input.slice(-rest.length)).toEqual(rest);
    expect(result).toMatchObject({ changed: ['bounded history'], omitted: { items: input.length - sent.length } });
  });

  it('V31: keeps the newest compaction, though it alone is too large, and drops all before it', async () => {
    const older = { ...marker, id: 'cmp_0', encrypted_content: 'older' };
    const input = [system, older, ...longInput(3), marker, ...longInput(1, 100)];
    const task = { roomForOutput: -50_000 };
    const { server, result } = await run({ model: 'gpt-5', input }, { ...fakes, task });
    expect(server.compactions[0].input).toEqual([system, marker, ...longInput(1, 100)]);
    expect(result).toMatchObject({ changed: ['bounded history'], omitted: undefined });
  });

  it('V31: cuts what came after the newest compaction to the room that is left', async () => {
    const after = [...longInput(30), ...longInput(2)];
    const input = [marker, ...after];
    const { server, task, result } = await run({ model: 'gpt-5', input }, { ...fakes, task: { roomForOutput: -2000 } });
    const [first, opening, ...rest]: ResponsesItem[] = server.compactions[0].input;
    expect(first).toEqual(marker);
    expect(opening).toEqual(after[0]);
    expect(after.slice(-rest.length)).toEqual(rest);
    expect(rest.length).toBeLessThan(after.length - 1);
    expect(task.countItems(server.compactions[0].input)).toBeLessThanOrEqual(task.countItems(input) - 3000);
    expect(result).toMatchObject({ omitted: { items: after.length - 1 - rest.length } });
  });

  it('says when not even the newest turn fits', async () => {
    const input = longInput(1);
    const { server, result } = await run({ model: 'gpt-5', input }, { ...fakes, task: { roomForOutput: -50_000 } });
    expect(result).toMatchObject({ code: 'summarizer-overflow' });
    expect(server.compactions).toEqual([]);
  });
});

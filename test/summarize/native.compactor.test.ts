import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { firstOf } from '../../src/summarize/first-of.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import { nativeSummarizer } from '../../src/summarize/native.ts';
import { wireValidator } from '../../src/testing/wire-validator.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { type AnthropicCompactOptions, startAnthropicCompactServer } from '../support/anthropic-compact-server.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { longInput, type ResponsesCompactOptions, startResponsesCompactServer } from '../support/responses-compact-server.ts';
import { countTokens } from '../support/scripted-model.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const budget = { countTokens };
const contextWindow = 20_000;

/** A conversation of the SDK's own type. */
const input = (turns: number): OpenAI.Responses.ResponseInput => longInput(turns, 2000) as OpenAI.Responses.ResponseInput;
const unread = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA1-61' } as const;

async function startResponses(options: Partial<ResponsesCompactOptions> = {}, local = false) {
  const server = await startResponsesCompactServer({ window: 100_000, ...options });
  closing.push(server.close);
  const client = new OpenAI({ apiKey: 'test', baseURL: server.url, maxRetries: 0 });
  const native = nativeSummarizer({ openai: client.responses });
  const events: CompactionEvent[] = [];
  const create = withAutoCompaction(
    (request: OpenAI.Responses.ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }),
    {
      adapter: openaiResponses(),
      contextWindow,
      budget,
      summary: { summarizer: local ? firstOf(native, forkSummarizer()) : native, retries: 0 },
      onEvent: (event) => void events.push(event),
    },
  );
  return { server, client, events, create };
}

const request = { model: 'gpt-5', instructions: 'You find the cause of failures.', store: false } as const;

describe('compaction by OpenAI in a conversation', () => {
  it('does nothing under the threshold', async () => {
    const { server, create } = await startResponses();
    await create({ ...request, input: input(3) });
    expect(server.compactions).toEqual([]);
    expect(server.turns).toEqual([{ ...request, input: input(3) }]);
  });

  it('V57: sends the next request with what the provider gave, word for word, and goes on from there', async () => {
    const { server, create, events } = await startResponses();
    const own = input(30);
    await create({ ...request, input: own });
    expect(server.compactions).toEqual([{ model: 'gpt-5', input: own, instructions: request.instructions }]);
    const first = { type: 'message', role: 'user', content: 'Find the cause. Never restart the server.' };
    expect(server.turns).toEqual([{ ...request, input: [first, unread] }]);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);

    own.push({ role: 'user', content: 'And who is to blame?' });
    await create({ ...request, input: own });
    expect(server.compactions).toHaveLength(1);
    expect(server.turns[1].input).toEqual([first, unread, own.at(-1)]);
    for (const body of server.turns) expect(wireValidator('openai-responses')(body)).toEqual([]);
  });

  it('leaves exactly one compaction after the second one', async () => {
    const { server, create, events } = await startResponses();
    const own = input(30);
    await create({ ...request, input: own });
    own.push({ role: 'user', content: 'Read it all again.' }, ...input(30).slice(1));
    await create({ ...request, input: own });
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
    expect(server.compactions[1].input).toEqual(expect.arrayContaining([unread]));
    const sent: { type?: string; content?: unknown }[] = server.turns[1].input;
    expect(sent.filter(({ type }) => type === 'compaction')).toEqual([expect.objectContaining({ id: 'cmp_2' })]);
    expect(sent.filter(({ content }) => content === 'Read it all again.')).toHaveLength(1);
    expect(wireValidator('openai-responses')(server.turns[1])).toEqual([]);
  });

  it('keeps the newest message of the user where the provider left it out', async () => {
    const output = [unread];
    const { server, create } = await startResponses({ answer: () => ({ status: 200, body: { output } }) });
    await create({ ...request, input: input(30) });
    const [compaction, said] = server.turns[0].input;
    expect(compaction).toEqual(unread);
    expect(JSON.stringify(said)).toContain('Find the cause. Never restart the server.');
  });

  it('V57: goes on with the whole history where the provider fails', async () => {
    const error = { message: 'Not here.', type: 'invalid_request_error' };
    const { server, create, events } = await startResponses({ answer: () => ({ status: 404, body: { error } }) });
    const own = input(30);
    await create({ ...request, input: own });
    expect(server.turns).toEqual([{ ...request, input: own }]);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
  });

  it('goes on with a summary of its own where that was asked for', async () => {
    const error = { message: 'Not here.', type: 'invalid_request_error' };
    const { server, create, events } = await startResponses({ answer: () => ({ status: 404, body: { error } }) }, true);
    await create({ ...request, input: input(30) });
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(noticesOf(events)).toContain('summarizer-failed-over');
    expect(JSON.stringify(server.turns[1].input)).toContain('<compacted_context>');
  });

  it('tells what it did where it is asked for by hand', async () => {
    const server = await startResponsesCompactServer({ window: 100_000 });
    closing.push(server.close);
    const client = new OpenAI({ apiKey: 'test', baseURL: server.url, maxRetries: 0 });
    const compactor = createCompactor({
      adapter: openaiResponses(),
      contextWindow,
      budget,
      summary: { summarizer: nativeSummarizer({ openai: client.responses }) },
    });
    const result = await compactor.compact({ ...request, tools: [], input: input(3) }, { instructions: 'Keep the ports.' });
    expect(server.compactions[0].instructions).toContain(
      '[Manual Compaction Instructions]\nIMPORTANT, from the user: Keep the ports.',
    );
    expect(result.request.input).toHaveLength(2);
    expect(result).toMatchObject({ prefix: 'changed', because: ['instructions'], usage: { outputTokens: 120 } });
  });
});

describe('compaction by Anthropic in a conversation', () => {
  const tools = [{ name: 'read', input_schema: { type: 'object' as const } }];
  const turn = { model: 'claude-opus-5-5', max_tokens: 1000, tools, betas: ['compact-2026-09-04'] };

  function talk(turns: number): Anthropic.Beta.BetaMessageParam[] {
    const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: 'user', content: 'Find the cause.' }];
    for (let index = 0; index < turns; index++) {
      const id = `toolu_${index}`;
      messages.push(
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'All is well. '.repeat(150) }] },
      );
    }
    return messages;
  }

  async function startMessages(options: AnthropicCompactOptions = {}) {
    const server = await startAnthropicCompactServer(options);
    closing.push(server.close);
    const client = new Anthropic({ apiKey: 'test', baseURL: server.baseURL, maxRetries: 0 });
    const events: CompactionEvent[] = [];
    const create = withAutoCompaction(
      (body: Anthropic.Beta.MessageCreateParamsNonStreaming, { signal }) => client.beta.messages.create(body, { signal }),
      {
        adapter: anthropicMessages(),
        contextWindow,
        budget,
        summary: { summarizer: nativeSummarizer({ anthropic: client.beta.messages }), retries: 0 },
        onEvent: (event) => void events.push(event),
      },
    );
    return { server, events, create };
  }

  it('sends the next request with the signed block first, and compacts again into one', async () => {
    const { server, events, create } = await startMessages();
    const messages = talk(40);
    await create({ ...turn, messages });
    const [first, ...rest] = server.turns[0].messages;
    expect(first).toMatchObject({ role: 'assistant', content: [{ type: 'compaction', signature: 'sig_1' }] });
    expect(JSON.stringify(rest)).toContain('Find the cause.');

    messages.push({ role: 'assistant', content: 'Done.' }, { role: 'user', content: 'Read it again.' }, ...talk(40).slice(1));
    await create({ ...turn, messages });
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
    expect(server.compactions[1].messages[0]).toEqual(first);
    const sent: { content: { type: string }[] }[] = server.turns[1].messages;
    expect(sent[0]).toMatchObject({ content: [{ type: 'compaction', signature: 'sig_2' }] });
    expect(JSON.stringify(sent).match(/"compaction"/g)).toHaveLength(1);
    for (const body of server.turns) expect(wireValidator('anthropic')(body)).toEqual([]);
  });

  it('is not asked for by hand while a tool has not returned', async () => {
    const { server, create } = await startMessages();
    const messages = talk(3).slice(0, -1);
    await expect(create.compactor.compact({ ...turn, messages })).rejects.toMatchObject({ code: 'incomplete-turn' });
    expect(server.compactions).toEqual([]);
  });

  it('B038: keeps the history where the provider came to nothing', async () => {
    const failed = { type: 'compaction', content: null, encrypted_content: null };
    const body = { type: 'message', role: 'assistant', content: [failed], stop_reason: 'compaction', usage: {} };
    const { server, events, create } = await startMessages({ answer: () => ({ status: 200, body }) });
    const messages = talk(40);
    await create({ ...turn, messages });
    expect(lifecycleOf(events)).toEqual(['started', 'failed: empty-summary']);
    expect(server.turns[0].messages).toEqual(messages);
  });
});

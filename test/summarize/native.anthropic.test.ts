import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type AnthropicMessage,
  type AnthropicReply,
  type AnthropicRequest,
  anthropicMessages,
} from '../../src/adapters/anthropic.ts';
import { isCompactionError } from '../../src/errors.ts';
import { buildCompactionPrompt } from '../../src/prompt/instruction.ts';
import { startAtMarker } from '../../src/summarize/native/compaction-block.ts';
import { type NativeOptions, nativeSummarizer } from '../../src/summarize/native.ts';
import type { Summary, SummaryTask } from '../../src/summarize/summarizer.ts';
import {
  type AnthropicCompactOptions,
  type AnthropicCompactServer,
  iteration,
  type MessagesAnswer,
  message,
  refuse,
  startAnthropicCompactServer,
} from '../support/anthropic-compact-server.ts';
import { type NativeTask, nativeTask } from '../support/native-task.ts';

const servers: AnthropicCompactServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

type Task = SummaryTask<AnthropicRequest, AnthropicMessage, AnthropicReply>;

interface Run {
  server: AnthropicCompactServer;
  client: Anthropic;
  task: NativeTask<AnthropicRequest, AnthropicMessage, AnthropicReply>;
  result: Summary<AnthropicMessage> | { code: string; cause: unknown };
}

interface RunOptions extends AnthropicCompactOptions, Pick<NativeOptions, 'anthropicInline'> {
  task?: Partial<Task>;
}

/** One compaction by the official SDK, over HTTP. */
async function run(request: AnthropicRequest, { answer, anthropicInline, task: fields }: RunOptions = {}): Promise<Run> {
  const server = await startAnthropicCompactServer(answer ? { answer } : {});
  servers.push(server);
  const client = new Anthropic({ apiKey: 'test', baseURL: server.baseURL, maxRetries: 0 });
  const task = nativeTask(anthropicMessages(), request, fields);
  const summarize = nativeSummarizer({ anthropic: client.beta.messages, anthropicInline });
  const result = await summarize(task).catch((error: unknown) => {
    if (!isCompactionError(error)) throw error;
    return { code: error.code, cause: error.cause };
  });
  return { server, client, task, result };
}

function talk(turns: number, length = 100): AnthropicMessage[] {
  return Array.from({ length: turns }, (_, turn): AnthropicMessage[] => [
    { role: 'user', content: turn === 0 ? 'Find the cause.' : [result(turn - 1, length)] },
    { role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${turn}`, name: 'read', input: {} } as { type: string }] },
  ])
    .flat()
    .concat({ role: 'user', content: [result(turns - 1, length)] });
}

function result(turn: number, length: number): { type: string } {
  const content = `Page ${turn}: ${'all is well. '.repeat(length / 13)}`;
  return { type: 'tool_result', tool_use_id: `toolu_${turn}`, content } as { type: string };
}

const tools = [{ name: 'read', input_schema: { type: 'object' } }];
const parent: AnthropicRequest = { model: 'claude-opus-5-5', max_tokens: 64_000, system: 'Be brief.', tools, messages: talk(3) };
const long: AnthropicRequest = { ...parent, messages: talk(3, 80_000) };

function itemsOf(summary: Run['result']): readonly AnthropicMessage[] {
  if (!('items' in summary) || !summary.items) throw new Error(`Expected items, got ${JSON.stringify(summary)}.`);
  return summary.items;
}

const failing: [string, MessagesAnswer, string][] = [
  ['a turn in its place', message([{ type: 'text', text: 'It is done.' }], 'end_turn'), 'not-a-summary'],
  ['a call of a tool', message([{ type: 'tool_use', id: 'toolu_9', name: 'read', input: {} }], 'tool_use'), 'not-a-summary'],
  ['a refusal', message([], 'refusal'), 'refused'],
  ['a compaction that was cut', message([{ type: 'compaction', content: '## Goal' }], 'max_tokens'), 'truncated-summary'],
  ['a blank compaction', message([{ type: 'compaction', content: ' \n' }], 'compaction'), 'empty-summary'],
  ['nothing', message([], 'compaction'), 'empty-summary'],
  ['two compactions', message([block('a'), block('b')], 'compaction'), 'not-a-summary'],
  ['a compaction that is not first', message([{ type: 'text', text: 'Well.' }, block('a')], 'compaction'), 'not-a-summary'],
  ['no message', { status: 200, body: { type: 'message' } }, 'not-a-summary'],
  ['another ending', message([block('a')], 'server_restart'), 'incomplete-reply'],
];

function block(content: string): Record<string, unknown> {
  return { type: 'compaction', content, encrypted_content: 'EpAB' };
}

describe('compaction by Anthropic on demand', () => {
  it('sends the same request, and asks for a compaction', async () => {
    const { server } = await run(parent);
    expect(server.compactions).toEqual([{ ...parent, compaction: { type: 'summarize' } }]);
    expect(server.betas).toEqual([['compact-2026-09-04']]);
    expect(server.turns).toEqual([]);
  });

  it('takes out what shapes a reply, says so, and keeps the rest', async () => {
    const { server, result } = await run({
      ...parent,
      thinking: { type: 'adaptive' },
      betas: ['context-1m-2025-08-07'],
      stream: true,
      stop_sequences: ['END'],
      tool_choice: { type: 'any' },
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      output_format: { type: 'json_schema', schema: {} },
      output_config: { effort: 'high', format: { type: 'json_schema', schema: {} } },
      fallbacks: [{ model: 'claude-sonnet-5-5', output_config: { format: {} } }, { model: 'claude-haiku-5-5' }],
    } as AnthropicRequest);
    expect(server.compactions).toEqual([
      {
        ...parent,
        thinking: { type: 'adaptive' },
        output_config: { effort: 'high' },
        fallbacks: [{ model: 'claude-sonnet-5-5', output_config: {} }, { model: 'claude-haiku-5-5' }],
        compaction: { type: 'summarize' },
      },
    ]);
    expect(server.betas).toEqual([['context-1m-2025-08-07', 'compact-2026-09-04']]);
    expect(result).toMatchObject({ changed: ['context_management', 'output_format', 'output_config.format', 'tool_choice'] });
  });

  it('returns the message with the signed block, exactly as it came, with its size and cost', async () => {
    const content = [
      { type: 'compaction', content: '## Goal\nShip it.', encrypted_content: null, signature: 'sig', tool_changes: [{ odd: 1 }] },
    ];
    const { task, result } = await run(parent, { answer: () => message(content, 'compaction', iteration()) });
    expect(result).toEqual({ items: [{ role: 'assistant', content }], tokens: 60, changed: [], omitted: undefined });
    expect(task.usages).toEqual([{ inputTokens: 1000, outputTokens: 60, cachedInputTokens: 900 }]);
    expect(task.texts).toEqual(['## Goal\nShip it.']);
  });

  it('reads the usage of the reply where it has no iterations', async () => {
    const usage = { input_tokens: 10, output_tokens: 5 };
    const { task } = await run(parent, { answer: () => message([block('## Goal\nShip it.')], 'compaction', usage) });
    expect(task.usages).toEqual([{ inputTokens: 10, outputTokens: 5 }]);
  });

  it('gives the provider a whole prompt in place of its own where the user wants something', async () => {
    const instruction = buildCompactionPrompt('Keep the ports.');
    const task = { trigger: 'manual' as const, instruction, guidance: 'IMPORTANT, from the user: Keep the ports.' };
    const { server } = await run(parent, { task });
    expect(server.compactions[0].compaction).toEqual({ type: 'summarize', instructions: instruction });
    const plain = await run(parent, { task: { trigger: 'manual', instruction: buildCompactionPrompt() } });
    expect(plain.server.compactions[0].compaction).toEqual({ type: 'summarize' });
  });

  it('is accepted as the beginning of the next request, and compacted again into one block', async () => {
    const { client, server, result } = await run(parent);
    const messages = [...itemsOf(result), { role: 'user', content: 'Go on.' }];
    const next = { ...parent, messages, betas: ['compact-2026-09-04'] } as unknown as Anthropic.Beta.MessageCreateParamsStreaming;
    const turn = await client.beta.messages.create({ ...next, max_tokens: 100, stream: false });
    expect(turn.stop_reason).toBe('end_turn');
    const again = await nativeSummarizer({ anthropic: client.beta.messages })(
      nativeTask(anthropicMessages(), { ...parent, messages: [...messages, { role: 'assistant', content: 'Done.' }] }),
    );
    expect(server.compactions[1].messages[0]).toEqual(itemsOf(result)[0]);
    expect(again.items).toHaveLength(1);
    expect(again.items?.[0]?.content).toHaveLength(1);
  });

  it('V60: begins at the newest of several compactions', async () => {
    const { client, server, result } = await run(parent);
    const [compacted] = itemsOf(result) as [AnthropicMessage];
    const newest = (compacted.content as { type: string }[])[0] as { type: string };
    const older = { role: 'assistant', content: [block('An older one.') as { type: string }] };
    const messages = [
      older,
      ...talk(1),
      { role: 'assistant', content: [{ type: 'text', text: 'Now.' } as { type: string }, newest] },
      { role: 'user', content: 'Go on.' },
    ];
    const again = await nativeSummarizer({ anthropic: client.beta.messages })(
      nativeTask(anthropicMessages(), { ...parent, messages }),
    );
    expect(server.compactions[1].messages).toEqual([
      { role: 'assistant', content: [newest] },
      { role: 'user', content: 'Go on.' },
    ]);
    expect(again).toMatchObject({ changed: ['history before a compaction block'] });
  });

  it('does not ask in the middle of a turn', async () => {
    const open = { ...parent, messages: talk(3).slice(0, -1) };
    const { server, result } = await run(open);
    expect(result).toMatchObject({ code: 'incomplete-turn' });
    expect(server.compactions).toEqual([]);
  });

  it('does not ask where the history is the server’s', async () => {
    const { server, result } = await run({ ...parent, thread: { type: 'continue' } });
    expect(result).toMatchObject({ code: 'invalid-request' });
    expect(server.compactions).toEqual([]);
  });

  it('B038: does not take a compaction without content for one', async () => {
    const failed = { type: 'compaction', content: null, encrypted_content: null };
    const { result } = await run(parent, { answer: () => message([failed], 'compaction') });
    expect(result).toMatchObject({ code: 'empty-summary' });
  });

  it.each(failing)('does not take %s for a compaction', async (_name, answer, code) => {
    const { result } = await run(parent, { answer: () => answer });
    expect(result).toMatchObject({ code });
  });

  it.each([
    'compaction_nothing_to_summarize',
    'compaction_incomplete_turn',
    'compaction_signature_invalid',
    'compaction_too_many_tool_references',
  ])('fails with the error %s of the provider', async (errorCode) => {
    const { server, result } = await run(parent, { answer: () => refuse(errorCode) });
    expect(result).toMatchObject({ code: 'summarizer-failed', cause: { status: 400, errorCode } });
    expect(server.compactions).toHaveLength(1);
  });

  it('says when the provider found it too long', async () => {
    const answer = (): MessagesAnswer => refuse(undefined, 'prompt is too long: 213462 tokens > 200000 maximum');
    expect((await run(parent, { answer })).result).toMatchObject({ code: 'summarizer-overflow' });
  });

  it('asks again where compaction is not available for the moment', async () => {
    const unavailable = refuse('compaction_unavailable', 'Overloaded', 529);
    const { server, result } = await run(parent, { answer: (count) => (count === 1 ? unavailable : undefined) });
    expect(server.compactions).toHaveLength(2);
    expect(itemsOf(result)).toHaveLength(1);
  });

  it('rejects with the reason of an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('The user left.');
    const answer = (): undefined => controller.abort(reason) as undefined;
    await expect(run(parent, { answer, task: { signal: controller.signal } })).rejects.toBe(reason);
  });

  it('V31: keeps an earlier compaction where the request is too long, and cuts what came after it', async () => {
    const messages = [{ role: 'assistant', content: [block('Earlier.') as { type: string }] }, ...talk(30, 1000), ...talk(1)];
    const { server, task, result } = await run({ ...parent, messages }, { task: { roomForOutput: -5000 } });
    const sent: AnthropicMessage[] = server.compactions[0].messages;
    expect(sent[0]).toEqual(messages[0]);
    expect(sent[1]).toEqual(messages[1]);
    expect(messages.slice(2 - sent.length)).toEqual(sent.slice(2));
    expect(task.countItems(sent)).toBeLessThanOrEqual(task.countItems(messages) - 6000);
    expect(result).toMatchObject({ changed: ['bounded history'], omitted: { items: messages.length - sent.length } });
  });
});

describe('compaction by Anthropic at a threshold', () => {
  const compact = {
    type: 'compact_20260112',
    trigger: { type: 'input_tokens', value: 50_000 },
    pause_after_compaction: true,
  };

  it('V58: sends the same request, whose tool choice stays, and has it compacted and paused', async () => {
    const request: AnthropicRequest = { ...long, tool_choice: { type: 'any' }, stream: true };
    const { server, result } = await run(request, { anthropicInline: 'compact' });
    const { stream: _stream, ...sent } = request;
    expect(server.compactions).toEqual([{ ...sent, context_management: { edits: [compact] } }]);
    expect(server.betas).toEqual([['compact-2026-01-12', 'context-management-2025-06-27']]);
    expect(result).toMatchObject({ changed: ['context_management'] });
  });

  it('V58: clears thinking, then results, then compacts', async () => {
    const request: AnthropicRequest = { ...long, thinking: { type: 'adaptive' } };
    const guidance = 'IMPORTANT, from the user: Keep the ports.';
    const task = { trigger: 'manual' as const, instruction: buildCompactionPrompt(' Keep the ports. '), guidance };
    const { server } = await run(request, { anthropicInline: 'clear-and-compact', task });
    expect(server.compactions[0].context_management).toEqual({
      edits: [
        { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 2 } },
        {
          type: 'clear_tool_uses_20250919',
          trigger: { type: 'input_tokens', value: 100_000 },
          keep: { type: 'tool_uses', value: 3 },
        },
        { ...compact, instructions: 'IMPORTANT, from the user: Keep the ports.' },
      ],
    });
  });

  it('does not clear thinking where the model does not think: the provider refuses that', async () => {
    const { server, result } = await run(long, { anthropicInline: 'clear-and-compact' });
    const types = server.compactions[0].context_management.edits.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['clear_tool_uses_20250919', 'compact_20260112']);
    expect(itemsOf(result)).toHaveLength(1);
  });

  it('V59: returns the message with the block, exactly as it came, and its cost', async () => {
    const content = [{ type: 'compaction', content: '## Goal\nShip it.', encrypted_content: 'EpAB' }];
    const { task, result } = await run(long, {
      anthropicInline: 'compact',
      answer: () => message(content, 'compaction', iteration()),
    });
    expect(result).toMatchObject({ items: [{ role: 'assistant', content }], tokens: 60 });
    expect(task.usages).toEqual([{ inputTokens: 1000, outputTokens: 60, cachedInputTokens: 900 }]);
  });

  it('V59: takes a summary without a block as one in words', async () => {
    const answer = () => message([{ type: 'text', text: '## Goal\nShip it.' }], 'compaction');
    const { result } = await run(long, { anthropicInline: 'compact', answer });
    expect(result).toEqual({ text: '## Goal\nShip it.', changed: ['context_management'], omitted: undefined });
  });

  it('V59: fails where the conversation is too short to be compacted this way', async () => {
    const { result } = await run(parent, { anthropicInline: 'compact' });
    expect(result).toMatchObject({ code: 'not-a-summary' });
  });

  it.each(failing)('V59: does not take %s for a compaction', async (_name, answer, code) => {
    const { result } = await run(long, { anthropicInline: 'compact', answer: () => answer });
    expect(result).toMatchObject({ code });
  });
});

describe('startAtMarker', () => {
  it('gives back a conversation that has no compaction, or begins with its only one', () => {
    const marked = [{ role: 'assistant', content: [block('a') as { type: string }] }, ...talk(1)];
    const failed = [...talk(1), { role: 'assistant', content: [{ type: 'compaction', content: null } as { type: string }] }];
    for (const messages of [[], talk(2), marked, failed]) expect(startAtMarker(messages)).toBe(messages);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Usage } from '../../src/adapters/adapter.ts';
import { type AnthropicReply, type AnthropicRequest, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { isCompactionError } from '../../src/errors.ts';
import type { Notice } from '../../src/events.ts';
import { toolDenial } from '../../src/summarize/ask-model.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import type { Summary, SummaryTask } from '../../src/summarize/summarizer.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { freezeDeep } from '../support/freeze.ts';
import {
  answers,
  callsTools,
  countTokens,
  goodSummary,
  httpError,
  longConversation,
  type ScriptedModel,
  type Step,
  says,
  scriptedModel,
  streams,
  summarizes,
  throws,
} from '../support/scripted-model.ts';

const countItems = (items: readonly object[]): number =>
  items.reduce((sum: number, item) => sum + countTokens(JSON.stringify(item)), 0);

interface Run {
  model: ScriptedModel;
  usages: Usage[];
  texts: string[];
  restarts: number;
  notices: Notice[];
  thrown?: unknown;
  result: Summary<ChatMessage> | { code: string; cause: unknown; message: string };
}

/** Plays a script against the fork summarizer, timers included. */
async function play(
  steps: readonly Step[],
  fields: Partial<SummaryTask<ChatRequest, ChatMessage, ChatReply>> = {},
): Promise<Run> {
  const model = scriptedModel(steps);
  const signal = fields.signal ?? new AbortController().signal;
  const run: Run = { model, usages: [], texts: [], restarts: 0, notices: [], result: { text: '' } };
  const summary = forkSummarizer()({
    trigger: 'automatic',
    request: freezeDeep(longConversation()),
    messages: [],
    instruction: 'Summarize the conversation.',
    maxTokens: 1000,
    roomForOutput: 50_000,
    retries: 1,
    countTokens,
    countItems,
    estimatedTokens: 0,
    isStanding: ({ role }: { role: string }) => role === 'system',
    overflowRetries: 1,
    onNotice: (notice) => run.notices.push(notice),
    adapter: openaiChat(),
    send: (request) => model.send(request, { signal, purpose: 'summary', attempt: 1 }),
    signal,
    onText: (text) => run.texts.push(text),
    onRestart: () => {
      run.restarts++;
      run.texts.push('|');
    },
    onUsage: (usage) => run.usages.push(usage),
    ...fields,
  }).then(
    (result) => {
      run.result = result;
    },
    (error) => {
      run.thrown = error;
      if (!isCompactionError(error) && fields.overflowRetries === undefined) throw error;
      run.result = { code: error.code, cause: error.cause, message: error.message };
    },
  );
  await vi.runAllTimersAsync();
  await summary;
  return run;
}

const capOf = ({ request }: { request: ChatRequest }): unknown => request.max_completion_tokens;
const busy = httpError(503, 'Service unavailable');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the summary request', () => {
  it('is the parent request and one user message, its leading messages the very same objects', async () => {
    const request = freezeDeep(longConversation());
    const { model, result } = await play([], { request });
    expect(result).toEqual({ text: goodSummary, changed: [] });
    const [sent] = model.summaries;
    expect(model.summaries).toHaveLength(1);
    expect(sent?.request.messages.slice(0, -1)).toHaveLength(request.messages.length);
    sent?.request.messages.slice(0, -1).forEach((message, index) => {
      expect(message).toBe(request.messages[index]);
    });
    expect(sent?.request.messages.at(-1)).toEqual({ role: 'user', content: 'Summarize the conversation.' });
    expect(sent?.request.tools).toBe(request.tools);
    expect(validateOpenAiChat(sent?.request)).toEqual([]);
  });

  it('tells what of the prefix had to change', async () => {
    const request = { ...longConversation(), response_format: { type: 'json_object' } };
    const { result } = await play([], { request });
    expect(result).toEqual({ text: goodSummary, changed: ['response_format'] });
  });

  it('asks for no more than fits the window', async () => {
    const fitting = await play([], { maxTokens: 1000, roomForOutput: 300 });
    expect(fitting.model.summaries.map(capOf)).toEqual([300]);
    const small = await play([], { maxTokens: 20, roomForOutput: 20 });
    expect(small.model.summaries.map(capOf)).toEqual([20]);
  });

  it('leaves out the oldest steps where hardly a summary would fit beside them, and says so', async () => {
    const request = freezeDeep(longConversation());
    for (const roomForOutput of [63, 0, -100]) {
      const { model, result, notices } = await play([], { request, maxTokens: 200, roomForOutput });
      expect(result).toMatchObject({ text: goodSummary, changed: ['bounded history'], omitted: { items: 2 } });
      const [asked] = model.summaries;
      expect(validateOpenAiChat(asked?.request)).toEqual([]);
      const [, first, , , ...newest] = request.messages;
      expect(asked?.request.messages.slice(1, -1)).toEqual([first, ...newest]);
      expect(asked?.request.messages.at(-2)).toBe(request.messages.at(-1));
      expect(capOf(asked!)).toBe(200);
      expect(notices).toEqual([]); // told with the result
    }
  });

  it('asks for nothing where nothing of the conversation fits', async () => {
    const { model, result } = await play([], { maxTokens: 1000, roomForOutput: -900 });
    expect(result).toMatchObject({ code: 'summarizer-overflow' });
    expect(model.summaries).toEqual([]);
  });
});

describe('a request that the provider finds too long', () => {
  const overflow = throws(httpError(400, 'prompt is too long: 210000 tokens > 200000 maximum'));

  it('is asked once more with half of it, bounded from the whole again', async () => {
    const { model, result, notices, restarts } = await play([overflow]);
    expect(result).toMatchObject({ text: goodSummary, omitted: { items: expect.any(Number) } });
    const [first, second, ...more] = model.summaries.map(({ request }) => countItems(request.messages));
    expect(more).toEqual([]);
    expect(second).toBeLessThanOrEqual(first! / 2 + 50);
    expect(validateOpenAiChat(model.summaries[1]?.request)).toEqual([]);
    expect(notices.map(({ code }) => code)).toEqual(['summary-shortened']);
    expect(restarts).toBe(1);
  });

  it('halves again as often as it may, each time strictly smaller, and then fails with the error of the provider', async () => {
    const error = httpError(400, 'prompt is too long: 210000 tokens > 200000 maximum');
    const twice = await play([throws(error), throws(error), throws(error)], { overflowRetries: 2 });
    expect(twice.thrown).toBe(error);
    const sizes = twice.model.summaries.map(({ request }) => countItems(request.messages));
    expect(sizes).toHaveLength(3);
    expect(sizes[1]).toBeLessThan(sizes[0]!);
    expect(sizes[2]).toBeLessThan(sizes[1]!);
    const never = await play([throws(error)], { overflowRetries: 0 });
    expect(never.model.summaries).toHaveLength(1);
  });

  it('is not asked again where it cannot be made smaller', async () => {
    const request = {
      ...longConversation(),
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Hi.' },
      ],
    };
    const { model, thrown } = await play([overflow], { request, overflowRetries: 1 });
    expect(model.summaries).toHaveLength(1);
    expect(thrown).toMatchObject({ status: 400 });
  });

  it('is recognized by the reply, too', async () => {
    const filled = await play([answers(says('x', 'length')), answers(says('x', 'length'))]);
    expect(filled.result).toMatchObject({ code: 'truncated-summary' });
  });
});

describe('tool calls in a summary request', () => {
  it('are denied in the words of K35, behind the complete native message of the assistant', async () => {
    expect(toolDenial).toBe('Tool calls are disabled during compaction; use the history.');
    const preamble = callsTools(['call_8', 'call_9'], 'Let me read it again.', {
      reasoning_content: 'I should read.',
      vendor_note: { kept: true },
    });
    const { model, result } = await play([answers(preamble)]);
    expect(result).toEqual({ text: goodSummary, changed: [] });
    const [first, second] = model.summaries.map(({ request }) => request);
    const added = second?.messages.slice(first?.messages.length);
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
    expect(added).toEqual([
      {
        role: 'assistant',
        content: 'Let me read it again.',
        reasoning_content: 'I should read.',
        vendor_note: { kept: true },
        tool_calls: [
          { id: 'call_8', type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } },
          { id: 'call_9', type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_8', content: toolDenial },
      { role: 'tool', tool_call_id: 'call_9', content: toolDenial },
    ]);
    expect(validateOpenAiChat(second)).toEqual([]);
  });

  it('are denied with the thinking and its signature in place, in the Anthropic shape', async () => {
    const request: AnthropicRequest = {
      model: 'claude-sonnet-4-5',
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      tools: [{ name: 'read', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Read a.ts.' },
        { role: 'assistant', content: 'Read.' },
        { role: 'user', content: 'And now?' },
      ],
    };
    const content = [
      { type: 'thinking', thinking: 'I should read.', signature: 'c2ln' },
      { type: 'text', text: 'Let me read.' },
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a.ts' } },
    ];
    const replies: AnthropicReply[] = [
      { content, stop_reason: 'tool_use' },
      { content: [{ type: 'text', text: goodSummary } as never], stop_reason: 'end_turn' },
    ];
    const sent: AnthropicRequest[] = [];
    const summary = await forkSummarizer()({
      trigger: 'automatic',
      request: freezeDeep(request),
      messages: [],
      instruction: 'Summarize.',
      maxTokens: 1000,
      roomForOutput: 50_000,
      retries: 0,
      countTokens,
      countItems,
      estimatedTokens: 0,
      isStanding: ({ role }: { role: string }) => role === 'system',
      overflowRetries: 1,
      onNotice: () => undefined,
      adapter: anthropicMessages(),
      send: async (fork) => {
        sent.push(fork);
        const reply = replies.shift();
        if (!reply) throw new Error('Expected two requests.');
        return reply;
      },
      signal: new AbortController().signal,
      onUsage: () => undefined,
    });
    expect(summary).toEqual({ text: goodSummary, changed: [] });
    expect(sent[1]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: toolDenial }], is_error: true }],
      },
    ]);
    for (const body of sent) expect(validateAnthropic(body)).toEqual([]);
  });

  it('leave nothing of the text before them', async () => {
    const { result, texts, restarts } = await play([
      answers(callsTools(['call_8'], 'PREAMBLE')),
      answers(streams(['MORE'], 'tool_calls')),
      summarizes(),
    ]);
    expect(result).toMatchObject({ code: 'tool-calls' });
    const streamed = await play([answers(callsTools(['call_8'], 'PREAMBLE')), answers(streams(['## Goal\n', 'Ship it.']))]);
    expect(streamed.result).toEqual({ text: '## Goal\nShip it.', changed: [] });
    expect(streamed.texts).toEqual(['PREAMBLE', '|', '## Goal\n', 'Ship it.']);
    expect([restarts, streamed.restarts]).toEqual([1, 1]);
    expect(texts.at(-1)).toBe('MORE');
  });

  it('are denied three times, then it is a failure', async () => {
    const calls = ['a', 'b', 'c', 'd', 'e'].map((id) => answers(callsTools([id])));
    const third = await play(calls.slice(0, 3));
    expect(third.result).toEqual({ text: goodSummary, changed: [] });
    expect(third.model.summaries).toHaveLength(4);
    const fourth = await play(calls);
    expect(fourth.result).toMatchObject({ code: 'tool-calls' });
    expect(fourth.model.summaries).toHaveLength(4);
    const denials = fourth.model.summaries.at(-1)?.request.messages.filter(({ content }) => content === toolDenial);
    expect(denials).toHaveLength(3);
  });

  it('B058: are never part of a later request', async () => {
    const { model } = await play([answers(callsTools(['call_8']))]);
    const last = model.summaries.at(-1)?.request;
    expect(validateOpenAiChat(last)).toEqual([]); // every call is answered
  });

  it('count also where the server says `stop`', async () => {
    const { model, result } = await play([
      answers(
        says('PREAMBLE', 'stop', { tool_calls: [{ id: 'x', type: 'function', function: { name: 'read', arguments: '{}' } }] }),
      ),
    ]);
    expect(result).toEqual({ text: goodSummary, changed: [] });
    expect(model.summaries).toHaveLength(2);
  });
});

describe('a truncated summary', () => {
  const truncated = answers(says('and the next st', 'length'));

  it('is asked for once more, with twice the cap', async () => {
    const { model, result, texts } = await play([truncated]);
    expect(result).toEqual({ text: goodSummary, changed: [] });
    expect(model.summaries.map(capOf)).toEqual([1000, 2000]);
    expect(model.summaries[1]?.request.messages).toEqual(model.summaries[0]?.request.messages);
    expect(texts).toEqual(['and the next st', '|', goodSummary]);
  });

  it('B059, B060: is a failure the second time', async () => {
    const reasoningOnly = answers(says(null, 'length', { reasoning_content: 'THOUGHTS '.repeat(100) }));
    const { model, result, texts } = await play([reasoningOnly, reasoningOnly, summarizes()]);
    expect(result).toMatchObject({ code: 'truncated-summary' });
    expect(model.summaries).toHaveLength(2);
    expect(texts.join('')).not.toContain('THOUGHTS');
  });

  it('gets as much as fits the window', async () => {
    const { model } = await play([truncated], { maxTokens: 1000, roomForOutput: 1500 });
    expect(model.summaries.map(capOf)).toEqual([1000, 1500]);
  });

  it('is a failure at once where no more fits', async () => {
    const { model, result } = await play([truncated], { maxTokens: 1000, roomForOutput: 1000 });
    expect(result).toMatchObject({ code: 'truncated-summary' });
    expect(model.summaries).toHaveLength(1);
  });
});

describe('failures', () => {
  it.each([
    ['a refusal', says(null, 'stop', { refusal: 'I will not.' }), 'refused'],
    ['a filtered reply', says('Half', 'content_filter'), 'refused'],
    ['a blank reply', says(' \n'), 'empty-summary'],
    ['a reply without content', says(null), 'empty-summary'],
    ['reasoning alone', says(null, 'stop', { reasoning_content: 'THOUGHTS' }), 'empty-summary'],
    ['tool markup', says('<tool_call>{"name":"read"}</tool_call>'), 'not-a-summary'],
    ['an echo', says('Summarize the conversation.'), 'not-a-summary'],
    ['a polite refusal', says("I'm sorry, I can't do that."), 'refused'],
  ])('%s is not asked for again', async (_name, reply, code) => {
    const { model, result } = await play([answers(reply)], { retries: 3 });
    expect(result).toMatchObject({ code });
    expect(model.summaries).toHaveLength(1);
  });

  it('that may pass are tried again with the same request, what came so far is void', async () => {
    const cut = (): ChatReply => streams(['half of ', 'it'], null);
    const { model, result, texts } = await play([(): ChatReply => cut(), throws(busy)], { retries: 2 });
    expect(result).toEqual({ text: goodSummary, changed: [] });
    const [first, ...others] = model.summaries.map(({ request }) => request);
    expect(others).toEqual([first, first]);
    expect(texts).toEqual(['half of ', 'it', '|', '|', goodSummary]);
  });

  it('after the retries are thrown as they are', async () => {
    const gone = httpError(500, 'gone');
    let thrown: unknown;
    const model = scriptedModel([throws(busy), throws(gone)]);
    const { signal } = new AbortController();
    const summary = forkSummarizer()({
      trigger: 'automatic',
      request: longConversation(),
      messages: [],
      instruction: 'Summarize.',
      maxTokens: 1000,
      roomForOutput: 5000,
      retries: 1,
      countTokens,
      countItems,
      estimatedTokens: 0,
      isStanding: ({ role }: { role: string }) => role === 'system',
      overflowRetries: 1,
      onNotice: () => undefined,
      adapter: openaiChat(),
      send: (request) => model.send(request, { signal, purpose: 'summary', attempt: 1 }),
      signal,
      onUsage: () => undefined,
    }).catch((error: unknown) => {
      thrown = error;
    });
    await vi.runAllTimersAsync();
    await summary;
    expect(thrown).toBe(gone);
  });

  it('start the denials anew', async () => {
    const { model, result } = await play([
      answers(callsTools(['a'])),
      throws(busy),
      answers(callsTools(['b'])),
      answers(callsTools(['c'])),
      answers(callsTools(['d'])),
    ]);
    expect(result).toEqual({ text: goodSummary, changed: [] });
    expect(model.summaries.map(({ request }) => request.messages.length - longConversation().messages.length)).toEqual([
      1, 3, 1, 3, 5, 7,
    ]);
  });

  it('are not tried again after an abort', async () => {
    const abort = new AbortController();
    const aborting: Step = () => {
      abort.abort('stop');
      throw busy;
    };
    const model = scriptedModel([aborting]);
    const summary = forkSummarizer()({
      trigger: 'automatic',
      request: longConversation(),
      messages: [],
      instruction: 'Summarize.',
      maxTokens: 1000,
      roomForOutput: 5000,
      retries: 3,
      countTokens,
      countItems,
      estimatedTokens: 0,
      isStanding: ({ role }: { role: string }) => role === 'system',
      overflowRetries: 1,
      onNotice: () => undefined,
      adapter: openaiChat(),
      send: (request) => model.send(request, { signal: abort.signal, purpose: 'summary', attempt: 1 }),
      signal: abort.signal,
      onUsage: () => undefined,
    }).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await summary).toBe('stop');
    expect(model.summaries).toHaveLength(1);
  });
});

describe('usage', () => {
  it('is told of every reply: denied, cut off, refused, accepted', async () => {
    const { usages } = await play([
      answers(callsTools(['a'])),
      answers(says('half', 'length')),
      (): ChatReply => says('half', null),
      summarizes(),
    ]);
    expect(usages).toHaveLength(4);
    const refused = await play([answers(says(null, 'content_filter'))]);
    expect(refused.usages).toEqual([{ inputTokens: 1000, outputTokens: 100 }]);
  });
});

import { describe, expect, it } from 'vitest';
import { openaiCodex, type ResponsesItem, type ResponsesReply, type ResponsesRequest } from '../../src/adapters/openai-codex.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { SendContext } from '../../src/options.ts';
import { validateOpenAiCodex } from '../../src/testing/wire/openai-codex.ts';
import { freezeDeep } from '../support/freeze.ts';
import { lifecycleOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const adapter = openaiCodex();
const user = (text: string): ResponsesItem => ({ role: 'user', content: text });
const developer = (content: unknown): ResponsesItem => ({ type: 'message', role: 'developer', content });
const tool = { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false };

function request(input: readonly ResponsesItem[], fields: object = {}) {
  return {
    model: 'gpt-5-codex',
    instructions: 'Be exact.',
    tools: [tool],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'session-1',
    store: false,
    stream: true,
    input,
    ...fields,
  };
}

describe('a request for a summary', () => {
  const parent = freezeDeep(request([user('Go.'), { role: 'assistant', content: 'Fine.' }]));

  it('is the parent with a question, and no cap: how long it may be is said in words', () => {
    const { request: fork, changed } = adapter.forkForSummary(parent, 'Summarize.', { maxTokens: 2000 });
    expect(changed).toEqual([]);
    expect(fork).toEqual({
      ...parent,
      tool_choice: 'none',
      input: [
        ...parent.input,
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Summarize.' },
            { type: 'input_text', text: 'Write at most 1500 words.' },
          ],
        },
      ],
    });
    expect(validateOpenAiCodex(fork)).toEqual([]);
  });

  it('streams and stores nothing, whatever the parent does, which the cache does not see', () => {
    const odd = request([user('Go.')], { stream: false, store: true, max_output_tokens: 500, tools: undefined });
    const { request: fork, changed } = adapter.forkForSummary(odd, 'Summarize.', { maxTokens: 1 });
    expect(fork).toMatchObject({ stream: true, store: false });
    for (const field of ['max_output_tokens', 'tools', 'tool_choice']) expect(fork).not.toHaveProperty(field);
    expect(changed).toEqual([]);
    expect(validateOpenAiCodex(fork)).toEqual([]);
    const format = { type: 'json_schema', name: 'x', schema: {} };
    expect(adapter.forkForSummary(request([], { text: { format } }), 'S', { maxTokens: 9 }).changed).toEqual(['text.format']);
  });
});

describe('system text', () => {
  const items = [
    developer(' Mind the time. \n'),
    user('Go.'),
    {
      role: 'system',
      content: [
        { type: 'input_text', text: 'One.' },
        { type: 'input_text', text: 'Two.' },
      ],
    },
    developer(' '),
    user('On.'),
  ];

  it('moves into the instructions of a request that is rebuilt', () => {
    const rebuilt = adapter.withItems(request([]), freezeDeep(items));
    expect(rebuilt).toMatchObject({ instructions: 'Be exact.\n\nMind the time.\n\nOne.\nTwo.', input: [items[1], items[4]] });
    expect((rebuilt.input as ResponsesItem[])[0]).toBe(items[1]);
    expect(validateOpenAiCodex(rebuilt)).toEqual([]);
    expect(adapter.withItems(request([], { instructions: undefined }), items)).toMatchObject({
      instructions: 'Mind the time.\n\nOne.\nTwo.',
    });
    expect(adapter.withItems(rebuilt, adapter.items(rebuilt))).toBe(rebuilt);
  });

  it('stays where it is in a request that is not', () => {
    const parent = request(items);
    expect(adapter.withItems(parent, parent.input)).toBe(parent);
    expect(adapter.items(parent)).toBe(parent.input);
  });

  it('stays where there is more than text', () => {
    const image = developer([
      { type: 'input_text', text: 'See.' },
      { type: 'input_image', file_id: 'file-1' },
    ]);
    expect(adapter.withItems(request([]), [image, user('Go.')])).toMatchObject({ instructions: 'Be exact.', input: [image, {}] });
  });

  it('can be replaced', () => {
    const parent = request([developer('Mind the time.'), user('Go.'), developer('Later.')]);
    expect(adapter.withSystem(parent, 'Be quick.')).toEqual({
      ...parent,
      instructions: 'Be quick.',
      input: parent.input.slice(1),
    });
    const text: ResponsesRequest = { ...request([]), input: 'Go.' };
    expect(adapter.withSystem(text, '')).toEqual({ ...text, instructions: '' });
  });
});

describe('a compaction', () => {
  function start() {
    const events: CompactionEvent[] = [];
    const sent: ResponsesRequest[] = [];
    const options = {
      adapter,
      contextWindow: 10_000,
      budget: { threshold: 500 },
      onEvent: (event: CompactionEvent) => void events.push(event),
      send: async (body: ResponsesRequest, { purpose }: SendContext): Promise<ResponsesReply> => {
        sent.push(body);
        const text = purpose === 'summary' ? goodSummary : 'Done.';
        return (async function* () {
          yield { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text };
          yield {
            type: 'response.output_item.done',
            output_index: 0,
            item: { type: 'message', id: `msg_${sent.length}`, role: 'assistant', content: [{ type: 'output_text', text }] },
          };
          yield { type: 'response.completed', response: { id: 'resp_1', output: [] } };
        })();
      },
    };
    return { options, events, sent };
  }
  const long = 'x'.repeat(4000);

  it('takes the standing instructions of the history along, in each request after it', async () => {
    const { options, events, sent } = start();
    const compactor = createCompactor(options);
    const history = [developer('Mind the time.'), user(long), { role: 'assistant', content: 'Fine.' }, user('And now?')];
    const rebuilt = await compactor.prepare(request(history));
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(sent[0]?.instructions).toBe('Be exact.'); // the parent's own prefix
    expect(rebuilt).toMatchObject({ instructions: 'Be exact.\n\nMind the time.', input: [{ role: 'user' }] });
    expect(validateOpenAiCodex(rebuilt)).toEqual([]);
    const reminder = developer('It is late.');
    const next = await compactor.prepare(request([...history, { role: 'assistant', content: 'Yes.' }, reminder, user('Go on.')]));
    expect(next).toMatchObject({ instructions: 'Be exact.\n\nMind the time.\n\nIt is late.', input: [{}, {}, user('Go on.')] });
    expect(validateOpenAiCodex(next)).toEqual([]);
  });

  it('happens in a loop', async () => {
    const { options, sent } = start();
    const loop = new AutoCompactingLoop<ReturnType<typeof request>, ResponsesItem, ResponsesReply>(
      request([developer('Mind the time.'), user(long)]),
      options,
    );
    await loop.appendReply(await loop.send());
    loop.append([user('And now?')]);
    const { text } = await loop.appendReply(await loop.send());
    expect(text).toBe('Done.');
    expect(sent).toHaveLength(3);
    for (const body of sent) expect(validateOpenAiCodex(body)).toEqual([]);
    expect(loop.request).toMatchObject({
      instructions: 'Be exact.\n\nMind the time.',
      input: [{ role: 'user' }, { role: 'assistant' }],
    });
  });
});

describe('a reply', () => {
  async function* play(...events: object[]): AsyncGenerator<object> {
    yield* events;
  }
  const said = (text: string, id: string) => ({
    type: 'message',
    id,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  });
  const done = (item: object, output_index: number) => ({ type: 'response.output_item.done', output_index, item });
  const usage = { input_tokens: 10, output_tokens: 1 };

  it.each(['response.completed', 'response.done'])(
    'is read item by item: %s may tell nothing of the output, or a part',
    async (type) => {
      const items = [said('One.', 'msg_1'), said('Two.', 'msg_2')];
      for (const output of [[], [items[1]], items])
        expect(await adapter.readReply(play(...items.map(done), { type, response: { output, usage } }))).toMatchObject({
          text: 'One.\n\nTwo.',
          finish: 'stop',
          items,
          usage: { inputTokens: 10 },
        });
    },
  );

  it('is incomplete where the stream ends before it says so', async () => {
    expect(await adapter.readReply(play(done(said('One.', 'msg_1'), 0)))).toMatchObject({ text: 'One.', finish: 'incomplete' });
  });

  it('is never gone on from: nothing is stored', () => {
    expect(adapter.heldItem).toBeUndefined();
    expect(adapter.context(request([user('Go.')], { previous_response_id: 'resp_1' })).heldBefore).toBe('previous_response_id');
  });

  it.each([
    ['context_length_exceeded', 'Your input exceeds the context window of this model.', { kind: 'overflow' }],
    ['rate_limit_exceeded', 'Rate limit reached. Please try again in 11.05s.', { kind: 'retryable', retryAfter: 11_050 }],
    ['insufficient_quota', 'You exceeded your current quota.', { kind: 'fatal' }],
    ['usage_not_included', 'Upgrade your plan.', { kind: 'fatal' }],
    ['server_is_overloaded', 'The server is overloaded.', { kind: 'retryable' }],
  ])('that failed says why: %s', async (code, message, expected) => {
    const response = { status: 'failed', error: { code, message } };
    const error = await adapter.readReply(play({ type: 'response.failed', response })).catch((thrown: unknown) => thrown);
    expect(adapter.classifyError(error)).toEqual(expected);
  });
});

describe('errors', () => {
  it('name the adapter', () => {
    expect(() => adapter.items({ input: null } as never)).toThrow(expect.objectContaining({ provider: 'openai-codex' }));
  });

  it('with a detail are no overflow', () => {
    const bare = Object.assign(new Error('400 status code (no body)'), { status: 400, error: undefined });
    expect(adapter.classifyError(bare)).toEqual({ kind: 'fatal' });
    const body = { detail: 'Unsupported parameter: max_output_tokens' };
    expect(adapter.classifyError(Object.assign(new Error('400'), { status: 400, error: body }))).toEqual({ kind: 'fatal' });
    const exhausted = { error: { type: 'usage_limit_reached', plan_type: 'plus', resets_at: 1 } };
    expect(adapter.classifyError(Object.assign(new Error('429'), { status: 429, error: exhausted.error }))).toEqual({
      kind: 'fatal',
    });
    expect(adapter.classifyError(Object.assign(new Error('429'), { status: 429, error: exhausted }))).toEqual({ kind: 'fatal' });
  });
});

describe('its endpoint', () => {
  it('is that of the backend', () => {
    expect(adapter.endpoint?.test('/backend-api/codex/responses')).toBe(true);
    expect(adapter.endpoint?.test('/backend-api/codex/responses/compact')).toBe(false);
    expect(adapter.endpoint?.test('/v1/responses')).toBe(false);
  });
});

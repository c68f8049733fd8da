import { describe, expect, it } from 'vitest';
import { type AiSdkPart, type AiSdkReply, aiSdkModel } from '../../src/adapters/ai-sdk.ts';

const adapter = aiSdkModel();
type Part = AiSdkPart & Record<string, unknown>;

const finishReason = (unified: string, raw?: string) => ({ unified, raw });
const usage = {
  inputTokens: { total: 1000, noCache: 100, cacheRead: 896, cacheWrite: 4 },
  outputTokens: { total: 50, text: 40, reasoning: 10 },
};
const object = (content: readonly Part[], finish: object = finishReason('stop', 'stop'), more: object = { usage }): AiSdkReply =>
  ({ content, finishReason: finish, usage: {}, ...more }) as AiSdkReply; // odd replies, too
const stream = (parts: readonly (Part | 'hang')[]): AiSdkReply => {
  const rest = [...parts];
  return {
    stream: new ReadableStream<AiSdkPart>({
      pull(controller) {
        const part = rest.shift();
        if (part === 'hang') return new Promise<void>(() => undefined);
        if (part) controller.enqueue(part);
        else controller.close();
        return undefined;
      },
    }),
  };
};
const finish = (unified = 'stop', raw = 'stop'): Part => ({ type: 'finish', finishReason: finishReason(unified, raw), usage });
const text = (value: string, providerMetadata?: object): Part => ({
  type: 'text',
  text: value,
  ...(providerMetadata && { providerMetadata }),
});
const call = (id: string, input = '{"path":"a.ts"}', more: object = {}): Part => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'read',
  input,
  ...more,
});
const block = (kind: string, id: string, pieces: readonly string[], metadata?: object): Part[] => [
  { type: `${kind}-start`, id },
  ...pieces.map((delta) => ({ type: `${kind}-delta`, id, delta })),
  { type: `${kind}-end`, id, ...(metadata && { providerMetadata: metadata }) },
];

describe('a whole reply', () => {
  it('is text, usage and one message', async () => {
    const pieces: string[] = [];
    const reply = object([
      { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature: 's' } } },
      text('Half. ', { openai: { itemId: 'msg_1' } }),
      { type: 'source', sourceType: 'url', id: '1', url: 'https://example.com' },
      text('All.', { openai: { itemId: 'msg_1' } }),
    ]);
    expect(await adapter.readReply(reply, { onText: (piece) => pieces.push(piece) })).toEqual({
      text: 'Half. All.',
      finish: 'stop',
      calls: [],
      items: [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 's' } } },
            { type: 'text', text: 'Half. ', providerOptions: { openai: { itemId: 'msg_1' } } },
            { type: 'text', text: 'All.', providerOptions: { openai: { itemId: 'msg_1' } } },
          ],
        },
      ],
      usage: { inputTokens: 1000, outputTokens: 50, cachedInputTokens: 896, cacheWriteTokens: 4, reasoningTokens: 10 },
    });
    expect(pieces).toEqual(['Half. All.']);
  });

  it('only text after the last tool activity counts, and commentary never', async () => {
    const textOf = async (content: readonly Part[]) => (await adapter.readReply(object(content))).text;
    const search = call('s1', '{}', { providerExecuted: true });
    const found: Part = { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: [] };
    expect(await textOf([text('Let me look.'), search, found, text('Found.')])).toBe('Found.');
    expect(await textOf([text('Let me look.'), call('c1')])).toBe('');
    expect(await textOf([text('First.'), { type: 'reasoning', text: 'Hm.' }, text('Second.')])).toBe('First.\n\nSecond.');
    const message = (value: string, itemId: string, phase?: string) => text(value, { openai: { itemId, phase } });
    expect(await textOf([message('One.', 'a'), message('Two.', 'b')])).toBe('One.\n\nTwo.');
    expect(await textOf([message('Working.', 'a', 'commentary'), message('Done.', 'b', 'final_answer')])).toBe('Done.');
  });

  it.each([
    ['stop', 'stop', 'stop'],
    ['stop', undefined, 'stop'],
    ['length', 'max_tokens', 'length'],
    ['tool-calls', 'tool_calls', 'tool-calls'],
    ['content-filter', 'content_filter', 'content-filter'],
    ['content-filter', 'refusal', 'refusal'],
    ['stop', 'pause_turn', 'pause'],
    ['length', 'model_context_window_exceeded', 'overflow'],
    ['other', 'compaction', 'other'],
    ['other', undefined, 'incomplete'],
    ['error', 'error', 'incomplete'],
    ['error', undefined, 'incomplete'],
    ['x-new', 'x-new', 'other'],
  ])('ends with %s (%s): %s', async (unified, raw, expected) => {
    expect((await adapter.readReply(object([text('x')], finishReason(unified, raw)))).finish).toBe(expected);
  });

  it('a provider that says stop when it calls tools', async () => {
    expect((await adapter.readReply(object([call('c1')]))).finish).toBe('tool-calls');
  });

  it('calls are parsed, and go back as providers take them', async () => {
    const { calls, items } = await adapter.readReply(
      object([call('c1'), call('c2', ''), call('c3', 'broken {'), call('c4', '"text"')], finishReason('tool-calls')),
    );
    expect(calls.map(({ input }) => input)).toEqual([{ path: 'a.ts' }, {}, 'broken {', '"text"']);
    expect(items[0]?.content).toMatchObject([{ input: { path: 'a.ts' } }, { input: {} }, { input: {} }, { input: {} }]);
  });

  it('what the provider ran goes back as the SDK itself sends it back', async () => {
    const ran = (result: unknown, more: object = {}): Part => ({
      type: 'tool-result',
      toolCallId: 's1',
      toolName: 'search',
      result,
      ...more,
    });
    const search = call('s1', '{"query":"x"}', {
      providerExecuted: true,
      dynamic: true,
      providerMetadata: { openai: { itemId: 'ws' } },
    });
    const { items, calls } = await adapter.readReply(
      object([
        search,
        ran('draft', { preliminary: true }),
        ran({ hits: 2 }),
        { type: 'tool-approval-request', approvalId: 'a', toolCallId: 's1' },
        { type: 'file', mediaType: 'image/png', data: 'aGk=' },
        text('Done.'),
      ]),
    );
    expect(calls).toEqual([]);
    expect(items[0]?.content).toEqual([
      {
        type: 'tool-call',
        toolCallId: 's1',
        toolName: 'read',
        providerExecuted: true,
        input: { query: 'x' },
        providerOptions: { openai: { itemId: 'ws' } },
      },
      { type: 'tool-result', toolCallId: 's1', toolName: 'search', output: { type: 'json', value: { hits: 2 } } },
      { type: 'file', mediaType: 'image/png', data: 'aGk=' },
      { type: 'text', text: 'Done.' },
    ]);
    const outputOf = async (part: Part) => Object((await adapter.readReply(object([part]))).items[0]?.content[0]).output;
    expect(await outputOf(ran('text'))).toEqual({ type: 'text', value: 'text' });
    expect(await outputOf(ran({ code: 1 }, { isError: true }))).toEqual({ type: 'error-json', value: { code: 1 } });
  });

  it('B184: of a reply that was cut the text stays, without the server’s ids, and nothing that is half', async () => {
    const content = [
      { type: 'reasoning', text: 'Hm.', providerMetadata: { openai: { itemId: 'rs_1' } } },
      text('Half', { openai: { itemId: 'msg_1', phase: 'final_answer' } }),
      call('s1', '{}', { providerExecuted: true }),
      { type: 'reasoning', text: 'Hm' },
    ];
    const { items } = await adapter.readReply(object(content, finishReason('other')));
    expect(items).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Half', providerOptions: { openai: { phase: 'final_answer' } } }] },
    ]);
    const { items: capped } = await adapter.readReply(object(content.slice(0, 2).reverse(), finishReason('length', 'length')));
    expect(capped[0]?.content).toMatchObject([{ type: 'text', text: 'Half' }]);
    const { items: none } = await adapter.readReply(
      object([{ type: 'reasoning', text: 'Hm.' }], finishReason('length', 'length')),
    );
    expect(none).toEqual([]);
  });

  it('an odd reply is named, or read as far as it goes', async () => {
    for (const odd of [null, undefined, 5, 'text', {}, { content: 'x' }, { stream: 5 }])
      await expect(adapter.readReply(odd as never)).rejects.toMatchObject({ code: 'invalid-request' });
    expect(await adapter.readReply(object([null, 5, { type: '' }] as never, null as never, {}))).toEqual({
      text: '',
      finish: 'incomplete',
      calls: [],
      items: [],
      usage: undefined,
    });
  });

  it('an abort before it rejects with its reason', async () => {
    const reason = new Error('enough');
    await expect(adapter.readReply(object([text('x')]), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('a streamed reply', () => {
  it('is the same as the whole one', async () => {
    const pieces: string[] = [];
    const signed = { anthropic: { signature: 's' } };
    const streamed = await adapter.readReply(
      stream([
        { type: 'stream-start', warnings: [] },
        { type: 'response-metadata', id: 'r' },
        ...block('reasoning', '0', ['Hm', '.'], signed),
        ...block('text', '1', ['Let me ', 'look.']),
        { type: 'tool-input-start', id: 'c1', toolName: 'read' },
        { type: 'tool-input-delta', id: 'c1', delta: '{"path":' },
        { type: 'tool-input-end', id: 'c1' },
        call('c1'),
        { type: 'raw', rawValue: {} },
        finish('tool-calls', 'tool_calls'),
      ]),
      { onText: (piece) => pieces.push(piece) },
    );
    const whole = await adapter.readReply(
      object(
        [{ type: 'reasoning', text: 'Hm.', providerMetadata: signed }, text('Let me look.'), call('c1')],
        finishReason('tool-calls', 'tool_calls'),
      ),
    );
    expect(streamed).toEqual(whole);
    expect(pieces).toEqual(['Let me ', 'look.']);
  });

  it('blocks may come interleaved, and ids may come again', async () => {
    const { text: read } = await adapter.readReply(
      stream([
        { type: 'text-start', id: '0' },
        { type: 'reasoning-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'One.' },
        { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
        { type: 'text-end', id: '0' },
        ...block('text', '0', ['Two.']),
        finish(),
      ]),
    );
    expect(read).toBe('One.\n\nTwo.');
  });

  it('without an end is incomplete', async () => {
    expect(await adapter.readReply(stream(block('text', '1', ['Half'])))).toMatchObject({ finish: 'incomplete', text: 'Half' });
  });

  it('commentary is nobody’s text', async () => {
    const pieces: string[] = [];
    const phase = { openai: { phase: 'commentary' } };
    const [start, ...rest] = block('text', '1', ['Working.']);
    await adapter.readReply(
      stream([{ ...start!, providerMetadata: phase }, ...rest, ...block('text', '2', ['Done.']), finish()]),
      {
        onText: (piece) => pieces.push(piece),
      },
    );
    expect(pieces).toEqual(['Done.']);
  });

  it('rejects with the provider’s error', async () => {
    const error = new Error('overloaded');
    await expect(adapter.readReply(stream([{ type: 'error', error }, finish()]))).rejects.toBe(error);
  });

  it('a stream that hangs is left behind on abort, and cancelled', async () => {
    const controller = new AbortController();
    const cancelled: unknown[] = [];
    const hanging: AiSdkReply = { stream: new ReadableStream<AiSdkPart>({ cancel: (why) => void cancelled.push(why) }) };
    const reading = adapter.readReply(hanging, { signal: controller.signal });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(cancelled).toHaveLength(1);
  });
});

describe('usage', () => {
  const usageOf = (value: unknown) => adapter.usage(object([], finishReason('stop'), { usage: value }));

  it('counts the whole input once', () => {
    expect(usageOf(usage)).toMatchObject({ inputTokens: 1000, cachedInputTokens: 896 });
    expect(usageOf({ inputTokens: { total: 7 }, outputTokens: {} })).toEqual({ inputTokens: 7, outputTokens: 0 });
  });

  it('with several samplings in one reply, the last is the size of the context', () => {
    const raw = {
      input_tokens: 90_000,
      output_tokens: 900,
      iterations: [
        { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 },
        { type: 'message', input_tokens: 23_000, output_tokens: 1000 },
      ],
    };
    expect(usageOf({ inputTokens: { total: 203_000 }, outputTokens: { total: 4500 }, raw })).toMatchObject({
      inputTokens: 23_000,
      outputTokens: 1000,
    });
  });

  it.each([
    undefined,
    null,
    5,
    {},
    { inputTokens: 5 },
    { inputTokens: { total: 0 } },
    { inputTokens: { total: Number.NaN } },
    { inputTokens: { total: -1 } },
    { inputTokens: { total: '7' } },
  ])('B145: %j is no measurement', (value) => {
    expect(usageOf(value)).toBeUndefined();
  });

  it('that of a stream is left alone', () => {
    const untouched = stream([finish()]);
    expect(adapter.usage(untouched)).toBeUndefined();
    expect('stream' in untouched && untouched.stream.locked).toBe(false);
  });
});

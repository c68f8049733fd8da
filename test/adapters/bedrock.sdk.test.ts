import {
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  ModelStreamErrorException,
} from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReadReplyOptions, ReplySummary } from '../../src/adapters/adapter.ts';
import { type BedrockMessage, type BedrockReply, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { validateBedrock } from '../../src/testing/wire/bedrock.ts';
import { type BedrockFrame, type BedrockServer, startBedrockServer } from '../support/bedrock-server.ts';

type Fields = Record<string, unknown>;

const adapter = bedrockConverse();
const request: ConverseCommandInput = {
  modelId: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  messages: [{ role: 'user', content: [{ text: 'What is in a.ts?' }, { cachePoint: { type: 'default' } }] }],
  system: [{ text: 'Help.' }, { cachePoint: { type: 'default' } }],
  inferenceConfig: { maxTokens: 4096, stopSequences: ['END'] },
  additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
  toolConfig: {
    tools: [{ toolSpec: { name: 'read', inputSchema: { json: { type: 'object' } } } }, { cachePoint: { type: 'default' } }],
  },
};

const usage = {
  inputTokens: 50,
  outputTokens: 5,
  totalTokens: 1005,
  cacheReadInputTokens: 850,
  cacheWriteInputTokens: 100,
};
const expectedUsage = { inputTokens: 1000, outputTokens: 5, cachedInputTokens: 850, cacheWriteTokens: 100 };

const thought = { reasoningContent: { reasoningText: { text: 'Hm. Well.', signature: 'sealed' } } };
const redacted = { reasoningContent: { redactedContent: 'AAEC' } };
const text = { text: 'SUMMARY' };
const call = { toolUse: { toolUseId: 'tooluse_1', name: 'read', input: { path: 'a.ts' } } };
/** What the client makes of the redacted block. */
const unsealed = { reasoningContent: { redactedContent: Uint8Array.from([0, 1, 2]) } };

/** The frames in which the provider streams a message; text, reasoning and arguments in two pieces. */
function framesOf(content: readonly Fields[], stopReason: string): BedrockFrame[] {
  const blocks = content.flatMap((block, contentBlockIndex): BedrockFrame[] => [
    ...(block.toolUse ? [['contentBlockStart', { contentBlockIndex, start: { toolUse: startOf(block.toolUse) } }] as const] : []),
    ...deltasOf(block).map((delta): BedrockFrame => ['contentBlockDelta', { contentBlockIndex, delta }]),
    ['contentBlockStop', { contentBlockIndex }],
  ]);
  return [
    ['messageStart', { role: 'assistant' }],
    ...blocks,
    ['messageStop', { stopReason }],
    ['metadata', { usage, metrics: { latencyMs: 1 } }],
  ];
}

function startOf(toolUse: unknown): Fields {
  const { input: _input, ...start } = toolUse as Fields; // made above
  return start;
}

function deltasOf(block: Fields): Fields[] {
  if (block === text) return [{ text: 'SUM' }, { text: 'MARY' }];
  if (block === call) return [{ toolUse: { input: '{"path":' } }, { toolUse: { input: '"a.ts"}' } }];
  if (block === redacted) return [{ reasoningContent: { redactedContent: 'AAEC' } }];
  return [
    { reasoningContent: { text: 'Hm. ' } },
    { reasoningContent: { text: 'Well.' } },
    { reasoningContent: { signature: 'sealed' } },
  ];
}

let server: BedrockServer;

beforeAll(async () => {
  server = await startBedrockServer();
});

beforeEach(() => {
  server.bodies.length = 0;
  server.headers.length = 0;
});

afterAll(() => server.close());

/** The two ways in which the SDK gives a reply, and the stream by itself. */
const ways: [string, (input: ConverseCommandInput, options: { abortSignal?: AbortSignal }) => Promise<BedrockReply>][] = [
  ['ConverseCommand', (input, options) => server.client.send(new ConverseCommand(input), options)],
  ['ConverseStreamCommand', (input, options) => server.client.send(new ConverseStreamCommand(input), options)],
  [
    'the stream of a ConverseStreamCommand',
    async (input, options) => (await server.client.send(new ConverseStreamCommand(input), options)).stream ?? {},
  ],
];
const streams = ways.slice(1);

function answerWith(content: readonly Fields[], stopReason: string): void {
  server.answer = (_body, streamed) =>
    streamed
      ? { frames: framesOf(content, stopReason), ending: 'end' }
      : { output: { output: { message: { role: 'assistant', content } }, stopReason, usage, metrics: { latencyMs: 1 } } };
}

describe.each(ways)('through %s', (name, send) => {
  async function ask(options: ReadReplyOptions = {}): Promise<ReplySummary<BedrockMessage>> {
    return adapter.readReply(await send(request, options.signal ? { abortSignal: options.signal } : {}), options);
  }

  it('reads a whole reply', async () => {
    answerWith([thought, redacted, text], 'end_turn');
    const heard: string[] = [];
    const summary = await ask({ onText: (piece) => heard.push(piece) });
    expect(summary).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'assistant', content: [thought, unsealed, text] }],
      usage: expectedUsage,
    });
    expect(heard).toEqual(name === 'ConverseCommand' ? ['SUMMARY'] : ['SUM', 'MARY']);
  });

  it('carries a tool turn on, and asks for a summary of it', async () => {
    answerWith([thought, redacted, text, call], 'tool_use');
    const summary = await ask();
    expect(summary).toMatchObject({
      finish: 'tool-calls',
      text: '',
      calls: [{ id: 'tooluse_1', name: 'read', input: { path: 'a.ts' } }],
    });
    const results = adapter.writeMessage({
      role: 'tool',
      parts: summary.calls.map(({ id }) => ({ type: 'toolResult', callId: id, content: [{ type: 'text', text: 'export {}' }] })),
    });
    const continued = adapter.withItems(request, [...(request.messages ?? []), ...summary.items, ...results]);
    answerWith([text], 'end_turn');
    const { request: forked, changed } = adapter.forkForSummary(continued, 'Summarize.', { maxTokens: 500 });
    expect(changed).toEqual([]);
    expect(validateBedrock(forked)).toEqual([]);
    expect((await adapter.readReply(await send(forked, {}))).text).toBe('SUMMARY');
    const [first, second] = server.bodies;
    expect(second).toEqual({
      ...first,
      inferenceConfig: { maxTokens: 1524 },
      messages: [
        ...((first?.messages ?? []) as Fields[]), // the server reads what the client wrote
        { role: 'assistant', content: [thought, redacted, text, call] },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ text: 'export {}' }] } }, { text: 'Summarize.' }],
        },
      ],
    });
  });

  it('carries what this version of the client does not know', async () => {
    const unheard = { xUnheardOf: { deep: [1, 2] } };
    server.answer = (_body, streamed) =>
      streamed
        ? { frames: [['xUnheardOf', { deep: 1 }], ...framesOf([text], 'end_turn')], ending: 'end' }
        : {
            output: {
              output: { message: { role: 'assistant', content: [text, unheard] } },
              stopReason: 'end_turn',
              usage,
              metrics: {},
            },
          };
    const { items, finish } = await ask();
    expect(finish).toBe('stop');
    const grown = [...(request.messages ?? []), ...items, { role: 'user', content: [{ text: 'Go on.' }] }];
    await send(adapter.withItems(request, grown), {});
    const content = name === 'ConverseCommand' ? [text, unheard] : [text];
    expect(server.bodies[1]?.messages).toMatchObject([{}, { content }, {}]);
  });

  it.each([
    ['max_tokens', 'length'],
    ['content_filtered', 'content-filter'],
    ['guardrail_intervened', 'content-filter'],
    ['malformed_model_output', 'other'],
    ['malformed_tool_use', 'other'],
    ['model_context_window_exceeded', 'overflow'],
    ['stop_sequence', 'stop'],
  ])('reads the stop reason %s as %s', async (stopReason, finish) => {
    answerWith([text], stopReason);
    expect((await ask()).finish).toBe(finish);
  });

  it.each([
    [
      400,
      'ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/',
      'The model returned the following errors: prompt is too long: 213462 tokens > 200000 maximum',
      { kind: 'overflow', limit: 200_000, requested: 213_462 },
    ],
    [400, 'ValidationException', 'Input is too long for requested model.', { kind: 'overflow' }],
    [
      400,
      'ValidationException',
      'The model returned the following errors: input length and `max_tokens` exceed context limit: 195000 + 10000 > 200000, decrease input length or `max_tokens` and try again',
      { kind: 'overflow', limit: 200_000, requested: 205_000 },
    ],
    [429, 'ThrottlingException', 'Too many tokens, please wait before trying again.', { kind: 'retryable' }],
    [503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.', { kind: 'retryable' }],
    [408, 'ModelTimeoutException', 'The model timed out.', { kind: 'retryable' }],
    [429, 'ModelNotReadyException', 'The model is not ready.', { kind: 'retryable' }],
    [400, 'ServiceQuotaExceededException', 'Your request exceeds the service quota.', { kind: 'fatal' }],
    [
      400,
      'ValidationException',
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
      { kind: 'fatal' },
    ],
    [403, 'AccessDeniedException', 'You do not have access to the model with the specified model ID.', { kind: 'fatal' }],
  ])('classifies the error %i %s: %s', async (status, type, message, expected) => {
    server.answer = () => ({ status, error: type, message });
    const error = await ask().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(adapter.classifyError(error)).toEqual(expected);
  });

  it('classifies what the client throws when it is aborted, and when nobody answers', async () => {
    const aborted = await send(request, { abortSignal: AbortSignal.abort() }).catch((thrown: unknown) => thrown);
    expect(aborted).toMatchObject({ name: 'AbortError' });
    expect(adapter.classifyError(aborted)).toEqual({ kind: 'fatal' });
    const other = await startBedrockServer();
    await other.close();
    const refused = await other.client.send(new ConverseCommand(request)).catch((thrown: unknown) => thrown);
    expect(adapter.classifyError(refused)).toEqual({ kind: 'retryable' });
  });
});

describe.each(streams)('a broken stream, through %s', (_name, send) => {
  const whole = framesOf([thought, text, call], 'tool_use');
  const upTo = (type: string, index: number): BedrockFrame[] =>
    whole.slice(0, whole.findLastIndex(([name, payload]) => name === type && payload.contentBlockIndex === index) + 1);

  it('B188: is incomplete where it ends after a block', async () => {
    server.answer = () => ({ frames: upTo('contentBlockStop', 1), ending: 'end' });
    const summary = await adapter.readReply(await send(request, {}));
    expect(summary).toMatchObject({ finish: 'incomplete', text: 'SUMMARY', calls: [], usage: undefined });
    expect(summary.items).toEqual([{ role: 'assistant', content: [thought, text] }]);
  });

  it('leaves out the call whose arguments were cut', async () => {
    server.answer = () => ({ frames: upTo('contentBlockDelta', 2).slice(0, -1), ending: 'end' });
    const summary = await adapter.readReply(await send(request, {}));
    expect(summary).toMatchObject({ finish: 'incomplete', calls: [] });
    expect(summary.items).toEqual([{ role: 'assistant', content: [thought, text] }]);
  });

  it('leaves out reasoning that was cut, and keeps half a text', async () => {
    server.answer = () => ({ frames: upTo('contentBlockDelta', 0).slice(0, -1), ending: 'end' });
    expect(await adapter.readReply(await send(request, {}))).toMatchObject({ finish: 'incomplete', items: [] });
    server.answer = () => ({ frames: upTo('contentBlockDelta', 1).slice(0, -1), ending: 'end' });
    const { items } = await adapter.readReply(await send(request, {}));
    expect(items).toEqual([{ role: 'assistant', content: [thought, { text: 'SUM' }] }]);
  });

  it.each([
    ['throttlingException', { message: 'Too many tokens, please wait.' }, { kind: 'retryable' }],
    ['modelStreamErrorException', { message: 'The stream broke.', originalStatusCode: 500 }, { kind: 'retryable' }],
    ['serviceUnavailableException', { message: 'Try again.' }, { kind: 'retryable' }],
    ['validationException', { message: 'Input is too long for requested model.' }, { kind: 'overflow' }],
    ['validationException', { message: 'A conversation must alternate.' }, { kind: 'fatal' }],
  ])('rejects with the %s that comes in the middle', async (type, payload, expected) => {
    server.answer = () => ({ frames: [...upTo('contentBlockStop', 1), [type, payload]], ending: 'end' });
    const error = await adapter.readReply(await send(request, {})).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: payload.message });
    if (type === 'modelStreamErrorException') expect(error).toBeInstanceOf(ModelStreamErrorException);
    expect(adapter.classifyError(error)).toEqual(expected);
  });

  it('rejects where the connection is lost', async () => {
    server.answer = () => ({ frames: upTo('contentBlockStop', 1), ending: 'reset' });
    const error = await adapter.readReply(await send(request, {})).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable' });
  });

  it('rejects with the reason of an abort while it hangs, whether or not the client knows the signal', async () => {
    server.answer = () => ({ frames: upTo('contentBlockDelta', 1).slice(0, -1), ending: 'hang' });
    for (const known of [true, false]) {
      const controller = new AbortController();
      const reason = new Error('enough');
      const reply = await send(request, known ? { abortSignal: controller.signal } : {});
      const heard: string[] = [];
      const onText = (piece: string): void => {
        heard.push(piece);
        controller.abort(reason);
      };
      await expect(adapter.readReply(reply, { signal: controller.signal, onText })).rejects.toBe(reason);
      expect(heard).toEqual(['SUM']);
    }
  });
});

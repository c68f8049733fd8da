import { describe, expect, it } from 'vitest';
import type { ReplySummary } from '../../src/adapters/adapter.ts';
import { type BedrockMessage, type BedrockReply, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { CompactionError } from '../../src/errors.ts';

const { readReply } = bedrockConverse();

function whole(content: readonly object[], stopReason: string | undefined): BedrockReply {
  return { output: { message: { role: 'assistant', content } }, stopReason };
}

async function* eventsOf(events: readonly unknown[]): AsyncGenerator<unknown> {
  yield* events;
}

const stream = (...events: unknown[]): BedrockReply => ({ stream: eventsOf(events) });
const start = (contentBlockIndex: number, block: object) => ({ contentBlockStart: { contentBlockIndex, start: block } });
const delta = (contentBlockIndex: number, piece: object) => ({ contentBlockDelta: { contentBlockIndex, delta: piece } });
const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } });
const end = (stopReason: string) => ({ messageStop: { stopReason } });

describe('a reply object', () => {
  it('gives its own message back, with whatever is in it', async () => {
    const message = { role: 'assistant', content: [{ text: 'Hi.' }, { $unknown: ['x', 1] }], note: 7 };
    const { items } = await readReply({ output: { message }, stopReason: 'end_turn' });
    expect(items).toHaveLength(1);
    expect(items[0]).toBe(message);
  });

  it('tells the text after the last tool activity, joined where sources cut it', async () => {
    const cited = (text: string) => ({ citationsContent: { content: [{ text }], citations: [{ title: 't' }] } });
    const thought = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } };
    const search = { toolUse: { toolUseId: 's', name: 'nova_grounding', input: {}, type: 'server_tool_use' } };
    const found = { toolResult: { toolUseId: 's', content: [{ json: {} }] } };
    const content = [{ text: 'Let me look.' }, search, found, thought, { text: 'It ' }, cited('rains'), thought, { text: 'So.' }];
    const summary = await readReply(whole(content, 'end_turn'));
    expect(summary).toMatchObject({ text: 'It rains\n\nSo.', finish: 'stop', calls: [] });
    const call = { toolUse: { toolUseId: 'a', name: 'f', input: {} } };
    expect((await readReply(whole([{ text: 'Hm.' }, call], 'tool_use'))).text).toBe('');
  });

  it('without a stop reason is incomplete, with an unknown one something else', async () => {
    expect((await readReply(whole([{ text: 'a' }], undefined))).finish).toBe('incomplete');
    expect((await readReply(whole([{ text: 'a' }], 'new_reason'))).finish).toBe('other');
    expect((await readReply(whole([{ text: 'a' }], 'refusal'))).finish).toBe('refusal');
  });

  it('B184: that was cut is sent back without what the provider would refuse', async () => {
    const thought = { reasoningContent: { reasoningText: { text: 'Hm.' } } };
    const search = { toolUse: { toolUseId: 's', name: 'nova_grounding', input: {}, type: 'server_tool_use' } };
    expect((await readReply(whole([{ text: 'a' }, search, { text: ' ' }, thought], 'max_tokens'))).items).toEqual([
      { role: 'assistant', content: [{ text: 'a' }] },
    ]);
    expect(await readReply(whole([thought], 'max_tokens'))).toMatchObject({ finish: 'length', items: [], text: '' });
  });

  it('may hold no message', async () => {
    const blocked: BedrockReply = { output: undefined, stopReason: 'guardrail_intervened' };
    expect(await readReply(blocked)).toMatchObject({ finish: 'content-filter', items: [], text: '', usage: undefined });
  });

  it.each([
    undefined,
    null,
    'Hello.',
    {},
    { stream: undefined },
    { output: { message: {} } },
    { output: { $unknown: ['x', {}] }, stopReason: 5 },
  ])('that is none is refused: %j', async (reply) => {
    await expect(readReply(reply as BedrockReply)).rejects.toThrow(CompactionError);
    await expect(readReply(reply as BedrockReply)).rejects.toMatchObject({ code: 'invalid-request', provider: 'bedrock' });
  });
});

describe('a stream', () => {
  it('is put together block by block, whatever their order', async () => {
    const summary = await readReply(
      stream(
        { messageStart: { role: 'assistant' } },
        delta(0, { reasoningContent: { text: 'Hm' } }),
        delta(0, { reasoningContent: { text: '.' } }),
        delta(0, { reasoningContent: { signature: 'si' } }),
        delta(0, { reasoningContent: { signature: 'gned' } }),
        stop(0),
        delta(1, { reasoningContent: { redactedContent: Uint8Array.from([1]) } }),
        delta(1, { reasoningContent: { redactedContent: Uint8Array.from([2, 3]) } }),
        stop(1),
        start(3, { toolUse: { toolUseId: 'b', name: 'g' } }),
        start(2, { toolUse: { toolUseId: 'a', name: 'f' } }),
        delta(2, { toolUse: { input: '{"path"' } }),
        delta(3, { toolUse: { input: '' } }),
        delta(2, { toolUse: { input: ':1}' } }),
        stop(2),
        stop(3),
        end('tool_use'),
        { metadata: { usage: { inputTokens: 7, outputTokens: 2 } } },
      ),
    );
    expect(summary).toEqual({
      text: '',
      finish: 'tool-calls',
      calls: [
        { type: 'toolCall', id: 'b', name: 'g', input: {} },
        { type: 'toolCall', id: 'a', name: 'f', input: { path: 1 } },
      ],
      items: [
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'signed' } } },
            { reasoningContent: { redactedContent: Uint8Array.from([1, 2, 3]) } },
            { toolUse: { toolUseId: 'b', name: 'g', input: {} } },
            { toolUse: { toolUseId: 'a', name: 'f', input: { path: 1 } } },
          ],
        },
      ],
      usage: { inputTokens: 7, outputTokens: 2 },
    });
  });

  it('may hold sources, results of its own tools, and images', async () => {
    const heard: string[] = [];
    const { items, text } = await readReply(
      stream(
        start(0, { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use' } }),
        delta(0, { toolUse: { input: '{"q":1}' } }),
        stop(0),
        start(1, { toolResult: { toolUseId: 's', type: 'nova_grounding_result', status: 'success' } }),
        delta(1, { toolResult: [{ text: 'a' }] }),
        delta(1, { toolResult: [{ text: 'b' }, { json: { c: 1 } }] }),
        stop(1),
        delta(2, { text: 'It ' }),
        delta(2, { text: 'rains.' }),
        delta(2, { citation: { title: 'Weather', location: { web: { url: 'u' } } } }),
        stop(2),
        start(3, { image: { format: 'png' } }),
        delta(3, { image: { source: { bytes: Uint8Array.from([1]) } } }),
        delta(3, { image: { source: { bytes: Uint8Array.from([2]) } } }),
        stop(3),
        end('end_turn'),
      ),
      { onText: (piece) => heard.push(piece) },
    );
    expect(text).toBe('It rains.');
    expect(heard).toEqual(['It ', 'rains.']);
    expect(items).toEqual([
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use', input: { q: 1 } } },
          {
            toolResult: {
              toolUseId: 's',
              type: 'nova_grounding_result',
              status: 'success',
              content: [{ text: 'ab' }, { json: { c: 1 } }],
            },
          },
          {
            citationsContent: {
              content: [{ text: 'It rains.' }],
              citations: [{ title: 'Weather', location: { web: { url: 'u' } } }],
            },
          },
          { image: { format: 'png', source: { bytes: Uint8Array.from([1, 2]) } } },
        ],
      },
    ]);
  });

  it('B058: whose arguments are no JSON is not finished, and asks for nothing', async () => {
    const summary = await readReply(
      stream(
        delta(0, { text: 'Look:' }),
        stop(0),
        start(1, { toolUse: { toolUseId: 'a', name: 'f' } }),
        delta(1, { toolUse: { input: '{"path":' } }),
        stop(1),
        end('tool_use'),
      ),
    );
    expect(summary).toMatchObject({ finish: 'incomplete', calls: [], text: '' });
    expect(summary.items).toEqual([{ role: 'assistant', content: [{ text: 'Look:' }] }]);
  });

  it('B184, B188: cut anywhere, is incomplete, keeps what was seen, and can be sent back', async () => {
    const events = [
      { messageStart: { role: 'assistant' } },
      delta(0, { reasoningContent: { text: 'Hm.' } }),
      delta(0, { reasoningContent: { signature: 's' } }),
      stop(0),
      delta(1, { text: 'One ' }),
      delta(1, { text: 'two.' }),
      stop(1),
      start(2, { toolUse: { toolUseId: 'a', name: 'f' } }),
      delta(2, { toolUse: { input: '{"path":1}' } }),
      stop(2),
      end('tool_use'),
    ];
    for (let cut = 0; cut < events.length; cut++) {
      const heard: string[] = [];
      const summary: ReplySummary<BedrockMessage> = await readReply(stream(...events.slice(0, cut)), {
        onText: (piece) => heard.push(piece),
      });
      expect(summary.finish).toBe('incomplete');
      const kinds = summary.items.flatMap(({ content = [] }) => content.map((block) => Object.keys(block)[0]));
      expect(kinds).toEqual(['reasoningContent', 'text', 'toolUse'].slice(0, cut < 5 ? 0 : cut < 10 ? 2 : 3));
      expect(JSON.stringify(summary.items)).toContain(heard.join(''));
    }
  });

  it('passes over what is not known', async () => {
    const summary = await readReply(
      stream(
        null,
        'ping',
        { $unknown: ['x', {}] },
        { xUnheardOf: {} },
        delta(0, { $unknown: ['y', {}] }),
        { contentBlockDelta: { contentBlockIndex: 1, delta: undefined } },
        stop(9),
        delta(2, { text: 'Hi.' }),
        stop(2),
        end('end_turn'),
      ),
    );
    expect(summary).toMatchObject({ finish: 'stop', text: 'Hi.', items: [{ content: [{ text: 'Hi.' }] }] });
  });

  it('rejects with an exception that an iterable hands on as an event', async () => {
    const given = { throttlingException: { message: 'Too many tokens', $metadata: {} } };
    const thrown = await readReply(stream(delta(0, { text: 'a' }), given)).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).toMatchObject({ name: 'ThrottlingException', message: 'Too many tokens' });
    expect(bedrockConverse().classifyError(thrown)).toEqual({ kind: 'retryable' });
    const own = new RangeError('mine');
    await expect(readReply(stream({ internalServerException: own }))).rejects.toBe(own);
  });

  it('is not begun where the signal is aborted', async () => {
    const reason = new Error('enough');
    const untouched: AsyncIterable<object> = { [Symbol.asyncIterator]: () => expect.unreachable() };
    await expect(readReply({ stream: untouched }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadReplyOptions, ReplySummary } from '../../src/adapters/adapter.ts';
import { type ChatMessage, type ChatReply, openaiChat } from '../../src/adapters/openai-chat.ts';
import { fingerprint } from '../../src/history/fingerprint.ts';
import { normalizeReply } from '../../src/reply.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';

const adapter = openaiChat();
const usage = { prompt_tokens: 1000, completion_tokens: 5, total_tokens: 1005, prompt_tokens_details: { cached_tokens: 896 } };
const measured = { inputTokens: 1000, outputTokens: 5, cachedInputTokens: 896 };
const call = (id: string, args = '{}') => ({ id, type: 'function', function: { name: 'look', arguments: args } });

/** Reads what servers send in spite of the types. */
function read(reply: unknown, options?: ReadReplyOptions): Promise<ReplySummary<ChatMessage>> {
  return adapter.readReply(reply as ChatReply, options);
}

function reply(message: object, finish: string | null = 'stop', fields: object = {}): object {
  return {
    id: 'c1',
    choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', content: null, ...message } }],
    usage,
    ...fields,
  };
}

const chunk = (delta: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

async function* stream(...chunks: unknown[]): AsyncGenerator<unknown> {
  yield* chunks;
}

/** Both forms of one reply. */
const forms = {
  object: (message: object, finish: string | null) => reply(message, finish),
  stream: (message: object, finish: string | null) =>
    stream(chunk({ role: 'assistant' }), chunk(message), chunk({}, finish), { choices: [], usage }),
};

describe.each(Object.entries(forms))('a reply as %s', (_form, make) => {
  it('has text, a finish, usage, and itself as a message for the next request', async () => {
    expect(
      await read(make({ content: 'SUMMARY', refusal: null, annotations: [], audio: null, parsed: { a: 1 } }, 'stop')),
    ).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'assistant', content: 'SUMMARY' }],
      usage: measured,
    });
  });

  it('has calls, and no text: what was said before them is no answer', async () => {
    const tool_calls = [call('c1', '{"at":1}'), { id: 'c2', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }];
    expect(await read(make({ content: 'Looking.', tool_calls }, 'tool_calls'))).toEqual({
      text: '',
      finish: 'tool-calls',
      calls: [
        { type: 'toolCall', id: 'c1', name: 'look', input: { at: 1 } },
        { type: 'toolCall', id: 'c2', name: 'sql', input: 'SELECT 1' },
      ],
      items: [{ role: 'assistant', content: 'Looking.', tool_calls }],
      usage: measured,
    });
  });

  it('has the call of the legacy form', async () => {
    const function_call = { name: 'look', arguments: '{"at":1}' };
    expect(await read(make({ function_call }, 'function_call'))).toMatchObject({
      finish: 'tool-calls',
      calls: [{ id: 'function_call:look', name: 'look', input: { at: 1 } }],
      items: [{ role: 'assistant', function_call }],
    });
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'content-filter'],
    ['tool_calls', 'tool-calls'],
    ['function_call', 'tool-calls'],
    ['eos', 'stop'],
    ['tool_use', 'tool-calls'],
    ['whatever', 'other'],
    [null, 'incomplete'],
    ['', 'incomplete'],
  ])('ends by %j as %s', async (finish, expected) => {
    expect(await read(make({ content: 'x' }, finish))).toMatchObject({ finish: expected, text: 'x' });
  });

  it('is a refusal where it refuses, and keeps it', async () => {
    expect(await read(make({ refusal: 'I cannot help with that.' }, 'stop'))).toMatchObject({
      finish: 'refusal',
      text: '',
      items: [{ role: 'assistant', refusal: 'I cannot help with that.' }],
    });
  });

  it('has called tools where a server says `stop` all the same', async () => {
    expect(await read(make({ tool_calls: [call('c1')] }, 'stop'))).toMatchObject({ finish: 'tool-calls' });
  });

  it('B059: does not take thinking for text, and keeps it for the server', async () => {
    expect(await read(make({ reasoning_content: 'Hmm.', content: null }, 'length'))).toMatchObject({
      text: '',
      finish: 'length',
      items: [],
    });
    expect(await read(make({ reasoning_content: 'Hmm.', content: 'Yes.' }, 'stop'))).toMatchObject({
      text: 'Yes.',
      items: [{ role: 'assistant', reasoning_content: 'Hmm.', content: 'Yes.' }],
    });
  });

  it('B184: gives calls that were cut as they came, so that leaving them out can be reported', async () => {
    const tool_calls = [call('c1'), call('c2', '{"path": "/a')];
    for (const finish of ['length', null]) {
      const summary = await read(make({ content: 'x', tool_calls }, finish));
      expect(summary.calls).toMatchObject([
        { id: 'c1', input: {} },
        { id: 'c2', input: '{"path": "/a' },
      ]);
      const kept = normalizeReply(adapter, summary);
      expect(kept.calls).toEqual([]);
      expect(kept.repairs).toHaveLength(1);
      expect(JSON.stringify(kept.items)).not.toMatch(/c1|c2/);
    }
  });

  it('does not take for a call what has neither function nor tool', async () => {
    expect(await read(make({ content: 'x', tool_calls: [{ id: 'c1', type: 'function' }, null] }, null))).toMatchObject({
      calls: [],
      items: [{ role: 'assistant', content: 'x' }],
    });
  });

  it('reads content of several parts', async () => {
    const content = [
      { type: 'thinking', thinking: [] },
      { type: 'text', text: 'SUM' },
      { type: 'text', text: 'MARY' },
    ];
    expect(await read(make({ content }, 'stop'))).toMatchObject({ text: 'SUMMARY' });
  });

  it('gives spoken words as a reference', async () => {
    const audio = { id: 'audio_1', data: 'AAAA', expires_at: 1, transcript: 'Spoken.' };
    expect((await read(make({ audio }, 'stop'))).items).toEqual([{ role: 'assistant', audio: { id: 'audio_1' } }]);
  });

  it('hands over the text', async () => {
    const texts: string[] = [];
    await read(make({ content: 'SUMMARY' }, 'stop'), { onText: (text) => texts.push(text) });
    expect(texts).toEqual(['SUMMARY']);
  });

  it('gives a message that reads like the reply pushed back as it came', async () => {
    const message = {
      role: 'assistant',
      content: 'x',
      refusal: null,
      annotations: [],
      reasoning_content: 'Hmm.',
      tool_calls: [call('c1')],
    };
    const [item] = (await read(make(message, 'tool_calls'))).items;
    expect(fingerprint(item && adapter.readItem(item))).toBe(fingerprint(adapter.readItem(message)));
  });
});

describe('a reply object', () => {
  it('is the first choice', async () => {
    const choices = [
      { index: 1, finish_reason: 'stop', message: { content: 'second' } },
      { index: 0, finish_reason: 'stop', message: { content: 'first' } },
    ];
    expect(await read({ choices })).toMatchObject({ text: 'first', usage: undefined });
  });

  it.each([undefined, null, 'text', 7, {}, { choices: null }])('that is %j is refused by name', async (broken) => {
    await expect(read(broken)).rejects.toMatchObject({ code: 'invalid-request', message: expect.stringContaining('`choices`') });
  });

  it.each([{ choices: [] }, { choices: [null] }, { choices: [{ message: null }] }])(
    'that is %j is incomplete',
    async (broken) => {
      expect(await read(broken)).toEqual({ text: '', finish: 'incomplete', calls: [], items: [], usage: undefined });
    },
  );

  it('stays as it was', async () => {
    const before = reply({ content: 'x', refusal: null, tool_calls: [{ ...call('c1'), index: 0 }] });
    const copy = structuredClone(before);
    await read(before);
    expect(before).toEqual(copy);
  });

  it.each([
    ['the body', { error: { code: 502, message: 'Upstream failed' } }],
    [
      'the choice',
      { choices: [{ finish_reason: 'error', error: { code: 502, message: 'Upstream failed' }, message: { content: 'half' } }] },
    ],
  ])('rejects with an error in %s', async (_where, body) => {
    const error = await read(body).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: 'The provider answered with an error: Upstream failed' });
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable' });
  });

  it('rejects when it was aborted', async () => {
    const reason = new Error('enough');
    await expect(read(reply({ content: 'x' }), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('a stream', () => {
  it('hands over each piece of text, and puts the pieces together', async () => {
    const texts: string[] = [];
    const summary = await read(
      stream(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'SUM', reasoning_content: 'a' }),
        null,
        'ping',
        chunk({ content: 'MARY', reasoning_content: 'b', role: 'assistant' }),
        chunk({}, 'stop'),
        { choices: [], usage },
        { choices: [], usage: null },
      ),
      { onText: (text) => texts.push(text) },
    );
    expect(texts).toEqual(['SUM', 'MARY']);
    expect(summary).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'assistant', content: 'SUMMARY', reasoning_content: 'ab' }],
      usage: measured,
    });
  });

  it('puts interleaved calls together by index', async () => {
    const summary = await read(
      stream(
        chunk({ tool_calls: [{ index: 1, id: 'c2', type: 'function', function: { name: 'look', arguments: '{"b"' } }] }),
        chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }] }),
        chunk({
          tool_calls: [
            { index: 0, function: { arguments: '{"a":' } },
            { index: 1, function: { arguments: ':2}' } },
          ],
        }),
        chunk({ tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '1}' } }] }),
        chunk({}, 'tool_calls'),
      ),
    );
    expect(summary.items).toEqual([{ role: 'assistant', tool_calls: [call('c1', '{"a":1}'), call('c2', '{"b":2}')] }]);
  });

  it.each([[{ index: 0 }], [{}]])('keeps apart whole calls that all come with %j', async (place) => {
    const extra = { extra_content: { google: { thought_signature: 's' } } };
    const summary = await read(
      stream(
        chunk({ tool_calls: [{ ...place, ...call('c1', '{"a":1}'), ...extra }] }),
        chunk({ tool_calls: [{ ...place, ...call('c2') }] }),
        chunk({}, 'stop'),
      ),
    );
    expect(summary.items).toEqual([{ role: 'assistant', tool_calls: [{ ...call('c1', '{"a":1}'), ...extra }, call('c2')] }]);
  });

  it('takes a repeated id and name for what they are', async () => {
    const summary = await read(
      stream(
        chunk({ tool_calls: [{ index: 0, ...call('c1', '{"a"') }] }),
        chunk({ tool_calls: [{ index: 0, ...call('c1', ':1}') }] }),
        chunk({}, 'tool_calls'),
      ),
    );
    expect(summary.calls).toEqual([{ type: 'toolCall', id: 'c1', name: 'look', input: { a: 1 } }]);
  });

  it('puts the details of thinking together by index and type', async () => {
    const summary = await read(
      stream(
        chunk({ reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'a', format: 'f' }] }),
        chunk({ reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'b', format: 'f', signature: 's' }] }),
        chunk({ reasoning_details: [{ index: 0, type: 'reasoning.encrypted', data: 'x', id: 'r1' }] }),
        chunk({ reasoning_details: [{ index: 0, type: 'reasoning.encrypted', data: 'y', id: 'r2' }], content: 'Yes.' }),
        chunk({}, 'stop'),
      ),
    );
    expect(summary.items).toEqual([
      {
        role: 'assistant',
        content: 'Yes.',
        reasoning_details: [
          { index: 0, type: 'reasoning.text', text: 'ab', format: 'f', signature: 's' },
          { index: 0, type: 'reasoning.encrypted', data: 'x', id: 'r1' },
          { index: 0, type: 'reasoning.encrypted', data: 'y', id: 'r2' },
        ],
      },
    ]);
  });

  it('follows the first of several choices', async () => {
    const other = { choices: [{ index: 1, delta: { content: 'other' }, finish_reason: 'length' }] };
    expect(await read(stream(other, chunk({ content: 'first' }), other, chunk({}, 'stop'), other))).toMatchObject({
      text: 'first',
      finish: 'stop',
    });
  });

  it('is not misled by indexes of any size', async () => {
    const summary = await read(
      stream(
        chunk({
          tool_calls: [
            { index: 4_000_000_000, ...call('c1') },
            { index: -1, ...call('c2') },
          ],
        }),
        chunk({}, 'tool_calls'),
      ),
    );
    expect(summary.calls.map(({ id }) => id)).toEqual(['c2', 'c1']);
  });

  it('rejects with an error in its middle', async () => {
    const error = await read(
      stream(chunk({ content: 'half' }), { error: { type: 'server_error', message: 'The server had an error' } }),
    ).catch((thrown: unknown) => thrown);
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable' });
    const failure = new Error('from the SDK');
    async function* failing(): AsyncGenerator<object> {
      yield chunk({ content: 'half' });
      throw failure;
    }
    await expect(read(failing())).rejects.toBe(failure);
  });

  /** A stream that says one word, then hangs. */
  function hanging(): { reply: AsyncIterable<object>; closed: () => boolean } {
    let closed = false;
    let said = false;
    return {
      closed: () => closed,
      reply: {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            if (said) return new Promise<never>(() => {});
            said = true;
            return Promise.resolve({ done: false, value: chunk({ content: 'half' }) });
          },
          return: () => {
            closed = true;
            return new Promise<never>(() => {});
          },
        }),
      },
    };
  }

  it('rejects promptly when it is aborted while it hangs, and is closed', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { reply: hung, closed } = hanging();
    await expect(
      read(hung, { signal: controller.signal, onText: () => queueMicrotask(() => controller.abort(reason)) }),
    ).rejects.toBe(reason);
    expect(closed()).toBe(true);
  });

  it('is not touched when it was aborted before', async () => {
    const reason = new Error('enough');
    let touched = false;
    const untouched = {
      [Symbol.asyncIterator]: () => {
        touched = true;
        return stream();
      },
    };
    await expect(read(untouched, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(touched).toBe(false);
  });

  it('rejects also where an aborted stream ends without a word', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    async function* silent(): AsyncGenerator<object> {
      yield chunk({ content: 'half' });
      controller.abort(reason);
    }
    await expect(read(silent(), { signal: controller.signal })).rejects.toBe(reason);
  });

  it('is closed when the taker of its text fails', async () => {
    const { reply: hung, closed } = hanging();
    const failure = new Error('full');
    const onText = (): never => {
      throw failure;
    };
    await expect(read(hung, { onText })).rejects.toBe(failure);
    expect(closed()).toBe(true);
  });

  it('leaves nothing behind on the signal', async () => {
    let listeners = 0;
    const { signal } = new AbortController();
    const watched = Object.create(signal, {
      aborted: { value: false },
      addEventListener: { value: () => void listeners++ },
      removeEventListener: { value: () => void listeners-- },
    });
    await read(stream(chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop')), { signal: watched });
    await new Promise((resolve) => setTimeout(resolve));
    expect(listeners).toBe(0);
  });

  it('may be long', async () => {
    async function* long(): AsyncGenerator<object> {
      for (let index = 0; index < 20_000; index++) {
        yield chunk({ content: 'word ', tool_calls: [{ index, ...call(`c${index}`) }] });
      }
      yield chunk({}, 'tool_calls');
    }
    const summary = await read(long());
    expect(summary.calls).toHaveLength(20_000);
    expect(summary.items).toMatchObject([{ content: 'word '.repeat(20_000) }]);
  });
});

describe('a stream cut anywhere', () => {
  const full = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Look' }),
    chunk({ content: 'ing.' }),
    chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"at"' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
    chunk({ tool_calls: [{ index: 1, ...call('c2') }] }),
    chunk({}, 'tool_calls'),
  ];

  it('B188: is incomplete, and what came of it is legal and loses no text', async () => {
    for (let end = 0; end < full.length; end++) {
      const summary = await read(stream(...full.slice(0, end)));
      expect(summary.finish).toBe('incomplete');
      const { items, calls } = normalizeReply(adapter, summary);
      const messages = [
        { role: 'user', content: 'Hello' },
        ...items,
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Not run.' })),
        { role: 'user', content: 'Go on' },
      ];
      expect(validateOpenAiChat({ model: 'm', messages })).toEqual([]);
      expect(JSON.stringify(items)).toContain(['', '', 'Look', 'Looking.'][end] ?? 'Looking.');
    }
  });
});

describe('any reply', () => {
  const field = fc.oneof(fc.anything(), fc.constant(null), fc.string());
  const anyCall = fc.record(
    { index: field, id: field, type: field, function: fc.oneof(field, fc.record({ name: field, arguments: field })) },
    { requiredKeys: [] },
  );
  const anyMessage = fc.record(
    { content: field, refusal: field, tool_calls: fc.oneof(field, fc.array(anyCall)), audio: field, __proto__: field },
    { requiredKeys: [] },
  );
  const anyFinish = fc.constantFrom('stop', 'length', 'tool_calls', null);

  it('can be read, as object and as stream', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage), anyFinish, field, async (messages, finish, odd) => {
        for (const form of [
          reply(messages[0] ?? {}, finish),
          stream(odd, ...messages.map((message) => chunk(message)), chunk({}, finish)),
        ]) {
          const summary = await read(form).catch((error: unknown) => error);
          if (summary instanceof Error) expect(summary.message).toMatch(/^The provider answered with an error/);
          else expect(summary).toMatchObject({ text: expect.any(String), finish: expect.any(String) });
        }
      }),
    );
  });
});

it('an abort inside onText ends the reading of a stream that hangs', async () => {
  const abort = new AbortController();
  async function* hanging() {
    yield { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] };
    await new Promise(() => undefined);
  }
  const reading = adapter.readReply(hanging(), { signal: abort.signal, onText: () => abort.abort('stop') });
  await expect(reading).rejects.toBe('stop');
});

import { describe, expect, it } from 'vitest';
import type { CompactionEvent } from '../../src/events.ts';
import {
  type GenkitCallOptions,
  type GenkitMessage,
  type GenkitMiddlewareOptions,
  type GenkitReply,
  type GenkitRequest,
  genkitMiddleware,
} from '../../src/frameworks/genkit.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

const say = (role: string, text: string): GenkitMessage => ({ role, content: [{ text }] });
const long = (): GenkitRequest => ({
  messages: [say('user', 'x'.repeat(8000)), say('model', 'Read.'), say('user', 'And now?')],
});
const reply = (text: string, usage: object = {}): GenkitReply => ({ message: say('model', text), finishReason: 'stop', usage });

interface Call {
  request: GenkitRequest;
  options: GenkitCallOptions | undefined;
}

function start(options: GenkitMiddlewareOptions<GenkitRequest, GenkitReply> = {}) {
  const events: CompactionEvent[] = [];
  const calls: Call[] = [];
  const middleware = genkitMiddleware({
    contextWindow: 10_000,
    budget: { threshold: 1000, countTokens },
    onEvent: (event) => void events.push(event),
    ...options,
  });
  const next = async (request: GenkitRequest, passed: GenkitCallOptions | undefined): Promise<GenkitReply> => {
    calls.push({ request, options: passed });
    return reply(goodSummary);
  };
  return { middleware, events, calls, next };
}

describe('genkitMiddleware', () => {
  it('has the three parameters by which Genkit tells that it takes the options', () => {
    expect(genkitMiddleware()).toHaveLength(3);
  });

  it('passes what needs no compaction through: the very same request, options and reply', async () => {
    const { middleware } = start();
    const request: GenkitRequest = { messages: [say('user', 'Hello')] };
    const options = { onChunk: () => {}, abortSignal: new AbortController().signal, context: { user: 'me' } };
    const answer = reply('Hello.');
    const seen: unknown[] = [];
    const result = await middleware(request, options, async (...passed) => {
      seen.push(...passed);
      return answer;
    });
    expect(result).toBe(answer);
    expect(seen[0]).toBe(request);
    expect(seen[1]).toBe(options);
  });

  it('sends the summary request by the same call, with a signal of its own, and hides its chunks', async () => {
    const { middleware, calls, events, next } = start();
    const chunks: unknown[] = [];
    const options = {
      onChunk: (chunk: unknown) => void chunks.push(chunk),
      abortSignal: new AbortController().signal,
      context: { user: 'me' },
    };
    await middleware(long(), options, async (request, passed) => {
      passed.onChunk('private?');
      return next(request, passed);
    });
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    const [summary, turn] = calls;
    expect(calls).toHaveLength(2);
    expect(turn?.options).toBe(options);
    expect(turn?.request.messages).toHaveLength(1);
    expect(summary?.options).toMatchObject({ context: { user: 'me' }, onChunk: expect.any(Function) });
    expect(summary?.options?.abortSignal).not.toBe(options.abortSignal);
    expect(chunks).toEqual(['private?']);
  });

  it('streams no summary where nothing is streamed, with options and without', async () => {
    for (const options of [undefined, {}, { onChunk: undefined }]) {
      const { middleware, calls, next } = start();
      await middleware(long(), options, next);
      expect(calls).toHaveLength(2);
      expect(calls[0]?.options?.onChunk).toBeUndefined();
      expect(calls[0]?.options?.abortSignal).toBeInstanceOf(AbortSignal);
      expect(calls[1]?.options).toBe(options);
    }
  });

  it('throws what the call throws, and does not call twice', async () => {
    const { middleware } = start({ when: 'never' });
    const failure = new Error('busy');
    let calls = 0;
    const outcome = middleware(long(), undefined, async () => {
      calls++;
      throw failure;
    });
    await expect(outcome).rejects.toBe(failure);
    expect(calls).toBe(1);
  });

  it('sends nothing for a caller that has left', async () => {
    const { middleware, calls, next } = start();
    await expect(middleware(long(), { abortSignal: AbortSignal.abort('left') }, next)).rejects.toBe('left');
    expect(calls).toEqual([]);
  });

  it('takes the usage of a reply, and whatever a reply may be', async () => {
    const { middleware } = start();
    const request: GenkitRequest = { messages: [say('user', 'Hello there, how are you?')] };
    await middleware(request, undefined, async () => reply('Fine.', { inputTokens: 123, outputTokens: 3 }));
    expect(middleware.compactor.estimate(request)).toMatchObject({ tokens: 123 });
    for (const odd of [undefined, null, 'text', { operation: { id: '1' } }])
      expect(await middleware(request, undefined, async () => odd as GenkitReply)).toBe(odd);
  });

  it('names conversations, so that they are told apart whatever they say', async () => {
    const names: (string | undefined)[] = [];
    let name = 'one';
    const { middleware, events, next } = start({
      conversation: () => name,
      commit: ({ conversation }) => void names.push(conversation),
    });
    await middleware(long(), undefined, next);
    name = 'two';
    await middleware(long(), undefined, next);
    expect(names).toEqual(['one', 'two']);
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
  });

  it('loses no turn for a fault of the host', async () => {
    const { middleware, calls, events, next } = start({
      conversation: () => {
        throw new Error('no context');
      },
    });
    const request: GenkitRequest = { messages: [say('user', 'Hello')] };
    await middleware(request, undefined, next);
    expect(calls[0]?.request).toBe(request);
    expect(noticesOf(events)).toEqual(['unreadable-request']);
    const odd = { messages: [{ role: 'robot' }] } as unknown as GenkitRequest;
    await middleware(odd, undefined, next);
    expect(calls[1]?.request).toBe(odd);
  });

  it('hands a conversation over to another process', async () => {
    const first = start();
    const request = long();
    await first.middleware(request, undefined, first.next);
    const second = start();
    second.middleware.compactor.restore(JSON.parse(JSON.stringify(first.middleware.compactor.snapshot(request))));
    await second.middleware(
      { messages: [...request.messages, say('model', 'Now.'), say('user', 'And then?')] },
      undefined,
      second.next,
    );
    expect(second.events).toEqual([]);
    expect(second.calls).toHaveLength(1);
    expect(second.calls[0]?.request.messages).toHaveLength(3);
    expect(JSON.stringify(second.calls[0]?.request.messages)).toContain('Ship it.');
  });

  it('compacts by hand with a `send` of its own alone', async () => {
    const { middleware } = start();
    await expect(middleware.compactor.compact(long())).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining('`summary.send`'),
    });
    const sent: GenkitRequest[] = [];
    const other = start({
      summary: {
        send: async (request) => {
          sent.push(request);
          return reply(goodSummary);
        },
      },
    });
    const { request } = await other.middleware.compactor.compact(long());
    expect(request.messages).toEqual([say('user', goodSummary)]);
    expect(sent).toHaveLength(1);
  });

  it('names an option that is wrong', () => {
    expect(() => genkitMiddleware({ conversation: 'one' } as object)).toThrow(
      'Expected `conversation` to be a function, got string.',
    );
    expect(() => genkitMiddleware({ contextWindow: -1 })).toThrow(expect.objectContaining({ code: 'invalid-options' }));
    expect(() => genkitMiddleware({ window: 1 } as object)).toThrow('there is no option `window`');
  });
});

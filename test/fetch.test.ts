import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ChatRequest } from '../src/adapters/openai-chat.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import type { CompactionEvent } from '../src/events.ts';
import { compactingFetch, type Fetch } from '../src/fetch.ts';
import type { CompactionCommit } from '../src/options.ts';
import { lifecycleOf, noticesOf } from './support/harness.ts';
import { isSummaryRequest } from './support/provider-server.ts';
import { goodSummary, longConversation, smallBudget } from './support/scripted-model.ts';

const url = 'https://provider.test/v1/chat/completions';
const usage = { prompt_tokens: 1234, completion_tokens: 5 };
const says = (content: string) =>
  Response.json({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage });

interface Call {
  input: string | URL | Request;
  init: RequestInit | undefined;
}

/** A `fetch` that keeps its calls and answers as a model does, unless it is told otherwise. */
function createProvider(answer: (body: ChatRequest, call: Call) => Response | Promise<Response> | undefined = () => undefined) {
  const calls: Call[] = [];
  const events: CompactionEvent[] = [];
  const fetch: Fetch = async (input, init) => {
    const call = { input, init };
    calls.push(call);
    const text = String(init?.body ?? '');
    const body = text.startsWith('{') ? JSON.parse(text) : {};
    return (await answer(body, call)) ?? says(isSummaryRequest({ messages: [], ...body }) ? goodSummary : 'Done.');
  };
  const options = {
    adapter: openaiChat(),
    ...smallBudget,
    fetch,
    onEvent: (event: CompactionEvent) => void events.push(event),
  };
  return { calls, events, options };
}

const post = (request: object, init: RequestInit = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(request),
  ...init,
});
const bodyAt = (calls: readonly Call[], index: number): ChatRequest => JSON.parse(String(calls.at(index)?.init?.body));

afterEach(() => vi.unstubAllGlobals());

describe('compactingFetch', () => {
  it('without a fetch of its own takes the global one, as it is when it is called', async () => {
    const { calls, options } = createProvider();
    const { fetch: provider, ...rest } = options;
    const fetch = compactingFetch(rest);
    vi.stubGlobal('fetch', provider);
    await fetch(url, post(longConversation()));
    expect(calls).toHaveLength(2);
  });

  it('calls the given fetch without a this, as browsers demand', async () => {
    const seen: unknown[] = [];
    const { options } = createProvider();
    const provider = function (this: unknown, input: string | URL | Request, init?: RequestInit) {
      seen.push(this);
      return options.fetch(input, init);
    };
    await compactingFetch({ ...options, fetch: provider })(url, post(longConversation()));
    expect(seen).toEqual([undefined, undefined]);
  });

  it('what is not rebuilt goes out with the very objects of the caller', async () => {
    const { calls, options } = createProvider();
    const fetch = compactingFetch(options);
    const init = Object.freeze(post({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }));
    const address = new URL(url);
    await fetch(address, init);
    expect(calls[0]!.input).toBe(address);
    expect(calls[0]!.init).toBe(init);
    const odd = { method: 'DELETE' };
    await fetch(url, odd);
    expect(calls[1]!.init).toBe(odd);
    await fetch(url);
    expect(calls[2]!.init).toBeUndefined();
  });

  it('the response of what passes through is the very one that came', async () => {
    const reply = Response.json({ data: [] });
    const { options } = createProvider(() => reply);
    const fetch = compactingFetch(options);
    expect(await fetch('https://provider.test/v1/models')).toBe(reply);
    expect(await fetch(url, { method: 'POST', body: 'no JSON' })).toBe(reply);
  });

  it('a rebuilt call and its summary keep what the caller said of the call', async () => {
    const { calls, options } = createProvider();
    const dispatcher = { name: 'proxy' };
    const headers = { Authorization: 'Bearer key', 'Content-Length': '99', 'Idempotency-Key': 'once' };
    const controller = new AbortController();
    const init = Object.freeze({
      ...post(longConversation()),
      headers,
      dispatcher,
      signal: controller.signal,
      redirect: 'error',
    });
    await compactingFetch(options)(url, init as RequestInit);
    const [summary, turn] = calls.map((call) => call.init);
    const { signal, body: _summaryBody, ...rest } = summary!;
    expect(rest).toEqual({ method: 'POST', dispatcher, redirect: 'error', headers: { Authorization: 'Bearer key' } });
    expect(signal).toBeInstanceOf(AbortSignal);
    expect(signal).not.toBe(controller.signal);
    const { body: _turnBody, ...turnRest } = turn!;
    expect(turnRest).toEqual({
      method: 'POST',
      dispatcher,
      redirect: 'error',
      signal: controller.signal,
      headers: { Authorization: 'Bearer key', 'Idempotency-Key': 'once' },
    });
  });

  it('keeps one conversation over its calls: the same bytes for the same call, no second summary', async () => {
    const { calls, options, events } = createProvider();
    const fetch = compactingFetch(options);
    for (let attempt = 0; attempt < 3; attempt++) await fetch(url, post(longConversation()));
    expect(calls).toHaveLength(4);
    expect(new Set(calls.slice(1).map(({ init }) => init?.body)).size).toBe(1);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('an abort rejects with its own reason, before, during and without a summary', async () => {
    const reason = new Error('the user left');
    const { calls, options } = createProvider(() => new Promise(() => undefined));
    const fetch = compactingFetch(options);
    await expect(fetch(url, post(longConversation(), { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(calls).toEqual([]);
    const controller = new AbortController();
    const call = fetch(url, post(longConversation(), { signal: controller.signal }));
    await expect.poll(() => calls.length).toBe(1);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(calls[0]!.init?.signal?.aborted).toBe(true);
  });

  it('calls with a signature of their body are never rebuilt, and reported once', async () => {
    const { calls, options, events } = createProvider();
    const fetch = compactingFetch(options);
    const init = post(longConversation(), { headers: { Authorization: 'AWS4-HMAC-SHA256 Credential=…' } });
    await fetch(url, init);
    await fetch(url, init);
    expect(calls.map((call) => call.init)).toEqual([init, init]);
    expect(noticesOf(events)).toEqual(['unreadable-request']);
  });

  it('calls of a model in another shape pass through, and are reported once', async () => {
    const { calls, events, options } = createProvider();
    const fetch = compactingFetch(options);
    for (const path of ['/v1/responses', '/v1/messages', '/v1beta/models/gemini:generateContent'])
      await fetch(`https://provider.test${path}`, post({ model: 'gpt-5' }));
    expect(calls).toHaveLength(3);
    expect(events).toMatchObject([
      { code: 'other-endpoint', message: '/v1/responses is no call of openai-chat: requests pass through uncompacted.' },
    ]);
    for (const path of ['/v1/embeddings', '/v1/messages/count_tokens', '/v1/responses/compact'])
      await fetch(`https://provider.test${path}`, post({ model: 'gpt-5' }));
    await fetch('https://provider.test/v1/responses', { method: 'GET' });
    expect(events).toHaveLength(1);
  });

  it('whatever fails before the call, it goes out as it was', async () => {
    const unreadable = { model: 'm', messages: [null] };
    const { calls, options, events } = createProvider();
    const nameless = compactingFetch({
      ...options,
      conversation: () => {
        throw new Error('no name');
      },
    });
    const inits = [post(longConversation()), post(unreadable), post({ model: 'm' }), post({ messages: 'x' })];
    await nameless(url, inits[0]);
    const fetch = compactingFetch(options);
    for (const init of inits.slice(1)) await fetch(url, init);
    expect(calls.map((call) => call.init)).toEqual(inits);
    expect(noticesOf(events)).toEqual(Array(4).fill('unreadable-request'));
    expect(events[0]).toMatchObject({ message: 'The request goes out as it is: Error was thrown' });
  });

  it('names conversations where it is told how, for the commit and the state of each', async () => {
    const commits: CompactionCommit<ChatRequest>[] = [];
    const { calls, options } = createProvider();
    const fetch = compactingFetch({
      ...options,
      commit: (commit) => void commits.push(commit),
      conversation: (_request, { headers }) => new Headers(headers).get('x-chat') ?? undefined,
    });
    for (const name of ['one', 'two']) await fetch(url, post(longConversation(), { headers: { 'x-chat': name } }));
    expect(commits.map(({ conversation }) => conversation)).toEqual(['one', 'two']);
    expect(calls).toHaveLength(4);
    // Another process takes it up.
    const other = createProvider();
    const resumed = compactingFetch({ ...other.options, conversation: () => 'one' });
    resumed.compactor.restore(JSON.parse(JSON.stringify(commits[0]!.snapshot)));
    await resumed(url, post(longConversation()));
    expect(other.calls).toHaveLength(1);
    expect(other.calls[0]!.init?.body).toBe(calls[1]!.init?.body);
  });

  it('usage of a reply is what the next estimate builds on, once it was read', async () => {
    const { options } = createProvider();
    const fetch = compactingFetch(options);
    const request = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
    const response = await fetch(url, post(request));
    expect(fetch.compactor.estimate(request).sources.tokens).toBe('estimate');
    await response.text();
    await expect.poll(() => fetch.compactor.estimate(request)).toMatchObject({ tokens: 1234, sources: { tokens: 'usage' } });
  });

  it('a reply that cannot be read, or did not end, measures nothing and reaches the caller', async () => {
    const cut = (fields: object) => JSON.stringify({ choices: [{ message: { content: 'x' }, ...fields }], usage });
    const event = { 'content-type': 'text/event-stream' };
    const replies: [string, Record<string, string>][] = [
      ['{"choices": [', { 'content-type': 'application/json' }],
      ['null', { 'content-type': 'application/json' }],
      [cut({}), { 'content-type': 'application/json' }],
      ['<html>', { 'content-type': 'text/html' }],
      ['data: {"error":{"message":"busy"}}\n\n', event],
      ['data: {{{\n\n', event],
      [`data: ${cut({})}\n\n`, event],
      ['', event],
    ];
    for (const [text, headers] of replies) {
      const { options } = createProvider(() => new Response(text, { headers }));
      const fetch = compactingFetch(options);
      const request = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
      expect(await (await fetch(url, post(request))).text()).toBe(text);
      await new Promise((resolve) => setTimeout(resolve, 2));
      expect(fetch.compactor.estimate(request).sources.tokens).toBe('estimate');
    }
  });

  it('a provider that fails for the summary costs the summary alone', async () => {
    const failures: (() => Response | Promise<Response>)[] = [
      () => Response.json({ error: { message: 'no' } }, { status: 400 }),
      () => new Response('<html>Bad gateway</html>', { headers: { 'content-type': 'text/html' } }),
      () => new Response(null, { status: 304 }),
      () => Promise.reject(new TypeError('Invalid URL')),
      () => new Response('data: {"error":{"message":"no"}}\n\n', { headers: { 'content-type': 'text/event-stream' } }),
      () => ({ ok: true, headers: new Headers() }) as Response,
    ];
    for (const fail of failures) {
      const { calls, options, events } = createProvider((body) => (isSummaryRequest(body) ? fail() : undefined));
      const init = post(longConversation());
      const response = await compactingFetch({ ...options, summary: { retries: 0 } })(url, init);
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Done.' } }] });
      expect(calls.at(-1)!.init).toBe(init);
      expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
    }
  });

  it('a summary that the provider finds too long is an overflow', async () => {
    const error = { message: 'context', code: 'context_length_exceeded' };
    const { options, events } = createProvider((body) =>
      isSummaryRequest(body) ? Response.json({ error }, { status: 400 }) : undefined,
    );
    await compactingFetch(options)(url, post(longConversation()));
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-overflow']);
  });

  it('an address with a key in it is in no event', async () => {
    const { options, events } = createProvider((body) =>
      isSummaryRequest(body) ? new Response('no', { status: 500 }) : undefined,
    );
    await compactingFetch({ ...options, summary: { retries: 0 } })(`${url}?key=very-secret`, post(longConversation()));
    const { error } = events.at(-1) as { error: Error & { cause: Error } };
    expect(`${error.message} ${error.stack} ${error.cause.message} ${error.cause.stack} ${JSON.stringify(events)}`).not.toContain(
      'very-secret',
    );
  });

  it('works on the words of a conversation as the caller has them, odd keys and numbers included', async () => {
    const { calls, options } = createProvider();
    const kept = '{"role":"user","content":"Go on \\u0000","__proto__":{"a":1}}';
    const conversation = longConversation();
    const text = JSON.stringify(conversation).replace(/\]\}$/, `,{"role":"assistant","content":"Read."},${kept}]}`);
    await compactingFetch(options)(url, { method: 'POST', body: text.replace('"tools"', '"seed":1e21,"tools"') });
    expect(calls).toHaveLength(2);
    expect(String(calls[0]!.init?.body)).toContain(kept);
    expect(String(calls[0]!.init?.body)).toContain('"seed":1e+21');
    expect(bodyAt(calls, 1)).toMatchObject({ seed: 1e21, tools: conversation.tools });
  });

  it('compacts by hand where it is told how a summary is sent', async () => {
    const { options } = createProvider();
    const alone = compactingFetch(options);
    await expect(alone.compactor.compact(longConversation())).rejects.toMatchObject({ code: 'invalid-options' });
    const summary = { send: async () => (await says(goodSummary)).json() };
    const fetch = compactingFetch({ ...options, summary });
    expect(await fetch.compactor.compact(longConversation())).toMatchObject({ request: { model: 'gpt-5' } });
  });

  it('wrong options are named', () => {
    const { options } = createProvider();
    const make = (wrong: object) => () => compactingFetch({ ...options, ...wrong } as typeof options);
    expect(make({ fetch: 'x' })).toThrow('Expected `fetch` to be a function, got string.');
    expect(make({ conversation: 'x' })).toThrow('Expected `conversation` to be a function, got string.');
    expect(make({ contextWindow: -1 })).toThrow('contextWindow');
    expect(make({ adapter: undefined })).toThrow('`adapter`');
    expect(make({ window: 1 })).toThrow('`window`');
    const { endpoint: _endpoint, ...adapter } = openaiChat();
    expect(make({ adapter })).toThrow(
      'Expected `adapter.endpoint` to be a regular expression, got undefined: requests of openai-chat are no bodies of HTTP.',
    );
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChatMessage, ChatReply, ChatRequest } from '../src/adapters/openai-chat.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { isCompactionError } from '../src/errors.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { deferred, never, watch } from './support/deferred.ts';
import { createLoop, isCompacted, lifecycleOf, noticesOf } from './support/harness.ts';
import { answers, callsTools, longConversation, says, streams, summarizes, toolTurn } from './support/scripted-model.ts';

const long = longConversation().messages;
const user = (content: string): ChatMessage => ({ role: 'user', content });
const short: ChatRequest = { model: 'gpt-5', messages: [{ role: 'system', content: 'Be exact.' }, user('Hi')] };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the history of a loop', () => {
  it('is given back as it was given: the very same items, in an array of its own', () => {
    const { loop } = createLoop();
    const request = longConversation();
    const own = createLoop({ request }).loop;
    expect(own.request).toEqual(request);
    own.request.messages.forEach((message, index) => {
      expect(message).toBe(request.messages[index]);
    });
    expect(own.request.messages).not.toBe(own.request.messages);
    expect(loop.history.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('grows by append alone: nothing is appended by `send` or `prepare`', async () => {
    const { loop } = createLoop({ request: short });
    await loop.send();
    await loop.prepare();
    expect(loop.request).toEqual(short);
    const item = user('More.');
    loop.append([item]);
    expect(loop.request.messages[2]).toBe(item);
  });

  it('takes nothing that cannot be read', () => {
    const { loop } = createLoop({ request: short });
    const cycle: { role: string; content: unknown } = { role: 'user', content: [] };
    cycle.content = [cycle];
    for (const item of [null, 'text', cycle]) {
      let error: unknown;
      try {
        loop.append([user('fine'), item as never]);
      } catch (thrown) {
        error = thrown;
      }
      expect(isCompactionError(error) && error.code).toBe('invalid-request');
      expect(loop.request).toEqual(short);
    }
    expect(() => createLoop({ request: { model: 'gpt-5' } as never })).toThrow('Expected `messages` to be an array');
  });

  it('is checked for options that are wrong', () => {
    expect(() => createLoop({ commitTimeout: -1 })).toThrow(
      'Expected `commitTimeout` to be a number of milliseconds over 0, got -1.',
    );
  });

  it('B048, B051: ends as the replacement, with the latest input of the user word for word and once', async () => {
    const { loop, model } = createLoop({ steps: [summarizes(), summarizes()] });
    await loop.send();
    loop.append(toolTurn('call_3', 'c'.repeat(6000)));
    await loop.send();
    expect(model.summaries).toHaveLength(2);
    const text = JSON.stringify(loop.request);
    expect(text.split('Read the second file.')).toHaveLength(2);
    expect(text.split('<compacted_context>')).toHaveLength(2);
    expect(loop.request.messages).toHaveLength(2);
  });
});

describe('appendReply', () => {
  it('adds the reply, object or stream, and tells what it says', async () => {
    for (const reply of [says('Hello.'), streams(['Hel', 'lo.'])]) {
      const { loop } = createLoop({ request: short });
      const heard: string[] = [];
      expect(await loop.appendReply(reply, { onText: (text) => heard.push(text) })).toEqual({
        text: 'Hello.',
        finish: 'stop',
        calls: [],
        items: loop.request.messages.slice(2),
        usage: { inputTokens: 1000, outputTokens: 100 },
      });
      expect(heard.join('')).toBe('Hello.');
      expect(loop.request.messages[2]).toMatchObject({ role: 'assistant', content: 'Hello.' });
    }
  });

  it('brings the calls to run', async () => {
    const { loop } = createLoop({ request: short });
    const { calls } = await loop.appendReply(callsTools(['a', 'b'], 'Reading.'));
    expect(calls).toEqual(['a', 'b'].map((id) => ({ type: 'toolCall', id, name: 'read', input: { path: 'a.ts' } })));
    loop.append(['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'text' }) as ChatMessage));
    expect(validateOpenAiChat(loop.request)).toEqual([]);
  });

  it('B184: leaves out calls of a reply that was cut, and says so', async () => {
    const { loop, events } = createLoop({ request: short });
    const cut = says('Reading.', null, {
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } }],
    });
    expect(await loop.appendReply(cut)).toMatchObject({ finish: 'incomplete', calls: [] });
    loop.append([user('Go on.')]);
    expect(JSON.stringify(loop.request)).not.toContain('tool_calls');
    expect(noticesOf(events)).toEqual(['repaired']);
  });

  it.each<[string, () => ChatReply]>([
    ['an error inside the reply', () => ({ error: { message: 'overloaded' } }) as never],
    [
      'a stream that breaks',
      () =>
        streams(['Hel', 'lo'], 'stop', (index) => {
          if (index === 1) throw new Error('connection lost');
        }),
    ],
  ])('adds nothing where reading fails: %s', async (_name, reply) => {
    const { loop } = createLoop({ request: short });
    await expect(loop.appendReply(reply())).rejects.toThrow();
    expect(loop.request).toEqual(short);
  });

  it('rejects with the reason of an abort, nothing added', async () => {
    const { loop } = createLoop({ request: short });
    const abort = new AbortController();
    const reading = watch(
      loop.appendReply(
        streams(['Hel', 'lo'], 'stop', () => never()),
        { signal: abort.signal },
      ),
    );
    await vi.advanceTimersByTimeAsync(1);
    abort.abort('stop');
    await vi.advanceTimersByTimeAsync(1);
    expect(reading.settlement).toEqual({ state: 'rejected', reason: 'stop' });
    expect(loop.request).toEqual(short);
  });

  it('adds nothing to a loop that was reset meanwhile', async () => {
    const { loop } = createLoop({ request: short });
    const gate = deferred();
    const reading = watch(loop.appendReply(streams(['Hello.'], 'stop', () => gate.promise)));
    await vi.advanceTimersByTimeAsync(1);
    loop.reset({ ...short, messages: [user('New.')] });
    gate.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect(reading.settlement).toMatchObject({ state: 'rejected', reason: { code: 'reset' } });
    expect(loop.request.messages).toEqual([user('New.')]);
  });
});

describe('usage', () => {
  const reported = (tokens: number): ChatReply => ({ ...says('Done.'), usage: { prompt_tokens: tokens, completion_tokens: 9 } });

  it('of a reply is the base of the next estimate', async () => {
    const { loop } = createLoop({ request: short, turn: answers(reported(77)) });
    await loop.send();
    expect(loop.estimate()).toMatchObject({ tokens: 77, sources: { tokens: 'usage' } });
    loop.append([user('x'.repeat(400))]);
    expect(loop.estimate().tokens).toBeGreaterThanOrEqual(177);
  });

  it('of a streamed reply is too', async () => {
    const { loop } = createLoop({ request: short });
    await loop.prepare();
    await loop.appendReply(streams(['Done.']));
    expect(loop.estimate()).toMatchObject({ sources: { tokens: 'usage' } });
  });

  it('is about the request that was sent, not about what was appended before the reply', async () => {
    const { loop } = createLoop({ request: short });
    const reply = await loop.send();
    loop.append([user('x'.repeat(4000))]);
    await loop.appendReply({ ...reply, usage: { prompt_tokens: 77, completion_tokens: 9 } } as ChatReply);
    expect(loop.estimate().tokens).toBeGreaterThan(1000);
  });

  it('B124: of a reply to the old history says nothing about the compacted one', async () => {
    const { loop, events } = createLoop({ when: 'tool-turn', request: { ...longConversation(), messages: long.slice(0, 6) } });
    const reply = await loop.send();
    await loop.compact();
    await loop.appendReply({ ...reply, usage: { prompt_tokens: 5000, completion_tokens: 9 } } as ChatReply);
    expect(loop.estimate().tokens).toBeLessThan(300);
    loop.append([user('Next.')]);
    await loop.send();
    expect(events).toEqual([]);
  });

  it('is not measured for a loop that was reset meanwhile', async () => {
    const reply = deferred<ChatReply>();
    const { loop } = createLoop({ request: short, turn: () => reply.promise });
    const sending = loop.send();
    await vi.advanceTimersByTimeAsync(1);
    loop.reset(short);
    reply.resolve(reported(5000));
    await sending;
    expect(loop.estimate().tokens).toBeLessThan(100);
  });
});

describe('prepare and send', () => {
  it('take fields for one request, never another conversation', async () => {
    const { loop, model } = createLoop({ request: short });
    await loop.send({ params: { max_tokens: 5, messages: [user('other')] } });
    expect(model.turns[0]?.request).toEqual({ ...short, max_tokens: 5 });
    expect(loop.request).toEqual(short);
  });

  it('give `send` its signal, name and purpose', async () => {
    const { loop, model } = createLoop({ request: short, state: { conversation: 'c1' } });
    const { signal } = new AbortController();
    await loop.send({ signal });
    await loop.send();
    expect(model.turns.map(({ context }) => context)).toEqual([
      { signal, purpose: 'turn', conversation: 'c1', attempt: 1 },
      { signal: expect.any(AbortSignal), purpose: 'turn', conversation: 'c1', attempt: 1 },
    ]);
  });

  it('need a `send` to compact and to send, and say so at once', async () => {
    const withoutSend = { adapter: openaiChat() };
    expect(() => new AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>(short, withoutSend)).toThrow('`send`');
    const loop = new AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>(short, { ...withoutSend, when: 'never' });
    expect(await loop.prepare()).toEqual(short);
    await expect(loop.send()).rejects.toMatchObject({ code: 'invalid-options' });
  });

  it('never compact for a one-shot request, nor where it is off', async () => {
    for (const options of [{ oneShot: true }, {}]) {
      const { loop, events, model } = createLoop({ when: options.oneShot ? 'turn' : 'never' });
      await loop.send(options);
      expect([events.length, model.summaries.length]).toEqual([0, 0]);
    }
  });
});

describe('update', () => {
  it('changes the system text and fields, not the conversation', () => {
    const { loop } = createLoop({ request: short });
    loop.update({ system: 'Be brief.', params: { model: 'gpt-5-mini', messages: [] } });
    expect(loop.request).toEqual({ model: 'gpt-5-mini', messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')] });
    loop.update({ system: '' });
    expect(loop.request.messages).toEqual([user('Hi')]);
    loop.update({});
    expect(loop.request.messages).toEqual([user('Hi')]);
  });
});

describe('reset', () => {
  it('starts over with the standing instructions, or with another request', async () => {
    const { loop } = createLoop();
    await loop.send();
    loop.reset();
    expect(loop.request).toEqual({ ...longConversation(), messages: [long[0]] });
    loop.reset(short);
    expect(loop.request).toEqual(short);
    expect(loop.snapshot()).toMatchObject({ replacements: [], trigger: { failures: 0, reported: [] } });
  });

  it('leaves everything as it is for a request that cannot be read', async () => {
    const { loop, events } = createLoop({ steps: [never] });
    const reply = watch(loop.send());
    await vi.advanceTimersByTimeAsync(1);
    expect(() => loop.reset({ model: 'gpt-5' } as never)).toThrow();
    await vi.advanceTimersByTimeAsync(1);
    expect(reply.settlement.state).toBe('pending');
    expect(loop.request.messages).toEqual(long);
    loop.cancelCompaction();
    await vi.advanceTimersByTimeAsync(1);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by child']);
  });
});

describe('a snapshot', () => {
  it('is plain data, and restores the loop beside its items', async () => {
    const { loop } = createLoop({ state: { conversation: 'c1' } });
    await loop.send();
    const snapshot = structuredClone(loop.snapshot());
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(JSON.parse(JSON.stringify(loop.snapshot())));
    const restored = createLoop({ request: loop.request, state: { snapshot } });
    expect(restored.loop.snapshot()).toEqual(loop.snapshot());
    restored.loop.append(toolTurn('call_3', 'c'.repeat(6000)));
    await restored.loop.send();
    expect(lifecycleOf(restored.events)).toEqual(['started', 'applied']);
    expect(isCompacted(restored.loop.request)).toBe(true);
    expect(JSON.stringify(restored.loop.request).split('Read the second file.')).toHaveLength(2);
  });

  it('of a commit restores what was committed, in a loop and in a compactor', async () => {
    const { loop, stored } = createLoop();
    await loop.send();
    const [commit] = structuredClone(stored);
    if (!commit) throw new Error('Expected a commit.');
    const restored = createLoop({ request: commit.request, state: { snapshot: commit.snapshot } });
    expect(restored.loop.snapshot()).toEqual(loop.snapshot());
    expect(restored.loop.request).toEqual(loop.request);
  });

  it('of an unknown version is refused', () => {
    expect(() => createLoop({ state: { snapshot: { version: 2 } as never } })).toThrow(
      'Expected a snapshot of version 1, got 2.',
    );
  });
});

describe('cancelCompaction', () => {
  it('does nothing where none is under way', async () => {
    const { loop, events } = createLoop();
    loop.cancelCompaction();
    await loop.send();
    loop.cancelCompaction();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });
});

import { describe, expect, it, vi } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { deferred } from './support/deferred.ts';
import { freezeDeep } from './support/freeze.ts';
import { createWrapper, isCompacted, lifecycleOf, noticesOf } from './support/harness.ts';
import { httpError, longConversation, says, smallBudget, streams, throws, toolTurn } from './support/scripted-model.ts';

const grown = (turns: number) => {
  const request = longConversation();
  return {
    ...request,
    messages: [...request.messages, ...Array.from({ length: turns }, (_, index) => toolTurn(`more_${index}`, 'short')).flat()],
  };
};

describe('a wrapped call', () => {
  it('sends each request once, and gives back the reply untouched', async () => {
    const reply = freezeDeep({ ...says('Done.'), usage: { prompt_tokens: 200, completion_tokens: 1 } });
    const { create, model } = createWrapper({ turn: () => reply });
    expect(await create(longConversation())).toBe(reply);
    expect(await create(grown(1))).toBe(reply);
    expect(model.turns).toHaveLength(2);
    expect(model.summaries).toHaveLength(1);
    expect(model.turns.every(({ request }) => isCompacted(request))).toBe(true);
  });

  it('never touches a stream', async () => {
    let pulled = 0;
    const stream = streams(['Do', 'ne.'], 'stop', () => pulled++);
    const { create } = createWrapper({ turn: () => stream });
    expect(await create({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello.' }] })).toBe(stream);
    expect(pulled).toBe(0);
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks).toHaveLength(4);
  });

  it('tells `send` what a request is for', async () => {
    const controller = new AbortController();
    const { create, model, events } = createWrapper();
    await create(longConversation(), { conversation: 'mine', signal: controller.signal });
    const started = events.find(({ type }) => type === 'auto_compaction_started');
    expect(model.summaries[0]?.context).toMatchObject({ purpose: 'summary', conversation: 'mine', attempt: 1 });
    expect(started).toMatchObject({ compactionId: model.summaries[0]?.context.compactionId, conversation: 'mine' });
    expect(model.turns[0]?.context).toEqual({ purpose: 'turn', conversation: 'mine', attempt: 1, signal: controller.signal });
    await create(grown(1));
    expect(model.turns[1]?.context.signal.aborted).toBe(false);
  });

  it('takes the usage of a reply for the next estimate', async () => {
    const { create } = createWrapper({ turn: () => ({ ...says('Done.'), usage: { prompt_tokens: 777, completion_tokens: 1 } }) });
    await create(longConversation());
    expect(create.compactor.estimate(longConversation())).toMatchObject({ tokens: 777, sources: { tokens: 'usage' } });
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a number', 5],
    ['a text', 'text'],
    ['an empty object', {}],
    ['no usage', { usage: 'much' }],
    [
      'a getter that throws',
      {
        get usage() {
          throw new Error('no');
        },
      },
    ],
  ])('loses no reply, however odd: %s', async (_name, odd) => {
    const reply = odd as never; // as a compatible server may send
    for (const adapter of [openaiChat(), anthropicMessages()]) {
      const create = withAutoCompaction(
        async (_request: { model: string; messages: { role: string; content: string }[] }) => reply,
        {
          adapter: adapter as ReturnType<typeof openaiChat>, // both take such a request
          ...smallBudget,
        },
      );
      expect(await create({ model: 'm', messages: [{ role: 'user', content: 'Hello.' }] })).toBe(reply);
    }
  });

  it('goes on with its full history where the summary fails', async () => {
    const { create, model, events } = createWrapper({ steps: [throws(httpError(400, 'no'))] });
    const request = longConversation();
    await create(request);
    expect(model.turns[0]?.request).toBe(request);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
  });

  it('rejects with the very error of the provider, unwrapped and not repeated', async () => {
    const error = httpError(500, 'down');
    const { create, model } = createWrapper({ turn: throws(error) });
    await expect(create(longConversation())).rejects.toBe(error);
    expect(model.turns).toHaveLength(1);
    expect(model.summaries).toHaveLength(1);
    await expect(create(longConversation())).rejects.toBe(error);
    expect(model.summaries).toHaveLength(1); // the compaction was not in vain
  });

  it('rejects with the reason of an abort, and sends nothing then', async () => {
    const reason = { why: 'the user left' };
    const { create, model } = createWrapper();
    await expect(create(longConversation(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect([model.turns.length, model.summaries.length]).toEqual([0, 0]);

    const controller = new AbortController();
    const hanging = createWrapper({ steps: [() => new Promise(() => {})] });
    const call = hanging.create(longConversation(), { signal: controller.signal });
    await vi.waitFor(() => expect(hanging.model.summaries).toHaveLength(1));
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(hanging.model.turns).toHaveLength(0);
    expect(lifecycleOf(hanging.events)).toEqual(['started', 'cancelled by parent']);
  });

  it('does not compact for a one-shot request', async () => {
    const { create, model } = createWrapper();
    await create(longConversation(), { oneShot: true });
    expect([model.turns.length, model.summaries.length]).toEqual([1, 0]);
  });

  it('sends summary requests elsewhere where that is asked for', async () => {
    const asked: unknown[] = [];
    const { create, model } = createWrapper({
      summary: {
        send: async (request, { purpose }) => {
          asked.push(purpose, request.model);
          return says('## Goal\nShip it.');
        },
      },
    });
    await create(longConversation());
    expect(asked).toEqual(['summary', 'gpt-5']);
    expect(model.summaries).toHaveLength(0);
    expect(model.turns[0]?.request && isCompacted(model.turns[0].request)).toBe(true);
  });

  it('shares one compaction among calls of one conversation that come at once', async () => {
    const gate = deferred();
    const { create, model } = createWrapper({ steps: [() => gate.promise.then(() => says('## Goal\nShip it.'))] });
    const request = longConversation();
    const calls = [create(request), create(request), create(structuredClone(request))];
    gate.resolve();
    await Promise.all(calls);
    expect(model.summaries).toHaveLength(1);
    expect(model.turns).toHaveLength(3);
    expect(model.turns.every(({ request: sent }) => isCompacted(sent))).toBe(true);
  });

  it('keeps conversations apart that compact at the same time', async () => {
    const gates = [deferred(), deferred()];
    const { create, model, events } = createWrapper({
      steps: gates.map((gate, index) => () => gate.promise.then(() => says(`## Goal\nSummary ${index}.`))),
    });
    const named = (name: string) => {
      const { messages, ...rest } = longConversation();
      return {
        ...rest,
        messages: messages.map((message) =>
          message.content === 'Read the first file.' ? { ...message, content: `Read ${name}.` } : message,
        ),
      };
    };
    const calls = [create(named('alpha')), create(named('beta'))];
    gates[1]?.resolve();
    await calls[1];
    gates[0]?.resolve();
    await calls[0];
    expect(model.summaries).toHaveLength(2);
    expect(lifecycleOf(events).sort()).toEqual(['applied', 'applied', 'started', 'started']);
    const [first, second] = model.turns.map(({ request }) => JSON.stringify(request));
    expect(first).toContain('Summary 1.');
    expect(second).toContain('Summary 0.');
  });

  it('tells of a request that cannot be read, and sends it as it is', async () => {
    const { create, model, events } = createWrapper();
    const request = { model: 'gpt-5', messages: 'none' } as never; // wrong on purpose
    await create(request);
    expect(model.turns[0]?.request).toBe(request);
    expect(noticesOf(events)).toEqual(['unreadable-request']);
    expect(events[0]).toMatchObject({ message: expect.stringContaining('`messages`') });
  });

  it('has a compactor of its own, for estimates and manual compaction', async () => {
    const { create, model } = createWrapper({ when: 'never' });
    expect(create.compactor.estimate(longConversation()).overThreshold).toBe(true);
    await create.compactor.compact(longConversation());
    await create(grown(1));
    expect(model.turns[0]?.request.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  });
});

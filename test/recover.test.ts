import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import type { ChatMessage, ChatRequest } from '../src/adapters/openai-chat.ts';
import { openaiResponses } from '../src/adapters/openai-responses.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { createLoop, createWrapper, eventOf, isCompacted, lifecycleOf, noticesOf, type WorldOptions } from './support/harness.ts';
import {
  countTokens,
  httpError,
  longConversation,
  type ScriptedModel,
  type Step,
  says,
  summarizes,
  throws,
  toolCall,
  toolTurn,
} from './support/scripted-model.ts';

const overflow = httpError(400, 'prompt is too long: 28000 tokens > 20000 maximum');

/** The threshold is far away: nothing but the provider says that a request is too long. */
const roomy = { contextWindow: 50_000, budget: { countTokens } };
const refusing = (turn: Step = refuses(overflow)): WorldOptions => ({
  ...roomy,
  recoverOverflow: true,
  request: large(),
  turn,
});

/** Refuses the first turns so often, then answers. */
function refuses(error: unknown, times = 1): Step {
  let left = times;
  return () => {
    if (left-- > 0) throw error;
    return { ...says('Done.'), usage: null };
  };
}

const sizes = ({ turns }: ScriptedModel): number[] => turns.map(({ request }) => request.messages.length);

describe('V74: a request that the provider finds too long', () => {
  it('is compacted once and sent once more, by the wrapper', async () => {
    const { create, model, events } = createWrapper(refusing());
    const request = large();
    expect(await create(request)).toMatchObject({ choices: [{ message: { content: 'Done.' } }] });
    expect(sizes(model)).toEqual([request.messages.length, 2]);
    expect(model.turns[0]!.request).toBe(request);
    expect(model.turns.map(({ context }) => context.attempt)).toEqual([1, 2]);
    expect(model.summaries).toHaveLength(1);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(noticesOf(events)).toContain('overflow-recovered');
    // The next request of the conversation is compacted before it is sent.
    await create({ ...request, messages: [...request.messages, ...toolTurn('next', 'ok')] });
    expect(sizes(model)).toEqual([request.messages.length, 2, 4]);
    expect(model.summaries).toHaveLength(1);
  });

  it('is compacted once and sent once more, by the loop, whose history takes the replacement in', async () => {
    const { loop, model, events, stored } = createLoop(refusing());
    const reply = await loop.send();
    expect(sizes(model)).toEqual([8, 2]);
    expect(isCompacted(loop.request)).toBe(true);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(stored).toHaveLength(1);
    await loop.appendReply(reply);
    expect(loop.request.messages).toHaveLength(3);
  });

  it('keeps the fields of this one request', async () => {
    const { loop, model } = createLoop(refusing());
    await loop.send({ params: { temperature: 0.5 } as Partial<ChatRequest> });
    expect(model.turns.map(({ request }) => (request as { temperature?: number }).temperature)).toEqual([0.5, 0.5]);
  });

  it('keeps the newest message of the user word for word', async () => {
    const { create, model } = createWrapper(refusing());
    await create(large());
    expect(JSON.stringify(model.turns[1]!.request.messages)).toContain('Read the second file.');
  });

  it('asks for the summary with a request that is smaller than the one that was refused', async () => {
    const { create, model } = createWrapper(refusing());
    const request = large();
    await create(request);
    const [summary] = model.summaries;
    expect(countTokens(JSON.stringify(summary!.request))).toBeLessThan(countTokens(JSON.stringify(request)));
  });

  it('is sent twice at most: what is refused again is the caller’s to hear', async () => {
    const second = httpError(400, 'prompt is too long: 300 tokens > 200 maximum');
    const errors = [overflow, second];
    const { create, model } = createWrapper({ ...refusing(), turn: () => Promise.reject(errors.shift()) });
    await expect(create(large())).rejects.toBe(second);
    expect(model.turns).toHaveLength(2);
    expect(model.summaries).toHaveLength(1);
  });

  it('is recovered also where the window that the refusal shows leaves no room for a margin', async () => {
    const turn = refuses(httpError(400, 'prompt is too long: 8300 tokens > 6000 maximum'));
    const [, ...messages] = longConversation().messages;
    const system: ChatMessage = { role: 'system', content: 's'.repeat(12_000) };
    const request = { ...longConversation(), messages: [system, ...messages, ...toolTurn('call_3', 'c'.repeat(16_000))] };
    const { create, model } = createWrapper(refusing(turn));
    await create(request);
    expect(sizes(model)).toEqual([request.messages.length, 2]);
    expect(create.compactor.estimate(request).contextWindow).toBeLessThan(6500);
  });

  it('is not compacted where what must stay is too long by itself', async () => {
    const turn = throws(httpError(400, 'prompt is too long: 12000 tokens > 6000 maximum'));
    const system: ChatMessage = { role: 'system', content: 's'.repeat(40_000) };
    const request = { ...longConversation(), messages: [system, ...longConversation().messages.slice(1)] };
    const { create, model, events } = createWrapper(refusing(turn));
    await expect(create(request)).rejects.toMatchObject({ status: 400 });
    expect(model.summaries).toEqual([]);
    expect(noticesOf(events)).toEqual(['irreducible']);
  });

  it('goes to the caller with the provider’s own error where the summary fails', async () => {
    const { create, model, events } = createWrapper({
      ...refusing(),
      steps: [throws(httpError(500, 'no')), throws(httpError(500, 'no'))],
    });
    await expect(create(large())).rejects.toBe(overflow);
    expect(model.turns).toHaveLength(1);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
  });

  it('is not compacted again where that was tried in vain just before', async () => {
    const { create, model } = createWrapper({ ...refusing(), turn: throws(overflow), steps: [summarizes('x'.repeat(190_000))] });
    const request = large();
    await expect(create(request)).rejects.toBe(overflow);
    await expect(create(request)).rejects.toBe(overflow);
    expect(model.summaries).toHaveLength(1);
    expect(model.turns).toHaveLength(2);
  });

  it('is compacted also where earlier failures suppress it', async () => {
    const turn = refuses(overflow);
    const { loop, model } = createLoop({
      ...refusing(),
      ...roomy,
      budget: { ...roomy.budget, threshold: 15_000 },
      steps: [throws(httpError(401, 'no'))],
      turn: (request, context) => (model.turns.length > 1 ? turn(request, context) : { ...says('Done.'), usage: null }),
    });
    await loop.send();
    loop.append(toolTurn('more', 'd'.repeat(2000)));
    await loop.send();
    expect(model.summaries).toHaveLength(2);
    expect(isCompacted(model.turns[2]!.request)).toBe(true);
  });

  it.each([
    ['without the option', { recoverOverflow: false }, large()],
    ['where compaction is off', { when: 'never' }, large()],
    ['while a call waits for its result', {}, open()],
    ['where there is nothing beside the newest message', {}, only('x'.repeat(80_000))],
  ] as const)('goes to the caller %s', async (_, options, request) => {
    const wrapper = createWrapper({ ...refusing(), turn: throws(overflow), ...options });
    await expect(wrapper.create(request)).rejects.toBe(overflow);
    const { loop, ...world } = createLoop({ ...refusing(), turn: throws(overflow), ...options, request });
    await expect(loop.send()).rejects.toBe(overflow);
    for (const { model, events } of [wrapper, world]) {
      expect(model.turns).toHaveLength(1);
      expect(model.summaries).toHaveLength(0);
      expect(lifecycleOf(events)).toEqual([]);
    }
  });

  it('goes to the caller where the history is the server’s, or a prefill must not be touched', async () => {
    const refuse = async (): Promise<never> => Promise.reject(overflow);
    const options = { ...roomy, recoverOverflow: true };
    const input = [
      { type: 'message', role: 'user', content: 'a'.repeat(80_000) },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
      { type: 'message', role: 'user', content: 'c' },
    ];
    const held = withAutoCompaction(refuse, { adapter: openaiResponses(), ...options });
    await expect(held({ model: 'gpt-5', conversation: 'conv_1', input } as never)).rejects.toBe(overflow);
    const prefilled = withAutoCompaction(refuse, { adapter: anthropicMessages(), ...options });
    const messages = [
      { role: 'user', content: 'a'.repeat(80_000) },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
      { role: 'assistant', content: 'The answer is' },
    ];
    await expect(prefilled({ model: 'claude', max_tokens: 100, messages } as never)).rejects.toBe(overflow);
  });

  it('goes to the caller where the request is one-shot', async () => {
    const { create, model } = createWrapper({ ...refusing(), turn: throws(overflow) });
    await expect(create(large(), { oneShot: true })).rejects.toBe(overflow);
    const { loop, ...world } = createLoop({ ...refusing(), turn: throws(overflow) });
    await expect(loop.send({ oneShot: true })).rejects.toBe(overflow);
    expect([model.summaries, world.model.summaries]).toEqual([[], []]);
  });

  it.each([
    httpError(429, 'Too many tokens per day'),
    httpError(500, 'Server error'),
    httpError(400, 'Invalid value'),
    new Error('Too long, they said'),
  ])('is another matter than %s', async (error) => {
    const { create, model } = createWrapper({ ...refusing(), turn: throws(error) });
    await expect(create(large())).rejects.toBe(error);
    expect(model.turns).toHaveLength(1);
    expect(model.summaries).toHaveLength(0);
  });

  it('is left alone once the caller has aborted, whose reason it hears', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const { create, model, events } = createWrapper({
      ...refusing(),
      steps: [
        () => {
          controller.abort(reason);
          return new Promise(() => {});
        },
      ],
    });
    await expect(create(large(), { signal: controller.signal })).rejects.toBe(reason);
    expect(model.turns).toHaveLength(1);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
  });

  it('is recovered by hosts that send by themselves', async () => {
    const { create } = createWrapper({ ...refusing() });
    const request = large();
    await create.compactor.prepare(request);
    const smaller = await create.compactor.recover(request, overflow);
    expect(smaller?.messages).toHaveLength(2);
    expect(await create.compactor.recover(request, overflow)).toBeUndefined();
    expect(await create.compactor.recover({ messages: 7 } as never, overflow)).toBeUndefined();
  });
});

it('the property: whatever was said, a refused request is sent once more at most, and then it is smaller', async () => {
  const turnOf = (name: string, size: number): ChatMessage[] => toolTurn(name, 'x'.repeat(size));
  const sizes = fc.array(fc.nat(30_000), { maxLength: 6 });
  const said = fc.array(fc.nat(9000), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(said, sizes, fc.nat(60_000), fc.boolean(), async (inputs, results, limit, tells) => {
      const messages = inputs.flatMap((input, index): ChatMessage[] => [
        { role: 'user', content: 'u'.repeat(input + 1) },
        ...results.flatMap((size, turn) => turnOf(`call_${index}_${turn}`, size)),
      ]);
      const tokensOf = (request: ChatRequest): number => countTokens(JSON.stringify(request));
      const refused: Error[] = [];
      const answer: Step = (request) => {
        if (tokensOf(request) <= limit) return { ...says('Done.'), usage: null };
        const numbers = tells ? `: ${tokensOf(request)} tokens > ${limit} maximum` : '';
        refused.push(httpError(400, `prompt is too long${numbers}`));
        throw refused.at(-1);
      };
      const { create, model, events } = createWrapper({ ...refusing(answer), contextWindow: 1_000_000 });
      const request: ChatRequest = { model: 'gpt-5', messages };
      const reply = await create(request).catch((error: unknown) => error);
      const [first, second, ...others] = model.turns.map(({ request: sent }) => tokensOf(sent));
      expect(others).toEqual([]);
      if (second !== undefined) expect(second).toBeLessThan(first!);
      if (reply instanceof Error) expect(reply).toBe(refused.at(-1));
      expect(lifecycleOf(events).filter((type) => type === 'started').length).toBeLessThanOrEqual(1);
      expect(request.messages).toBe(messages);
    }),
    { numRuns: 60 },
  );
});

describe('the window that a refusal shows', () => {
  it('holds for the conversation and its model from then on, and says where it comes from', async () => {
    const { loop } = createLoop(refusing());
    const { contextWindow, sources } = loop.estimate();
    expect([contextWindow, sources.contextWindow]).toEqual([50_000, 'configured']);
    const refused = loop.estimate().tokens;
    await loop.send();
    const estimate = loop.estimate();
    expect(estimate.sources.contextWindow).toBe('usage');
    // 20,000 of the provider's tokens where its 28,000 are what was counted here.
    expect(estimate.contextWindow).toBe(Math.floor((refused * 20_000) / 28_000));
    loop.update({ params: { model: 'other' } });
    expect(loop.estimate()).toMatchObject({ contextWindow: 50_000, sources: { contextWindow: 'configured' } });
  });

  it('is in the snapshot', async () => {
    const { loop } = createLoop(refusing());
    await loop.send();
    const { loop: resumed } = createLoop({ ...refusing(), request: loop.request, state: { snapshot: loop.snapshot() } });
    expect(resumed.estimate().contextWindow).toBe(loop.estimate().contextWindow);
  });

  it('is the size of what was refused where the error tells no limit', async () => {
    const { loop } = createLoop({ ...refusing(), turn: refuses(httpError(400, 'prompt is too long')) });
    const { tokens } = loop.estimate();
    await loop.send();
    expect(loop.estimate().contextWindow).toBe(tokens);
  });

  it('is forgotten where the provider takes more than that after all', async () => {
    const refusal = refuses(httpError(400, 'prompt is too long'));
    const { loop, model } = createLoop({
      ...refusing(),
      turn: async (request, context) => {
        const reply = await refusal(request, context);
        return {
          ...reply,
          usage: { prompt_tokens: model.turns.length > 2 ? 30_000 : 200, completion_tokens: 1, total_tokens: 1 },
        };
      },
    });
    await loop.send();
    expect(loop.estimate().contextWindow).toBeLessThan(50_000);
    loop.append(toolTurn('more', 'e'.repeat(40_000)));
    await loop.send();
    expect(loop.estimate().contextWindow).toBe(50_000);
  });
});

/** About 20,000 tokens, ending with the result of a tool. */
function large(): ChatRequest {
  const [system, first, , , said, second] = longConversation().messages;
  const turns = [toolTurn('call_1', 'a'.repeat(40_000)), toolTurn('call_2', 'b'.repeat(40_000))] as const;
  return { ...longConversation(), messages: [system!, first!, ...turns[0], said!, second!, ...turns[1]] };
}

function open(): ChatRequest {
  const { messages, ...request } = large();
  return {
    ...request,
    messages: [...messages, { role: 'assistant', content: null, tool_calls: [toolCall('open')] } as ChatMessage],
  };
}

function only(content: string): ChatRequest {
  return { model: 'gpt-5', messages: [{ role: 'user', content }] };
}

it('what a refused request was about is in no notice and no error of the library', async () => {
  const secret = httpError(400, 'prompt is too long: 28000 tokens > 20000 maximum, said sk-very-secret');
  const { create, events } = createWrapper({ ...refusing(), turn: refuses(secret) });
  await create(large());
  expect(JSON.stringify(events)).not.toContain('sk-very-secret');
  expect(eventOf(events, 'auto_compaction_applied').tokensAfter).toBeGreaterThan(0);
});

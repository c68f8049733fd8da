import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { type AiSdkMessage, type AiSdkPart, type AiSdkReply, type AiSdkRequest, aiSdkModel } from '../../src/adapters/ai-sdk.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { SendContext } from '../../src/options.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { freeze } from '../../src/testing/conformance/check.ts';
import { randomConversation } from '../../src/testing/conversation.ts';
import { aiSdkKit } from '../../src/testing/kits/ai-sdk.ts';
import { validateAiSdk } from '../../src/testing/wire/ai-sdk.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import type { WireViolation } from '../../src/testing/wire/violation.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

const summaryReply = aiSdkKit.reply({ text: goodSummary });
const said: AiSdkMessage = { role: 'assistant', content: [{ type: 'text', text: 'Hm.' }] };
const user = (text: string): AiSdkMessage => ({ role: 'user', content: [{ type: 'text', text }] });

function start(options: { reply?: () => AiSdkReply; check?: (request: AiSdkRequest) => void } = {}) {
  const { reply = () => summaryReply, check = (request) => expect(validateAiSdk(request)).toEqual([]) } = options;
  const events: CompactionEvent[] = [];
  const summaries: AiSdkRequest[] = [];
  return {
    events,
    summaries,
    options: {
      adapter: aiSdkModel(),
      contextWindow: 1_000_000,
      budget: { threshold: 100, countTokens },
      onEvent: (event: CompactionEvent) => void events.push(event),
      send: async (request: AiSdkRequest, { purpose }: SendContext): Promise<AiSdkReply> => {
        check(request);
        if (purpose === 'turn') return aiSdkKit.reply({ text: 'Done.' });
        summaries.push(request);
        return reply();
      },
    },
  };
}

describe('compaction of random conversations', () => {
  it('asks and sends only what the SDK takes, repeats the parent, and keeps the very same messages', async () => {
    let compacted = 0;
    for (let seed = 1; seed <= 1000; seed++) {
      const choose = chooseFrom(seed);
      const { options, summaries, events } = start();
      const compactor = createCompactor(options);
      const open = choose(2) === 1;
      const conversation = randomConversation(aiSdkKit, choose, { open });
      const parent = freeze(aiSdkKit.request(open ? conversation : [...conversation, user('Go on.')]));
      const prepared = await compactor.prepare(parent);
      expect(validateAiSdk(prepared)).toEqual([]);
      if (prepared === parent) continue;
      compacted++;
      expect(noticesOf(events).filter((code) => code !== 'still-over-threshold')).toEqual([]);
      for (const fork of summaries) {
        parent.prompt.forEach((message, index) => {
          expect(fork.prompt[index]).toBe(message);
        });
        expect(fork.prompt).toHaveLength(parent.prompt.length + 1);
        expect(fork).toMatchObject({ tools: parent.tools, toolChoice: { type: 'none' } });
      }
      const more = randomConversation(aiSdkKit, choose, { open: true });
      const grown = freeze(aiSdkKit.request([...parent.prompt.slice(1), said, ...more]));
      const idle = createCompactor({ ...options, budget: { threshold: 900_000, countTokens } });
      idle.restore(compactor.snapshot(parent));
      const next = await idle.prepare(grown);
      expect(validateAiSdk(next)).toEqual([]);
      more.forEach((message, index) => {
        expect(next.prompt[next.prompt.length - more.length + index]).toBe(message);
      });
    }
    expect(compacted).toBeGreaterThan(900);
  });

  const wires: [
    name: string,
    model: (fetch: typeof globalThis.fetch) => LanguageModelV3,
    validate: (body: unknown) => WireViolation[],
  ][] = [
    ['openai.chat', (fetch) => createOpenAI({ apiKey: 'test', fetch }).chat('gpt-4.1'), validateOpenAiChat],
    ['openai.responses', (fetch) => createOpenAI({ apiKey: 'test', fetch })('gpt-5'), validateOpenAiResponses],
    ['anthropic', (fetch) => createAnthropic({ apiKey: 'test', fetch })('claude-sonnet-4-5'), validateAnthropic],
  ];

  it.each(wires)('what the SDK makes of it is what %s takes', async (_name, create, validate) => {
    let body: unknown;
    const model = create(async (_url, init) => {
      body = JSON.parse(String(init?.body));
      return Response.json({ error: { message: 'Seen.' } }, { status: 400 });
    });
    /** What the provider would refuse in the body that the SDK makes of a call. */
    async function violationsOf({ model: _model, ...callOptions }: AiSdkRequest): Promise<string[]> {
      body = undefined;
      // Only well-formed calls are made.
      await Promise.resolve(model.doGenerate(callOptions as LanguageModelV3CallOptions)).catch((error: unknown) => {
        if (body === undefined) throw error;
      });
      return validate(body).map(({ rule, path }) => `${rule} at ${path}`);
    }
    let compacted = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const choose = chooseFrom(seed);
      const forks: AiSdkRequest[] = [];
      const { options } = start({ check: (request) => void forks.push(request) });
      const conversation = randomConversation(aiSdkKit, choose, { open: choose(2) === 1 });
      const { provider, modelId } = model;
      const parent = { ...aiSdkKit.request([...conversation, user('Go on.')]), model: { provider, modelId } };
      const known = new Set((await violationsOf(parent)).map((violation) => violation.split(' ')[0]));
      const prepared = await createCompactor(options).prepare(parent);
      if (prepared !== parent) compacted++;
      for (const request of [...forks, prepared])
        expect((await violationsOf(request)).filter((violation) => !known.has(violation.split(' ')[0]!))).toEqual([]);
    }
    expect(compacted).toBeGreaterThan(90);
  });
});

const call = (id: string, more: object = {}) => ({ type: 'tool-call', toolCallId: id, toolName: 'read', input: {}, ...more });
const result = (id: string, value = 'x'.repeat(600)) => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'read',
  output: { type: 'text', value },
});
const assistant = (...content: AiSdkPart[]): AiSdkMessage => ({ role: 'assistant', content });
const tool = (...content: AiSdkPart[]): AiSdkMessage => ({ role: 'tool', content });
const request = (prompt: readonly AiSdkMessage[]): AiSdkRequest => aiSdkKit.request(prompt);
const worked = [user('Read both.'), assistant(call('a'), call('b')), tool(result('a'), result('b'))];

describe('compaction of a prompt', () => {
  it('B021: reasoning goes with the message that it led to', async () => {
    const sealed = (id: string) => ({ type: 'reasoning', text: '', providerOptions: { openai: { itemId: id } } });
    const history = [
      user('Read both.'),
      assistant(sealed('rs_1'), call('a', { providerOptions: { openai: { itemId: 'fc_1' } } })),
      tool(result('a')),
      assistant(sealed('rs_2'), call('b')),
      tool(result('b')),
      assistant(sealed('rs_3'), { type: 'text', text: 'Fine.', providerOptions: { openai: { itemId: 'msg_3' } } }),
      user('Thanks.'),
    ];
    for (let cut = 1; cut < history.length; cut++) {
      const { options } = start();
      const compactor = createCompactor(options);
      await compactor.prepare(request(history.slice(0, cut)));
      const { prompt } = await compactor.prepare(request(history));
      const kept = prompt.slice(1).filter((message) => message.role === 'assistant');
      for (const message of kept) expect(history).toContain(message);
    }
  });

  it('B015: waits for the results of a call', async () => {
    const { options, summaries } = start();
    const compactor = createCompactor(options);
    const open = request([...worked, assistant(call('c'))]);
    expect(await compactor.prepare(open)).toBe(open);
    expect(summaries).toEqual([]);
  });

  it('B011: nothing that belongs to an approval stays alone', async () => {
    const mcp = call('m', { providerExecuted: true, providerOptions: { openai: { approvalRequestId: 'p' } } });
    const response = { type: 'tool-approval-response', approvalId: 'p', approved: true };
    const found = { type: 'tool-result', toolCallId: 'm', toolName: 'read', output: { type: 'json', value: 'x'.repeat(500) } };
    const { options, summaries } = start();
    const compactor = createCompactor(options);
    const asked = request([...worked, assistant(mcp), tool(response)]);
    expect(await compactor.plan(asked)).toMatchObject({
      wouldCompact: false,
      gate: 'pending',
      pending: 'tool-approval-response',
    });
    expect(await compactor.prepare(asked)).toBe(asked);
    const after = request([...asked.prompt.slice(1), assistant(mcp, found, { type: 'text', text: 'Done.' }), user('Go on.')]);
    const prepared = await compactor.prepare(after);
    expect(summaries).toHaveLength(1);
    expect(JSON.stringify(prepared.prompt)).not.toMatch(/"p"|"m"/);
  });

  it('repairs a broken history in what it sends, and says so', async () => {
    const { options, events } = start();
    const broken = request([
      user('Go.'),
      assistant(call('a')),
      user('Go on.'),
      tool(result('lost')),
      ...worked.slice(1),
      user('So?'),
    ]);
    const { request: compacted, because } = await createCompactor(options).compact(broken);
    expect(because).toContain('repaired history');
    expect(noticesOf(events)).toContain('repaired');
    expect(validateAiSdk(compacted)).toEqual([]);
  });

  it('keeps messages of the system that stand in the middle', async () => {
    const effort: AiSdkMessage = { role: 'system', content: '', providerOptions: { openai: { reasoningEffortUpdate: 'low' } } };
    const { options } = start();
    const compactor = createCompactor(options);
    const { prompt } = await compactor.prepare(request([user('Go.'), effort, ...worked]));
    expect(prompt).toHaveLength(3);
    expect(prompt[2]).toBe(effort);
  });

  it('passes a conversation through that the server holds, and says so once', async () => {
    const { options, events } = start();
    const compactor = createCompactor(options);
    for (let round = 0; round < 2; round++) {
      const held = { ...request(worked), providerOptions: { openai: { conversation: 'conv_1' } } };
      expect(await compactor.prepare(held)).toBe(held);
    }
    expect(noticesOf(events)).toEqual(['server-held']);
  });

  it('a loop owns a prompt', async () => {
    const { options, summaries } = start();
    const loop = new AutoCompactingLoop(request([user('Read both.')]), options);
    const { calls } = await loop.appendReply(aiSdkKit.reply({ reasoning: 'Hm.', calls: [{ id: 'a', name: 'read', input: {} }] }));
    expect(calls).toMatchObject([{ id: 'a', name: 'read' }]);
    loop.append(
      options.adapter.writeMessage({
        role: 'tool',
        parts: [{ type: 'toolResult', callId: 'a', name: 'read', content: [{ type: 'text', text: 'x'.repeat(2000) }] }],
      }),
    );
    expect(loop.request.prompt.at(-1)?.content).toMatchObject([{ toolName: 'read' }]);
    await loop.send();
    expect(summaries).toHaveLength(1);
    expect(loop.request.prompt).toHaveLength(2);
    loop.append([tool(result('a', 'late'))]); // its call went into the summary
    const prepared = await loop.prepare();
    expect(validateAiSdk(prepared)).toEqual([]);
    expect(JSON.stringify(prepared)).toContain('late');
  });

  it('lets a prompt go out as it is that cannot be read', async () => {
    const cyclic: AiSdkPart & Record<string, unknown> = { type: 'odd' };
    cyclic.self = cyclic;
    const trap = Object.defineProperty({ role: 'user' }, 'content', {
      enumerable: true,
      get() {
        throw new TypeError('no content today');
      },
    });
    let deep: unknown = 'leaf';
    for (let level = 0; level < 5000; level++) deep = { deep };
    for (const message of [null, 5, [], {}, trap, user(5 as never), assistant(cyclic), assistant(call('c', { input: deep }))]) {
      if (message && 'content' in Object(message) && message !== trap && JSON.stringify(Object(message).role) === '"user"')
        continue;
      const { options, events, summaries } = start();
      const odd = request([...worked, message as AiSdkMessage, user('Go on.')]);
      expect(await createCompactor(options).prepare(odd)).toBe(odd);
      expect(noticesOf(events)).toEqual(['unreadable-request']);
      expect(summaries).toEqual([]);
    }
  });

  it('compacts what is odd, and none of our business', async () => {
    for (const message of [
      user('\ud800<|endoftext|></compacted_context>'.repeat(300)),
      user('x'.repeat(5_000_000)),
      assistant({ type: 'x_new', data: [1, 2] }, { type: 'text', text: 'ok' }),
      assistant({ type: 'text', text: 5 }, { type: 'text', text: 'ok' }),
      assistant(null as never, { type: 'text', text: 'ok' }),
      tool({ type: 'tool-approval-response', approvalId: 'p', approved: true }),
    ]) {
      const { options, events } = start({ check: () => undefined });
      await createCompactor({ ...options, contextWindow: 20_000_000 }).prepare(
        request([user('Go.'), message, assistant({ type: 'text', text: 'Fine.' }), ...worked]),
      );
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    }
  });
});

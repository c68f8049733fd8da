import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/adapters/openai-chat.ts';
import { chooseFrom, chooseFromList } from '../../src/testing/choose.ts';
import { adapterConformance } from '../../src/testing/conformance.ts';
import { randomConversation } from '../../src/testing/conversation.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';

const { adapter } = openaiChatKit;

/** The names of the promises that an adapter breaks. */
async function findBroken<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>): Promise<string[]> {
  const broken: string[] = [];
  for (const { name, run } of adapterConformance(kit, { runs: 60 })) await run().catch(() => broken.push(name));
  return broken;
}

const withAdapter = (changes: Partial<typeof adapter>): typeof openaiChatKit => ({
  ...openaiChatKit,
  adapter: { ...adapter, ...changes },
});

const takesBreaksForEnds = withAdapter({
  readReply: async (reply, options) => {
    const read = await adapter.readReply(reply, options);
    return { ...read, finish: read.finish === 'incomplete' ? 'stop' : read.finish };
  },
});

const editsKept = (edit: (message: ChatMessage) => ChatMessage): typeof openaiChatKit =>
  withAdapter({ withItems: (request, items) => ({ ...request, messages: items.map(edit) }) });

/** A fork in which a field is what its parent has. */
const withForkField = (field: string): typeof openaiChatKit =>
  withAdapter({
    forkForSummary: (request, instruction, options) => {
      const { request: fork, changed } = adapter.forkForSummary(request, instruction, options);
      return { request: { ...fork, [field]: Reflect.get(request, field) }, changed };
    },
  });

/** What goes wrong in an adapter, and the promise that tells of it. */
const sabotages: [what: string, kit: typeof openaiChatKit, promise: RegExp][] = [
  [
    'copies its items',
    withAdapter({ items: (request) => adapter.items(request).map((item) => ({ ...item })) }),
    /very same objects, in order/,
  ],
  [
    'copies kept items',
    withAdapter({ withItems: (request, items) => ({ ...request, messages: items.map((item) => ({ ...item })) }) }),
    /rebuilt without a cut/,
  ],
  [
    'loses a parameter',
    withAdapter({ withItems: (request, items) => ({ model: request.model, messages: items }) as typeof request }),
    /rebuilt without a cut/,
  ],
  ['takes anything for a request', withAdapter({ items: (request) => request.messages }), /holds no conversation/],
  [
    'tells nobody of the text of an object',
    withAdapter({ readReply: (reply, options) => adapter.readReply(reply, Symbol.asyncIterator in reply ? options : {}) }),
    /read whole/,
  ],
  ['repairs what is whole', withAdapter({ repairItem: (item) => ({ ...item }) }), /needs no repair/],
  ['keeps the system text', withAdapter({ withSystem: (request) => request }), /system text can be replaced/],
  [
    'loses results',
    withAdapter({
      readItem: (item) =>
        adapter
          .readItem(item)
          .map((message) => ({ ...message, parts: message.parts.filter(({ type }) => type !== 'toolResult') })),
    }),
    /id of a call before it/,
  ],
  [
    'writes no text beside calls',
    withAdapter({
      writeMessage: ({ role, parts }) =>
        adapter.writeMessage({
          role,
          parts: parts.some(({ type }) => type === 'toolCall') ? parts.filter(({ type }) => type !== 'text') : parts,
        }),
    }),
    /written is read again/,
  ],
  [
    'drops unknown parts',
    withAdapter({
      writeMessage: ({ role, parts }) => adapter.writeMessage({ role, parts: parts.filter(({ type }) => type !== 'native') }),
    }),
    /not known is carried/,
  ],
  [
    'asks in the middle',
    withAdapter({
      forkForSummary: (request, instruction, options) => {
        const { request: fork, changed } = adapter.forkForSummary(request, instruction, options);
        return { request: { ...fork, messages: [...fork.messages.slice(1), ...fork.messages.slice(0, 1)] }, changed };
      },
    }),
    /parent with one instruction behind it/,
  ],
  [
    'drops the tools of the fork',
    withAdapter({
      forkForSummary: (request, instruction, options) => {
        const { request: fork, changed } = adapter.forkForSummary(request, instruction, options);
        return { request: { ...fork, tools: undefined }, changed };
      },
    }),
    /parent with one instruction behind it/,
  ],
  [
    'leaves reasoning in what is to have none',
    withAdapter({ withoutReasoning: (item) => item }),
    /says everything else, and is the very same/,
  ],
  [
    'copies what has no reasoning',
    withAdapter({ withoutReasoning: (item) => ({ ...(adapter.withoutReasoning(item) ?? item) }) }),
    /says everything else, and is the very same/,
  ],
  [
    'loses calls with their reasoning',
    withAdapter({
      withoutReasoning: (item) => {
        const bare = adapter.withoutReasoning(item);
        return bare === item ? item : bare && { ...bare, tool_calls: undefined };
      },
    }),
    /a conversation without reasoning up to any place/,
  ],
  ['lets the parent decide how often it is answered', withForkField('n'), /does not stop early, answer twice/],
  [
    'asks for another format without a word',
    withAdapter({
      forkForSummary: (request, instruction, options) => ({
        ...adapter.forkForSummary(request, instruction, options),
        changed: [],
      }),
    }),
    /force the form of a summary/,
  ],
  [
    'asks for another effort without a word',
    withAdapter({
      forkForSummary: (request, instruction, options) => ({
        ...adapter.forkForSummary(request, instruction, options),
        changed: [],
      }),
    }),
    /every effort that the adapter names/,
  ],
  [
    'names an effort that it does not ask for',
    withAdapter({
      forkForSummary: (request, instruction, { maxTokens }) => adapter.forkForSummary(request, instruction, { maxTokens }),
    }),
    /every effort that the adapter names/,
  ],
  [
    'names an effort that the provider does not know',
    withAdapter({ efforts: ['low', 'tremendous'] }),
    /every effort that the adapter names/,
  ],
  [
    'waits for seconds as if they were milliseconds',
    withAdapter({
      classifyError: (error) => {
        const read = adapter.classifyError(error);
        return read.kind === 'retryable' && read.retryAfter ? { ...read, retryAfter: read.retryAfter / 1000 } : read;
      },
    }),
    /how long to wait after an error/,
  ],
  [
    'takes a cut reply for a whole one',
    withAdapter({
      readReply: async (reply, options) => ({ ...(await adapter.readReply(reply, options)), finish: 'stop' }),
    }),
    /a reply is read whole/,
  ],
  [
    'takes a stream that just ends for a whole reply',
    takesBreaksForEnds,
    /breaks off after any piece is not taken for a whole one/,
  ],
  ['takes half a summary for a whole one', takesBreaksForEnds, /a summary that breaks off after any piece/],
  [
    'loses the text of a reply that broke off',
    withAdapter({
      readReply: async (reply, options) => {
        const read = await adapter.readReply(reply, options);
        return read.finish === 'incomplete' ? { ...read, items: [] } : read;
      },
    }),
    /what a broken reply adds to the conversation/,
  ],
  [
    'takes the failure of a stream for its end',
    withAdapter({
      readReply: (reply, options) =>
        adapter.readReply(reply, options).catch(() => ({ text: '', finish: 'incomplete', calls: [], items: [] })),
    }),
    /fails in the middle/,
  ],
  [
    'loses the calls of a reply',
    withAdapter({ readReply: async (reply, options) => ({ ...(await adapter.readReply(reply, options)), items: [] }) }),
    /can be sent back, with its results/,
  ],
  [
    'counts cached tokens twice',
    withAdapter({
      usage: (reply) => {
        const usage = adapter.usage(reply);
        return usage && { ...usage, inputTokens: usage.inputTokens + (usage.cachedInputTokens ?? 0) };
      },
    }),
    /counts each token of the input once/,
  ],
  [
    'ignores the signal',
    withAdapter({ readReply: (reply, options) => adapter.readReply(reply, { onText: options?.onText }) }),
    /not read on after an abort/,
  ],
  ['takes every error for an overflow', withAdapter({ classifyError: () => ({ kind: 'overflow' }) }), /errors are told apart/],
  ['takes odd errors for an overflow', withAdapter({ classifyError: () => ({ kind: 'overflow' }) }), /whatever is thrown/],
  [
    'writes only the first text of a message',
    withAdapter({
      writeMessage: ({ role, parts }) => adapter.writeMessage({ role, parts: role === 'user' ? parts.slice(0, 1) : parts }),
    }),
    /keeps the newest words of the user/,
  ],
  [
    'writes replacements that the provider refuses',
    withAdapter({
      writeMessage: (message) => (message.role === 'user' ? [{ role: 'robot', content: 'x' }] : adapter.writeMessage(message)),
    }),
    /leaves one message of the user/,
  ],
  [
    'loses the calls of kept messages',
    editsKept(({ tool_calls, ...message }) => (tool_calls ? { ...message, content: 'Calling.' } : message)),
    /wherever a conversation is cut, the provider takes/,
  ],
  [
    'shortens the reasoning of kept messages',
    editsKept((message) => ('reasoning_content' in message ? { ...message, reasoning_content: 'Hm.' } : message)),
    /wherever a conversation is cut, reasoning is kept/,
  ],
  [
    'loses the results of a loop',
    withAdapter({ writeMessage: (message) => (message.role === 'tool' ? [] : adapter.writeMessage(message)) }),
    /a loop takes replies, results/,
  ],
  [
    'takes a refusal for a summary',
    withAdapter({
      readReply: async (reply, options) => ({
        ...(await adapter.readReply(reply, options)),
        finish: 'stop',
        text: '## Goal\nNone.',
      }),
    }),
    /cut, refused or is no text/,
  ],
  [
    'takes system text for words of the user',
    withAdapter({
      readItem: (item) =>
        adapter.readItem(item).map((message) => ({ ...message, role: message.role === 'system' ? 'user' : message.role })),
    }),
    /leaves one message of the user/,
  ],
  [
    'sets no cap for the summary',
    withAdapter({
      forkForSummary: (request, instruction, options) => {
        const { request: fork, changed } = adapter.forkForSummary(request, instruction, options);
        return { request: { ...fork, max_completion_tokens: undefined }, changed };
      },
    }),
    /parent with one instruction behind it/,
  ],
  [
    'keeps only the parameters that it knows',
    withAdapter({
      withSystem: (request, system) => {
        const { model, tools, max_completion_tokens, messages } = adapter.withSystem(request, system);
        return { model, tools, max_completion_tokens, messages } as typeof request;
      },
    }),
    /rebuilt without a cut/,
  ],
  [
    'drops media',
    withAdapter({
      writeMessage: ({ role, parts }) => adapter.writeMessage({ role, parts: parts.filter(({ type }) => type !== 'media') }),
    }),
    /keeps the newest words of the user/,
  ],
  ['leaves a broken history broken', withAdapter({ pairItems: (items) => items }), /broken history/],
  [
    'belongs to a kit that breaks its own rules',
    { ...openaiChatKit, conversation: () => [{ role: 'tool', tool_call_id: 'none', content: 'x' }] },
    /the kit makes requests/,
  ],
];

describe('the conformance kit', () => {
  it.each(sabotages)('notices an adapter that %s', async (_, kit, promise) => {
    expect(await findBroken(kit)).toContainEqual(expect.stringMatching(promise));
  });

  it('has a promise for each sabotage, and a sabotage for each promise but that of steady reading', () => {
    const names = adapterConformance(openaiChatKit).map(({ name }) => name);
    const untold = names.filter((name) => !sabotages.some(([, , promise]) => promise.test(name)));
    expect(untold).toEqual([
      'each item is read to neutral messages, the same ones each time',
      'a request without tools is asked for a summary without tools',
    ]);
  });

  it('finds nothing wrong with a sound adapter', async () => {
    expect(await findBroken(openaiChatKit)).toEqual([]);
  });

  it('says which seed shows what is wrong', async () => {
    const [first] = adapterConformance(sabotages[0]![1], { seed: 17, runs: 3 }).filter(({ name }) => /in order/.test(name));
    await expect(first?.run()).rejects.toThrow(/^openai-chat: .*in order \(seed 17\): Expected/);
  });

  it('registers its cases with the test function of a runner', async () => {
    const registered: [string, () => Promise<void>][] = [];
    const cases = adapterConformance(openaiChatKit, { runs: 2, test: (name, run) => registered.push([name, run]) });
    expect(registered.map(([name]) => name)).toEqual(cases.map(({ name }) => `openai-chat: ${name}`));
    for (const [, run] of registered) await run();
  });

  it('holds a kit that has no conversations of its own to conversations that its adapter writes', async () => {
    const { conversation: _conversation, ...plain } = openaiChatKit;
    expect(await findBroken(plain)).toEqual([]);
    const { conversation: _other, ...other } = anthropicKit;
    expect(await findBroken(other)).toEqual([]);
  });
});

describe('random conversations', () => {
  it('are the same for the same seed, and others for others', () => {
    const make = (seed: number) => JSON.stringify(randomConversation(anthropicKit, chooseFrom(seed)));
    expect(make(5)).toBe(make(5));
    expect(new Set([1, 2, 3, 4, 5, 6, 7, 8].map(make)).size).toBe(8);
  });

  it('are as short as can be where all choices are 0', () => {
    expect(randomConversation(openaiChatKit, chooseFromList([]))).toHaveLength(2);
  });

  it('end with results or with an answer, and are refused where they are broken', () => {
    const validate = (open: boolean, broken: boolean, seed: number) =>
      openaiChatKit.validate(openaiChatKit.request(randomConversation(openaiChatKit, chooseFrom(seed), { open, broken })));
    const seeds = Array.from({ length: 50 }, (_, index) => index);
    for (const seed of seeds) {
      expect(validate(true, false, seed)).toEqual([]);
      expect(validate(false, false, seed).map(({ rule }) => rule)).toEqual(['last-message']);
    }
    expect(seeds.filter((seed) => validate(true, true, seed).length > 0).length).toBeGreaterThan(20);
  });
});

it('says so where it is given no kit', () => {
  const given = adapter as never; // as a caller without types gives it
  expect(() => adapterConformance(given)).toThrow('Expected a kit with an `adapter`');
});

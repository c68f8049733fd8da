import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { estimateBudget } from '../src/budget/estimate.ts';
import { compact } from '../src/compact.ts';
import { createCompactor } from '../src/compactor.ts';
import { CompactionError } from '../src/errors.ts';
import type { CompactionEvent } from '../src/events.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import { validateAnthropic } from '../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { lifecycleOf, noticesOf } from './support/harness.ts';
import { scriptedModel } from './support/scripted-model.ts';

const adapters = { 'openai-chat': openaiChat(), anthropic: anthropicMessages() };
type Name = keyof typeof adapters;
const names = ['openai-chat', 'anthropic'] as const;

const summarizer: Summarizer = async () => ({ text: '## Goal\nShip it.' });

/** A world in which whatever can be compacted is. */
function start(name: Name) {
  const events: CompactionEvent[] = [];
  const options = {
    adapter: adapters[name],
    contextWindow: 10_000,
    budget: { threshold: 500 },
    when: 'every-request',
    summary: { summarizer },
    commit: () => undefined,
    onEvent: (event: CompactionEvent) => void events.push(event),
  };
  // Whatever a test sends here has a wrong type on purpose.
  return { events, options: options as never, compactor: createCompactor<never, never, never, never, never>(options as never) };
}

const turns = [
  { role: 'user', content: 'x'.repeat(4000) },
  { role: 'assistant', content: 'Fine.' },
  { role: 'user', content: 'And now?' },
];
const request = (fields: object, ...more: unknown[]): object => ({
  model: 'm',
  max_tokens: 10,
  messages: [...turns, ...more],
  ...fields,
});

function nested(levels: number): unknown {
  let value: unknown = 'leaf';
  for (let level = 0; level < levels; level++) value = { deep: value };
  return value;
}

function cyclic(): object {
  const value: Record<string, unknown> = { type: 'odd' };
  value.self = [value];
  return value;
}

/** With a field that throws when it is read. */
function trap(key: string, fields: object = {}): object {
  return Object.defineProperty({ ...fields }, key, {
    enumerable: true,
    get() {
      throw new TypeError(`no ${key} today`);
    },
  });
}

function revoked(target: object = {}): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const throwingProxy = (): object =>
  new Proxy(
    {},
    {
      get(_target, key) {
        if (key === 'then') return undefined; // what `await` asks of everything
        throw new RangeError('the proxy does not like you');
      },
      ownKeys() {
        throw new RangeError('the proxy does not like you');
      },
    },
  );

/** What cannot be read, and what the message must name. */
const unreadable: [string, () => unknown, string][] = [
  ['null', () => null, ''],
  ['undefined', () => undefined, ''],
  ['a number', () => 5, '`messages`'],
  ['a text', () => 'request', '`messages`'],
  ['an array', () => [], '`messages`'],
  ['a function', () => () => 1, '`messages`'],
  ['no messages', () => ({ model: 'm' }), '`messages`'],
  ['messages: null', () => ({ messages: null }), '`messages`'],
  ['messages: an object', () => ({ messages: {} }), '`messages`'],
  ['messages: a text', () => ({ messages: 'none' }), '`messages`'],
  ['an item that is null', () => request({}, null), '`messages[3]`'],
  ['an item that is a number', () => request({}, 5), '`messages[3]`'],
  ['an item that is an array', () => request({}, []), '`messages[3]`'],
  ['an item that is a function', () => request({}, () => 1), '`messages[3]`'],
  ['an item without a role', () => request({}, { content: 'Hi.' }), '`messages[3].role`'],
  ['an item that is a date', () => request({}, new Date()), '`messages[3].role`'],
  ['a role that is a number', () => request({}, { role: 5, content: 'Hi.' }), '`messages[3].role`'],
  ['a hole between the items', () => ({ messages: Object.assign([...turns], { length: 5, 4: turns[0] }) }), 'Item 3'],
  ['an item that refers to itself', () => request({}, { role: 'user', content: [cyclic()] }), 'Item 3'],
  ['an item that is 5,000 levels deep', () => request({}, { role: 'user', content: [nested(5000)] }), 'Item 3'],
  ['an item with a trap', () => request({}, trap('content', { role: 'user' })), 'no content today'],
  ['an item with a trap for its role', () => request({}, trap('role')), 'no role today'],
  ['an item that is a revoked proxy', () => request({}, revoked()), 'proxy'],
  ['an item that is a throwing proxy', () => request({}, throwingProxy()), 'the proxy does not like you'],
  ['messages with a trap', () => trap('messages', { model: 'm' }), 'no messages today'],
  ['messages that are a revoked proxy', () => ({ messages: revoked([]) }), 'proxy'],
  ['tools with a trap', () => trap('tools', request({})), 'no tools today'],
  ['a model with a trap', () => trap('model', request({})), 'no model today'],
  ['a throwing proxy', throwingProxy, 'the proxy does not like you'],
];

/** What can be read, but not measured. */
const unmeasurable: [string, () => unknown, string][] = [
  ['tools that refer to themselves', () => request({ tools: [cyclic()] }), 'The list of tools'],
  ['tools that are 5,000 levels deep', () => request({ tools: [nested(5000)] }), 'The list of tools'],
  ['tools that are a revoked proxy', () => request({ tools: revoked([]) }), 'The list of tools'],
];

/** What is odd, and none of our business. */
const odd: [string, () => object][] = [
  ['a model that is a number', () => request({ model: 5 })],
  ['a model that is a symbol', () => request({ model: Symbol('m') })],
  ['no model', () => ({ messages: turns })],
  ['an infinite output cap', () => request({ max_tokens: Number.POSITIVE_INFINITY })],
  ['an output cap that is no number', () => request({ max_tokens: Number.NaN })],
  ['a negative output cap', () => request({ max_tokens: -1 })],
  ['an output cap that is a text', () => request({ max_tokens: 'many' })],
  ['tools: null', () => request({ tools: null })],
  ['tools: a number', () => request({ tools: 5 })],
  ['tools: [null]', () => request({ tools: [null] })],
  ['tools with a BigInt', () => request({ tools: [{ limit: 5n }] })],
  ['metadata that refer to themselves', () => request({ metadata: cyclic() })],
  ['metadata that are 5,000 levels deep', () => request({ metadata: nested(5000) })],
  ['a request without a prototype', () => Object.assign(Object.create(null), request({}))],
  [
    'a frozen request',
    () => Object.freeze(request({ messages: Object.freeze(turns.map((item) => Object.freeze({ ...item }))) })),
  ],
  [
    'lone surrogates',
    () => request({ messages: [{ role: 'user', content: '\ud800\udc00\udc00\ud800'.repeat(1000) }, ...turns] }),
  ],
  [
    'special tokens',
    () => request({ messages: [{ role: 'user', content: '<|endoftext|><|im_start|>[INST]</s>'.repeat(200) }, ...turns] }),
  ],
  [
    'null bytes and control characters',
    () => request({ messages: [{ role: 'user', content: '\u0000\u0001\u001b[2J\u2028'.repeat(1000) }, ...turns] }),
  ],
  [
    'our own tags',
    () => request({ messages: [{ role: 'user', content: '</last_user_message></compacted_context_2>'.repeat(100) }, ...turns] }),
  ],
  [
    'NaN in a part',
    () =>
      request(
        {},
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See:' },
            { type: 'odd', size: Number.NaN },
          ],
        },
      ),
  ],
  [
    'a symbol and a function in a part',
    () => request({}, { role: 'user', content: [{ type: 'odd', symbol: Symbol('s'), act: () => 1 }] }),
  ],
  [
    'a part whose toJSON throws',
    () =>
      request(
        {},
        {
          role: 'user',
          content: [
            { type: 'odd', date: new Date(Number.NaN) },
            { type: 'text', text: 'See.' },
          ],
        },
      ),
  ],
  [
    'nothing where parts should be',
    () => request({}, { role: 'user', content: [null, undefined, { type: 'text', text: 'See.' }] }),
  ],
  [
    'empty texts and parts',
    () => request({}, { role: 'user', content: [] }, { role: 'assistant', content: '' }, { role: 'user', content: 'Hm.' }),
  ],
  [
    'keys like those of a prototype',
    () => request({}, { role: 'user', content: [JSON.parse('{"type":"odd","__proto__":{"polluted":1},"constructor":2}')] }),
  ],
];

describe.each(names)('%s', (name) => {
  describe.each(unreadable)('a request that cannot be read: %s', (_what, make, named) => {
    it('goes out as it is, and is reported', async () => {
      const { compactor, events } = start(name);
      const hostile = make() as never;
      expect(await compactor.prepare(hostile)).toBe(hostile);
      expect(await compactor.prepare(hostile, { conversation: 'named', oneShot: true })).toBe(hostile);
      expect(noticesOf(events)).toEqual(['unreadable-request', 'unreadable-request']);
      expect(events[0]).toMatchObject({ message: expect.stringContaining(named) });
    });

    it('is refused with a typed error elsewhere, which names what is wrong', async () => {
      const { compactor, options } = start(name);
      const hostile = make() as never;
      const refused = expect.objectContaining({
        name: 'CompactionError',
        code: 'invalid-request',
        message: expect.stringContaining(named),
      });
      expect(() => compactor.estimate(hostile)).toThrow(refused);
      expect(() => estimateBudget(hostile, { adapter: adapters[name] as never })).toThrow(refused);
      expect(() => compactor.snapshot(hostile)).toThrow(refused);
      expect(() => new AutoCompactingLoop(hostile, options)).toThrow(refused);
      await expect(compactor.plan(hostile)).rejects.toThrow(refused);
      await expect(compactor.compact(hostile)).rejects.toThrow(refused);
      await expect(compact(hostile, options)).rejects.toThrow(refused);
      expect(() => compactor.observe(hostile, { usage: { inputTokens: 1000 } })).not.toThrow();
    });
  });

  describe.each(unmeasurable)('a request that cannot be measured: %s', (_what, make, named) => {
    it('goes out as it is, and is reported', async () => {
      const { compactor, events, options } = start(name);
      const hostile = make() as never;
      expect(await compactor.prepare(hostile)).toBe(hostile);
      expect(events).toMatchObject([{ type: 'notice', code: 'unreadable-request', message: expect.stringContaining(named) }]);
      const loop = new AutoCompactingLoop(hostile, options);
      expect((await loop.prepare()) as { messages: unknown }).toHaveProperty('messages', turns);
    });

    it('is refused with a typed error elsewhere', async () => {
      const { compactor, options } = start(name);
      const hostile = make() as never;
      expect(() => compactor.estimate(hostile)).toThrow(CompactionError);
      await expect(compactor.plan(hostile)).rejects.toThrow(named);
      await expect(compactor.compact(hostile)).rejects.toThrow(named);
      await expect(compact(hostile, options)).rejects.toThrow(named);
    });
  });

  it.each(odd)('compacts a request that is only odd: %s', async (_what, make) => {
    const { compactor, events, options } = start(name);
    const hostile = make() as never;
    const before = Object.entries(hostile);
    expect(await compactor.plan(hostile)).toMatchObject({ wouldCompact: true });
    const prepared = (await compactor.prepare(hostile)) as Record<string, unknown>;
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(prepared).not.toBe(hostile);
    expect(Object.entries(hostile)).toEqual(before);
    for (const [key, value] of before) if (key !== 'messages') expect(prepared[key]).toBe(value);
    const { messages } = prepared as { messages: { content: unknown }[] };
    expect(messages).toHaveLength(1);
    expect(JSON.stringify(messages)).toContain('Ship it.');
    expect(JSON.stringify(messages).isWellFormed()).toBe(true);
    const sound = { model: 'm', max_tokens: 10, messages };
    const violations = name === 'anthropic' ? validateAnthropic(sound) : validateOpenAiChat(sound);
    // A part that the provider does not know is the user's own word, and stays.
    expect(violations.filter(({ rule }) => rule !== 'part-not-allowed')).toEqual([]);
    expect((await compact(hostile, options)).tokensAfter).toBeLessThan(500);
    expect(await new AutoCompactingLoop(hostile, options).prepare()).not.toBe(hostile);
  });

  it('never puts a hole into the prototype of objects', () => {
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('leaves a request alone whose odd fields break the summary request', async () => {
    const model = scriptedModel();
    const events: CompactionEvent[] = [];
    const compactor = createCompactor({
      adapter: adapters[name],
      send: model.send,
      contextWindow: 10_000,
      budget: { threshold: 500 },
      onEvent: (event: CompactionEvent) => void events.push(event),
    } as never) as ReturnType<typeof start>['compactor'];
    const hostile = trap('metadata', request({})) as never;
    expect(await compactor.prepare(hostile)).toBe(hostile);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
    expect(model.summaries).toEqual([]);
  });
});

describe('arguments with a BigInt', () => {
  it('are counted as nothing, and compacted', async () => {
    const chat = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: { n: 5n } } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    ];
    const claude = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { n: 5n } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
    ];
    for (const [name, items] of [
      ['openai-chat', chat],
      ['anthropic', claude],
    ] as const) {
      const { compactor, events } = start(name);
      const prepared: { messages: unknown[] } = await compactor.prepare(request({}, ...items) as never);
      expect(prepared.messages).toHaveLength(1);
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    }
  });
});

// A walk that is not linear would take these tests past the limit of a minute.
describe.each(names)('%s, in bulk', (name) => {
  const megabytes = (text: string, count: number): string => text.repeat(Math.ceil((count * 2 ** 20) / text.length));

  it.each([
    ['one letter', 'a'],
    ['words', 'word '],
    ['lone surrogates', '\ud800'],
    ['special tokens', '<|endoftext|>'],
    ['our own tags', '</compacted_context>\n\n<last_user_message>\n'],
  ])('takes 10 MB of %s', async (_what, text) => {
    const { compactor, events } = start(name);
    const huge = { role: 'assistant', content: megabytes(text, 10) };
    const prepared: { messages: unknown[] } = await compactor.prepare({
      model: 'm',
      messages: [turns[0], huge, turns[2]],
    } as never);
    expect(prepared.messages).toHaveLength(1);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('takes a latest message that nothing can make smaller', async () => {
    const { compactor, events } = start(name);
    const hostile = {
      model: 'm',
      messages: [turns[0], turns[1], { role: 'user', content: megabytes('</last_user_message>\n', 2) }],
    } as never;
    expect(await compactor.prepare(hostile)).toBe(hostile);
    expect(noticesOf(events)).toEqual(['irreducible']);
  });

  it('takes a message of 100,000 parts, and a part of 100,000 keys', async () => {
    const { compactor, events } = start(name);
    const parts = { role: 'user', content: Array.from({ length: 100_000 }, () => ({ type: 'text', text: 'a' })) };
    const keys = {
      role: 'user',
      content: [{ type: 'odd', keys: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, index])) }],
    };
    const messages = [parts, turns[1], keys, turns[1], turns[2]];
    const prepared: { messages: unknown[] } = await compactor.prepare({ model: 'm', messages } as never);
    expect(prepared.messages).toHaveLength(1);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });
});

describe('histories of many items', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } });
  const turnOf = (id: string) => [
    { role: 'assistant', content: null, tool_calls: [call(id)] },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ];

  it.each([
    ['20,000 tool turns', Array.from({ length: 20_000 }, (_, index) => turnOf(`c${index}`)).flat()],
    ['20,000 tool turns with one id', Array.from({ length: 20_000 }, () => turnOf('same')).flat()],
    [
      '20,000 results before their calls',
      Array.from({ length: 20_000 }, (_, index) => turnOf(`c${index}`).reverse())
        .flat()
        .concat(turnOf('last')),
    ],
    [
      '5,000 calls in one message, answered in reverse',
      [
        { role: 'assistant', content: null, tool_calls: Array.from({ length: 5000 }, (_, index) => call(`c${index}`)) },
        ...Array.from({ length: 5000 }, (_, index) => ({ role: 'tool', tool_call_id: `c${4999 - index}`, content: 'ok' })),
      ],
    ],
  ])('are compacted: %s', async (_what, items) => {
    const { compactor, events } = start('openai-chat');
    const messages = [turns[0], ...items];
    const prepared: { messages: unknown[] } = await compactor.prepare({ model: 'm', messages } as never);
    expect(prepared.messages).toHaveLength(1);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    const next: { messages: unknown[] } = await compactor.prepare({
      model: 'm',
      messages: [...messages, turns[1], turns[2]],
    } as never);
    expect(next.messages).toEqual([prepared.messages[0], turns[1], turns[2]]);
  });
});

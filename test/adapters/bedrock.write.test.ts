import { describe, expect, it } from 'vitest';
import { type BedrockMessage, bedrockConverse } from '../../src/adapters/bedrock.ts';
import type { Message, Part } from '../../src/message.ts';

const { writeMessage, repairItem } = bedrockConverse();
const message = (role: Message['role'], ...parts: Part[]): Message => ({ role, parts });
const text = (said: string): Part => ({ type: 'text', text: said });
const user = (...content: object[]): BedrockMessage => ({ role: 'user', content });
const assistant = (...content: object[]): BedrockMessage => ({ role: 'assistant', content });

describe('writeMessage', () => {
  it('B041: writes results first, whatever stands before them', () => {
    const image = { image: { format: 'png', source: { bytes: Uint8Array.from([1]) } } };
    const written = writeMessage(
      message(
        'tool',
        text('By the way.'),
        { type: 'toolResult', callId: 'a', content: [{ type: 'media', kind: 'image', value: image }] },
        { type: 'toolResult', callId: 'b', content: [], isError: true },
        { type: 'toolResult', callId: 'c', content: [{ type: 'text', text: ' ' }] },
      ),
    );
    expect(written).toEqual([
      user(
        { toolResult: { toolUseId: 'a', content: [image] } },
        { toolResult: { toolUseId: 'b', content: [{ text: 'The tool failed without a message.' }], status: 'error' } },
        { toolResult: { toolUseId: 'c', content: [] } },
        { text: 'By the way.' },
      ),
    ]);
  });

  it('writes a turn of the assistant without reasoning of any kind, and without white space at its end', () => {
    const written = writeMessage(
      message(
        'assistant',
        { type: 'reasoning', text: 'Hm.' },
        { type: 'native', value: { reasoningContent: { signature: 's' } } },
        { type: 'native', value: { reasoningContent: { redactedContent: Uint8Array.from([1]) } } },
        { type: 'toolCall', id: 'a', name: 'read', input: { path: 'a.ts' } },
        text('Done. \n'),
      ),
    );
    expect(written).toEqual([
      assistant({ toolUse: { toolUseId: 'a', name: 'read', input: { path: 'a.ts' } } }, { text: 'Done.' }),
    ]);
  });

  it('K13: writes a turn with its own results step by step', () => {
    const written = writeMessage(
      message(
        'assistant',
        text('Look:'),
        { type: 'toolCall', id: 'a', name: 'read', input: {} },
        { type: 'toolResult', callId: 'a', content: [{ type: 'text', text: 'x' }] },
        text('It is x.'),
      ),
    );
    expect(written).toEqual([
      assistant({ text: 'Look:' }, { toolUse: { toolUseId: 'a', name: 'read', input: {} } }),
      user({ toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } }),
      assistant({ text: 'It is x.' }),
    ]);
  });

  it('makes an object of any input, and a legal id of any id, always the same', () => {
    const [written] = writeMessage(
      message(
        'assistant',
        { type: 'toolCall', id: 'functions.read:0', name: 'f', input: 'raw' },
        { type: 'toolCall', id: 'mit Umlaut ä', name: 'f', input: undefined },
        { type: 'toolCall', id: 'x'.repeat(65), name: 'f', input: null },
      ),
    );
    const calls = written?.content?.map((block) => ('toolUse' in block ? block.toolUse : undefined)) as {
      toolUseId: string;
      input: unknown;
    }[];
    expect(calls.map(({ input }) => input)).toEqual([{ value: 'raw' }, {}, { value: null }]);
    expect(calls[0]?.toolUseId).toBe('functions.read:0');
    for (const { toolUseId } of calls) expect(toolUseId).toMatch(/^[a-zA-Z0-9_.:-]{1,64}$/);
    const result: Part = { type: 'toolResult', callId: 'mit Umlaut ä', content: [] };
    expect(writeMessage(message('tool', result))).toEqual([
      user({ toolResult: { toolUseId: calls[1]?.toolUseId, content: [] } }),
    ]);
  });

  it('puts a text beside a document that has none', () => {
    const document = { document: { format: 'pdf', name: 'a', source: { bytes: Uint8Array.from([1]) } } };
    const part: Part = { type: 'media', kind: 'document', value: document };
    expect(writeMessage(message('user', part, text('See.')))).toEqual([user(document, { text: 'See.' })]);
    expect(writeMessage(message('user', part))).toEqual([user(document, { text: 'See the document.' })]);
  });

  it('makes bytes of what JSON made of them', () => {
    const source = (bytes: unknown) => ({ image: { format: 'png', source: { bytes } } });
    const write = (value: object) => writeMessage(message('user', { type: 'media', kind: 'image', value }))[0]?.content?.[0];
    const image = source(Uint8Array.from([137, 80]));
    expect(write(image)).toBe(image);
    expect(write(JSON.parse(JSON.stringify(image)))).toEqual(image);
    expect(write(JSON.parse(JSON.stringify(source(Buffer.from([137, 80])))))).toEqual(image);
    for (const odd of [{}, { 0: 256 }, { 0: 'a' }, { data: [1.5] }, 'AQID'].map(source)) expect(write(odd)).toBe(odd);
  });

  it('writes nothing where nothing is left to say', () => {
    expect(writeMessage(message('user', text(' \n')))).toEqual([]);
    expect(writeMessage(message('assistant', { type: 'reasoning', text: 'Hm.' }))).toEqual([]);
    expect(writeMessage(message('system', { type: 'media', kind: 'image', value: {} }))).toEqual([]);
  });

  it('B138: writes no half of a character', () => {
    expect(writeMessage(message('user', text('a\ud800b')))).toEqual([user({ text: 'a\ufffdb' })]);
  });
});

describe('repairItem', () => {
  const sealed = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } };
  const call = { toolUse: { toolUseId: 'a', name: 'f', input: {} } };
  const result = { toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } };
  const cachePoint = { cachePoint: { type: 'default' } };
  const document = { document: { format: 'pdf', name: 'a', source: { bytes: Uint8Array.from([1]) } } };

  it.each([
    user({ text: 'a' }, cachePoint),
    user(result, cachePoint, { text: 'a' }, cachePoint),
    user({ toolResult: { toolUseId: 'a', content: [] } }),
    user(document, { text: 'a' }),
    user({ odd: 1 }),
    assistant(sealed, { text: 'a' }, call),
    assistant({ reasoningContent: { reasoningText: { text: 'Unsigned, as most models leave it.' } } }, { text: 'a' }),
    assistant({ reasoningContent: { redactedContent: Uint8Array.from([1]) } }, call),
    assistant(
      { toolUse: { toolUseId: 's', name: 'g', input: {}, type: 'server_tool_use' } },
      { toolResult: { toolUseId: 's', content: [] } },
    ),
    { role: 'system', content: [{ text: 'a' }] },
  ])('gives a whole item back: %j', (item) => {
    expect(repairItem(item)).toBe(item);
  });

  it.each([
    [user({ text: ' ' }, { text: 'a' }), user({ text: 'a' })],
    [user({ text: 'a' }, result), user(result, { text: 'a' })],
    [user(sealed, call, { text: 'a' }), user({ text: 'a' })],
    [user(null as never, { text: 'a' }, 5 as never), user({ text: 'a' })],
    [user({ toolResult: { toolUseId: 'a' } }), user({ toolResult: { toolUseId: 'a', content: [] } })],
    [
      user({ toolResult: { toolUseId: 'a', content: [{ text: '' }, { text: 'x' }] } }),
      user({ toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } }),
    ],
    [
      user({ toolResult: { toolUseId: 'a', content: [{ text: '' }], status: 'error' } }),
      user({ toolResult: { toolUseId: 'a', content: [{ text: 'The tool failed without a message.' }], status: 'error' } }),
    ],
    [user(document, { text: '\n' }), user(document, { text: 'See the document.' })],
    [assistant(result, { text: 'a' }), assistant({ text: 'a' })],
    [assistant({ reasoningContent: { reasoningText: { text: 'cut', signature: '' } } }, { text: 'a' }), assistant({ text: 'a' })],
    [assistant({ reasoningContent: { reasoningText: { text: ' ' } } }, { text: 'a' }), assistant({ text: 'a' })],
    // A cache point stands behind what it marks; reasoning cannot be marked.
    [user(cachePoint, { text: 'a' }), user({ text: 'a' })],
    [user({ text: '' }, cachePoint, { text: 'a' }), user({ text: 'a' })],
    [assistant(sealed, cachePoint, { text: 'a' }), assistant(sealed, { text: 'a' })],
    [user({ text: 'a' }, cachePoint, result, cachePoint), user(result, cachePoint, { text: 'a' }, cachePoint)],
  ])('leaves out and moves what the provider refuses: %j', (item, expected) => {
    const before = structuredClone(item);
    expect(repairItem(item)).toEqual(expected);
    expect(item).toEqual(before);
  });

  it.each([
    user(),
    user({ text: ' ' }),
    user(cachePoint),
    assistant(result),
    { role: 'user' },
    { role: 'user', content: null } as never,
  ])('leaves nothing of what says nothing: %j', (item) => {
    expect(repairItem(item)).toBeUndefined();
  });
});

import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type BedrockMessage, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { fingerprint } from '../../src/history/fingerprint.ts';

const { readItem } = bedrockConverse();
const user = (...content: object[]): BedrockMessage => ({ role: 'user', content });
const assistant = (...content: object[]): BedrockMessage => ({ role: 'assistant', content });

describe('readItem', () => {
  it('reads results and what the user said beside them as two messages', () => {
    const item = user(
      { toolResult: { toolUseId: 'a', content: [{ text: 'fine' }], status: 'success' } },
      { text: 'Go on.' },
      { toolResult: { toolUseId: 'b', content: [{ json: { ok: [1, null] } }, { text: ' ' }], status: 'error' } },
    );
    expect(readItem(item)).toEqual([
      {
        role: 'tool',
        parts: [
          { type: 'toolResult', callId: 'a', content: [{ type: 'text', text: 'fine' }] },
          { type: 'toolResult', callId: 'b', content: [{ type: 'text', text: '{"ok":[1,null]}' }], isError: true },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] },
    ]);
  });

  it('reads a turn of the assistant: reasoning, text, text with sources, calls', () => {
    const redacted = { reasoningContent: { redactedContent: Uint8Array.from([1]) } };
    const item = assistant(
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } },
      redacted,
      { text: 'So: ' },
      { citationsContent: { content: [{ text: 'it ' }, { text: 'rains.' }], citations: [{ title: 'Weather' }] } },
      { toolUse: { toolUseId: 'a', name: 'read', input: { path: 'a.ts' } } },
    );
    expect(readItem(item)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'native', value: { reasoningContent: { signature: 's' } } },
          { type: 'native', value: redacted },
          { type: 'text', text: 'So: ' },
          { type: 'text', text: 'it rains.' },
          { type: 'toolCall', id: 'a', name: 'read', input: { path: 'a.ts' } },
        ],
      },
    ]);
  });

  it('carries what only the provider can read: its own tools, guarded text, search results, what is unknown', () => {
    const blocks = [
      { toolUse: { toolUseId: 's', name: 'nova_grounding', input: {}, type: 'server_tool_use' } },
      { toolResult: { toolUseId: 's', content: [] } },
      { $unknown: ['xUnheardOf', { deep: 1 }] },
    ];
    expect(readItem(assistant(...blocks))[0]?.parts.map((part) => part.type === 'native' && part.value)).toEqual(blocks);
    const guarded = { guardContent: { text: { text: 'Hi.', qualifiers: ['query'] } } };
    const found = { searchResult: { source: 'u', title: 't', content: [{ text: 'c' }] } };
    const parts = readItem(user(guarded, found, { odd: 1 }))[0]?.parts ?? [];
    expect(parts).toEqual([guarded, found, { odd: 1 }].map((value) => ({ type: 'native', value })));
    expect(parts[0]).toHaveProperty('value', guarded);
  });

  it('leaves no trace of cache points, so that a conversation is the same when they move', () => {
    const marked = [{ text: 'a' }, { cachePoint: { type: 'default' } }, { text: 'b' }, { cachePoint: { type: 'default' } }];
    expect(fingerprint(readItem(user(...marked)))).toBe(fingerprint(readItem(user({ text: 'a' }, { text: 'b' }))));
    expect(readItem(user({ cachePoint: { type: 'default' } }))).toEqual([{ role: 'user', parts: [] }]);
  });

  it('reads a result in its own place only', () => {
    const result = { toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } };
    expect(readItem(assistant(result))).toEqual([{ role: 'assistant', parts: [{ type: 'native', value: result }] }]);
    const call = { toolUse: { toolUseId: 'a', name: 'f', input: {} } };
    expect(readItem(user(call))).toEqual([{ role: 'user', parts: [{ type: 'native', value: call }] }]);
  });

  it('tells reasoning apart that is signed otherwise', () => {
    const signed = (signature: string) => assistant({ reasoningContent: { reasoningText: { text: 'Hm.', signature } } });
    expect(fingerprint(readItem(signed('a')))).not.toBe(fingerprint(readItem(signed('b'))));
  });

  it('reads a system message with its changes of tools', () => {
    const addition = { toolAddition: { tool: { name: 'read' } } };
    expect(readItem({ role: 'system', content: [{ text: 'Now you may read.' }, addition] })).toEqual([
      {
        role: 'system',
        parts: [
          { type: 'text', text: 'Now you may read.' },
          { type: 'native', value: addition },
        ],
      },
    ]);
  });
});

describe('attachments', () => {
  const png = Uint8Array.from(
    atob('iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAC0lEQVR4nGNgQAcAABIAAeRVjecAAAAASUVORK5CYII='),
    (character) => character.charCodeAt(0),
  );

  it.each([
    [{ image: { format: 'png', source: { bytes: png } } }, { kind: 'image', width: 2, height: 3, bytes: png.byteLength }],
    [{ image: { format: 'png', source: { s3Location: { uri: 's3://b/i.png' } } } }, { kind: 'image' }],
    [{ document: { format: 'pdf', name: 'a', source: { bytes: new Uint8Array(7) } } }, { kind: 'document', bytes: 7 }],
    [
      { document: { format: 'pdf', name: 'a', source: { bytes: runInNewContext('new Uint8Array(7)') } } },
      { kind: 'document', bytes: 7 },
    ],
    [{ document: { format: 'txt', name: 'a', source: { text: 'né' } } }, { kind: 'document', bytes: 3 }],
    [{ document: { name: 'a', source: { content: [{ text: 'ab' }, { text: 'c' }] } } }, { kind: 'document', bytes: 3 }],
    [{ audio: { format: 'mp3', source: { bytes: new Uint8Array(5) } } }, { kind: 'audio', bytes: 5 }],
    [{ video: { format: 'mp4', source: { s3Location: { uri: 's3://b/v.mp4' } } } }, { kind: 'video' }],
    [{ image: { format: 'png', source: { bytes: { 0: 1, 1: 2 } } } }, { kind: 'image' }],
    [{ image: {} }, { kind: 'image' }],
  ])('are media, with the size that their source tells: %j', (block, expected) => {
    const [message] = readItem(user(block));
    expect(message?.parts).toEqual([{ type: 'media', value: block, ...expected }]);
    expect(message?.parts[0]).toHaveProperty('value', block);
    const result = { toolResult: { toolUseId: 'a', content: [block] } };
    expect(readItem(user(result))[0]?.parts).toMatchObject([{ content: [{ type: 'media', ...expected }] }]);
  });
});

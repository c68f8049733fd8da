import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { type LangchainMessage, langchainMessages } from '../../src/adapters/langchain.ts';
import { fingerprint } from '../../src/history/fingerprint.ts';
import type { Message, Part, TextPart } from '../../src/message.ts';

const adapter = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage });
const read = (item: LangchainMessage): Message => adapter.readItem(item)[0] ?? { role: 'system', parts: [] };
const partsOf = (content: unknown): readonly Part[] => read({ type: 'ai', content }).parts;
const text = (value: string): TextPart => ({ type: 'text', text: value });
const call = { type: 'tool_call' as const, id: 'c1', name: 'read', args: { path: 'a.ts' } };
const calledPart = { type: 'toolCall', id: 'c1', name: 'read', input: { path: 'a.ts' } };

describe('reading a message of LangChain', () => {
  it('knows its role by the type of an instance, or the role of a plain message', () => {
    const roles: [LangchainMessage, string][] = [
      [new HumanMessage('x'), 'user'],
      [new AIMessage('x'), 'assistant'],
      [new AIMessageChunk('x'), 'assistant'],
      [new SystemMessage('x'), 'system'],
      [new ToolMessage({ content: 'x', tool_call_id: 'c1' }), 'tool'],
      [new ChatMessage('x', 'user'), 'user'],
      [{ role: 'user', content: 'x' }, 'user'],
      [{ role: 'human', content: 'x' }, 'user'],
      [{ role: 'developer', content: 'x' }, 'system'],
      [{ role: 'assistant', content: 'x' }, 'assistant'],
    ];
    for (const [item, role] of roles) expect(read(item).role).toBe(role);
    const older = { content: 'x', _getType: () => 'human' };
    expect(read(older).role).toBe('user');
  });

  it('carries what is no message for a model, and never takes it for the words of the user', () => {
    for (const item of [
      new RemoveMessage({ id: 'm1' }),
      new FunctionMessage({ content: 'x', name: 'f' }),
      new ChatMessage('x', 'narrator'),
      { role: 'robot', content: 'x' },
    ]) {
      const [message] = adapter.readItem(item);
      expect(message?.role).toBe('assistant');
      expect(message?.parts.at(-1)?.type).toBe('native');
      expect(adapter.repairItem(item)).toBe(item);
    }
  });

  it('reads the same from an instance, its chunk and a plain message', () => {
    const raw = [{ id: 'c1', type: 'function' as const, function: { name: 'read', arguments: '{"path":"a.ts"}' } }];
    const variants: LangchainMessage[] = [
      new AIMessage({ content: 'Let me see.', tool_calls: [call] }),
      new AIMessage({ content: 'Let me see.', tool_calls: [call], additional_kwargs: { tool_calls: raw } }),
      new AIMessageChunk({
        content: 'Let me see.',
        tool_call_chunks: [{ id: 'c1', name: 'read', args: '{"path":"a.ts"}', index: 0 }],
      }),
      new AIMessage({
        content: [
          { type: 'text', text: 'Let me see.' },
          { ...call, type: 'tool_use', input: call.args },
        ],
        tool_calls: [call],
      }),
      new AIMessage({ contentBlocks: [{ type: 'text', text: 'Let me see.' }, call] }),
      { role: 'assistant', content: 'Let me see.', tool_calls: raw } as LangchainMessage,
    ];
    for (const item of variants) expect(read(item)).toEqual({ role: 'assistant', parts: [text('Let me see.'), calledPart] });
  });

  it('takes no notice of what LangChain sets on a message as it goes', () => {
    const before = new AIMessage({ content: 'Done.', response_metadata: { finish_reason: 'stop' } });
    const known = fingerprint(adapter.readItem(before));
    before._updateId('run-1');
    before.name = 'model';
    Object.assign(before, { usage_metadata: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } });
    expect(fingerprint(adapter.readItem(before))).toBe(known);
    const result = new ToolMessage({ content: 'x', tool_call_id: 'c1', artifact: { rows: [1] }, name: 'read' });
    expect(read(result).parts).toEqual([{ type: 'toolResult', callId: 'c1', content: [text('x')] }]);
  });

  it('reads calls with broken arguments where there are no others: the package for OpenAI sends them', () => {
    const raw = [{ id: 'c1', type: 'function' as const, function: { name: 'read', arguments: '{"path":' } }];
    const broken = new AIMessage('');
    Object.assign(broken, {
      additional_kwargs: { tool_calls: raw },
      invalid_tool_calls: [{ id: 'c1', error: 'Malformed args.' }],
    });
    expect(read(broken).parts).toEqual([{ type: 'toolCall', id: 'c1', name: 'read', input: '{"path":' }]);
    const beside = new AIMessage({ content: '', tool_calls: [{ ...call, id: 'c2' }], additional_kwargs: { tool_calls: raw } });
    expect(read(beside).parts).toEqual([{ ...calledPart, id: 'c2' }]);
  });

  it('reads blocks of all providers', () => {
    expect(partsOf([{ type: 'thinking', thinking: 'Hm.', signature: 's' }])).toEqual([{ type: 'reasoning', text: 'Hm.' }]);
    expect(partsOf([{ type: 'reasoning', reasoning: 'Hm.' }])).toEqual([{ type: 'reasoning', text: 'Hm.' }]);
    const sealed = { type: 'redacted_thinking', data: 'b3BhcXVl' };
    expect(partsOf([sealed])).toEqual([{ type: 'native', value: sealed }]);
    expect(partsOf([{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }])).toEqual([text('a')]);
    expect(partsOf([{ type: 'cache_point', cachePoint: { type: 'default' } }])).toEqual([]);
    expect(partsOf([{ type: 'refusal', refusal: 'No.' }])).toEqual([text('No.')]);
    expect(partsOf(['a', '', null, 7])).toEqual([text('a'), { type: 'native', value: 7 }]);
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    expect(partsOf([search])).toEqual([{ type: 'native', value: search }]);
  });

  it('reads thoughts and refusals that stand beside the content', () => {
    const thoughtful = new AIMessage({ content: 'Yes.', additional_kwargs: { reasoning_content: 'Hm.', refusal: '' } });
    expect(read(thoughtful).parts).toEqual([{ type: 'reasoning', text: 'Hm.' }, text('Yes.')]);
    const refused = new AIMessage({ content: '', additional_kwargs: { refusal: 'No.' } });
    expect(read(refused).parts).toEqual([text('No.')]);
  });

  it('reads the result of a tool, and that it failed', () => {
    const failed = new ToolMessage({ content: 'no such file', tool_call_id: 'c1', status: 'error' });
    expect(read(failed).parts).toEqual([{ type: 'toolResult', callId: 'c1', content: [text('no such file')], isError: true }]);
    const custom = new ToolMessage({ content: 'x', tool_call_id: 'c1', additional_kwargs: { customTool: true } });
    const [written] = adapter.writeMessage(read(custom));
    expect(written).toMatchObject({ additional_kwargs: { customTool: true } });
  });
});

describe('reading an attachment', () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const pixel = { type: 'media', kind: 'image', width: 1, height: 1, bytes: 70 };

  it.each([
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
    { type: 'image_url', image_url: `data:image/png;base64,${png}` },
    { type: 'image', source_type: 'base64', mime_type: 'image/png', data: png },
    { type: 'image', source_type: 'url', url: `data:image/png;base64,${png}` },
    { type: 'image', mimeType: 'image/png', data: png },
    { type: 'image', mimeType: 'image/png', data: Uint8Array.from(atob(png), (unit) => unit.charCodeAt(0)) },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    { type: 'image', image: { format: 'png', source: { bytes: Uint8Array.from(atob(png), (unit) => unit.charCodeAt(0)) } } },
    { type: 'media', mimeType: 'image/png', data: png },
    { type: 'file', mimeType: 'image/png', data: png },
  ])('tells the size of an image: $type', (block) => {
    const [part] = read(new HumanMessage({ content: [block] })).parts;
    expect(part).toMatchObject(pixel);
    expect(part).toMatchObject({ value: block });
  });

  it.each([
    [
      { type: 'image_url', image_url: { url: 'https://example.test/a.png', detail: 'high' } },
      { kind: 'image', detail: 'high' },
    ],
    [{ type: 'file', source_type: 'id', id: 'file-1' }, { kind: 'document' }],
    [
      { type: 'file', mime_type: 'application/pdf', source_type: 'base64', data: 'aGVsbG8=' },
      { kind: 'document', bytes: 5 },
    ],
    [
      { type: 'file', file: { file_data: 'data:application/pdf;base64,aGVsbG8=' } },
      { kind: 'document', bytes: 5 },
    ],
    [
      { type: 'text-plain', text: 'hellö' },
      { kind: 'document', bytes: 6 },
    ],
    [{ type: 'document', source: { type: 'text', data: 'aGVsbG8=' } }, { kind: 'document' }],
    [
      { type: 'input_audio', input_audio: { data: 'aGVsbG8=', format: 'wav' } },
      { kind: 'audio', bytes: 5 },
    ],
    [
      { type: 'audio', mimeType: 'audio/wav', data: 'aGVsbG8=' },
      { kind: 'audio', bytes: 5 },
    ],
    [{ type: 'video', fileId: 'file-2' }, { kind: 'video' }],
  ])('tells what it is: %o', (block, expected) => {
    expect(read(new HumanMessage({ content: [block] })).parts).toMatchObject([{ type: 'media', value: block, ...expected }]);
  });
});

describe('writing a message', () => {
  it('makes instances of the classes given', () => {
    const [system, user, answer, result] = [
      { role: 'system', parts: [text('Be exact.')] },
      { role: 'user', parts: [text('Look.'), text('And answer.')] },
      { role: 'assistant', parts: [text('Let me see.'), calledPart] },
      { role: 'tool', parts: [{ type: 'toolResult', callId: 'c1', content: [], isError: true }] },
    ].flatMap((message) => adapter.writeMessage(message as Message)); // the literals are of known roles
    expect(system).toBeInstanceOf(SystemMessage);
    expect(system?.content).toBe('Be exact.');
    expect(user).toBeInstanceOf(HumanMessage);
    expect(user?.content).toEqual([text('Look.'), text('And answer.')]);
    expect(answer).toBeInstanceOf(AIMessage);
    expect(answer).toMatchObject({ content: 'Let me see.', tool_calls: [call] });
    expect(result).toBeInstanceOf(ToolMessage);
    expect(result).toMatchObject({ content: '', tool_call_id: 'c1', status: 'error' });
  });

  it('K13: puts results right after their calls, step by step', () => {
    const parts: Part[] = [
      text('First.'),
      { type: 'toolCall', id: '', name: 'read', input: { path: 'a.ts' } },
      { type: 'toolResult', callId: '', content: [text('A.')] },
      text('Then.'),
      { type: 'toolCall', id: 'c2', name: 'read', input: 'raw' },
      { type: 'toolResult', callId: 'c2', content: [text('B.')] },
      text('Done.'),
    ];
    const written = adapter.writeMessage({ role: 'assistant', parts });
    expect(written.map(({ type }) => type)).toEqual(['ai', 'tool', 'ai', 'tool', 'ai']);
    expect(Reflect.get(written[1] ?? {}, 'tool_call_id')).toMatch(/^historical_/);
    expect(written[2]).toMatchObject({ tool_calls: [{ args: { value: 'raw' } }] });
  });

  it('leaves out thoughts and blank text, and carries everything else', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.test/a.png' } };
    const parts: Part[] = [
      { type: 'reasoning', text: 'Hm.' },
      text(' \n'),
      { type: 'media', kind: 'image', value: image },
      { type: 'native', value: { type: 'x_block', deep: [1] } },
    ];
    const [user] = adapter.writeMessage({ role: 'user', parts });
    expect(user?.content).toEqual([image, { type: 'x_block', deep: [1] }]);
    expect(adapter.writeMessage({ role: 'assistant', parts: parts.slice(0, 2) })).toEqual([]);
  });

  it('replaces broken characters', () => {
    expect(adapter.writeMessage({ role: 'user', parts: [text('a\ud800')] })[0]?.content).toBe('a\ufffd');
  });
});

describe('repairing a message', () => {
  it('leaves what is whole as the very same object', () => {
    for (const item of [
      new HumanMessage('x'),
      new AIMessage({ content: '', tool_calls: [call] }),
      new AIMessage({ content: [], tool_calls: [call] }),
      new AIMessage({
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 's' },
          { type: 'text', text: 'x' },
        ],
      }),
      new ToolMessage({ content: '', tool_call_id: 'c1' }),
      new AIMessage({ content: '', additional_kwargs: { audio: { id: 'a1' } } }),
    ])
      expect(adapter.repairItem(item)).toBe(item);
  });

  it('takes away what a provider refuses, and keeps the class of the message', () => {
    const answer = new AIMessage({
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: ' ' },
        { type: 'text', text: 'Yes.' },
      ],
      id: 'm1',
    });
    const repaired = adapter.repairItem(answer);
    expect(repaired).toBeInstanceOf(AIMessage);
    expect(repaired).toMatchObject({ content: [{ type: 'text', text: 'Yes.' }], id: 'm1' });
    expect(answer.content).toHaveLength(3);
    expect(JSON.parse(JSON.stringify(repaired)).kwargs.content).toEqual([{ type: 'text', text: 'Yes.' }]);
    expect(adapter.repairItem(new ToolMessage({ content: [{ type: 'text', text: '' }], tool_call_id: 'c1' }))?.content).toBe('');
    expect(adapter.repairItem(new AIMessage({ content: ' ', tool_calls: [call] }))?.content).toBe('');
  });

  it.each([
    new HumanMessage(' '),
    new HumanMessage({ content: [] }),
    new SystemMessage(''),
    new AIMessage(''),
    new AIMessage({ content: [{ type: 'reasoning', reasoning: 'Hm.' }] }),
    { role: 'user', content: null },
  ])('leaves out what says nothing: %o', (item) => {
    expect(adapter.repairItem(item)).toBeUndefined();
  });
});

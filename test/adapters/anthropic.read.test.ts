import { describe, expect, it } from 'vitest';
import type { AnthropicMessage } from '../../src/adapters/anthropic.ts';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { isCompactionError } from '../../src/errors.ts';

const adapter = anthropicMessages();
const marker = { cache_control: { type: 'ephemeral' } };
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAAW4yFwAAAAEklEQVR4nGP4z8DAAMIgBgMDAB7vAf8ZqCIhAAAAAElFTkSuQmCC';

function read(role: string, content: unknown): unknown {
  // Tests hand over shapes that the types forbid.
  return adapter.readItem({ role, content } as AnthropicMessage);
}

describe('items', () => {
  it('are the messages themselves', () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(adapter.items({ messages })).toBe(messages);
  });

  it.each([
    [undefined, /`messages` to be an array, got undefined/],
    [[{ role: 'user', content: 'x' }, null], /`messages\[1\]` to be an object, got null/],
    [[{ role: 'tool', content: 'x' }], /`messages\[0\]\.role` to be user, assistant or system, got "tool"/],
    [[{ role: 'user', content: 7 }], /`messages\[0\]\.content`.* got number/],
  ])('names what cannot be read: %j', (messages, message) => {
    let thrown: unknown;
    try {
      adapter.items({ messages } as never);
    } catch (error) {
      thrown = error;
    }
    expect(isCompactionError(thrown) && thrown.code).toBe('invalid-request');
    expect(String(thrown)).toMatch(message);
  });

  it('B039: null content is an empty turn, not an error', () => {
    expect(adapter.items({ messages: [{ role: 'assistant', content: null }] } as never)).toHaveLength(1);
    expect(read('assistant', null)).toEqual([{ role: 'assistant', parts: [] }]);
  });
});

describe('context', () => {
  const messages = [{ role: 'user', content: 'Hi' }];

  it('tells what surrounds the conversation', () => {
    const tools = [{ name: 'read' }];
    expect(adapter.context({ model: 'claude', max_tokens: 500, system: 'Help.', tools, messages })).toEqual({
      model: 'claude',
      system: 'Help.',
      tools,
      outputCap: 500,
      pending: undefined,
      serverHeld: undefined,
    });
  });

  it('reports an assistant message in last place as pending', () => {
    const paused = [...messages, { role: 'assistant', content: 'The answer is' }];
    expect(adapter.context({ messages: paused }).pending).toBe('assistant-last');
    expect(adapter.context({ messages: [...paused, { role: 'system', content: 'Be brief.' }] }).pending).toBe('assistant-last');
    expect(adapter.context({ messages: [...paused, { role: 'user', content: 'Go on.' }] }).pending).toBeUndefined();
  });

  it('reports a compaction request of the caller as pending, and a thread as held by the server', () => {
    expect(adapter.context({ messages, compaction: { type: 'summarize' } }).pending).toBe('compaction');
    expect(adapter.context({ messages, thread: { type: 'continue', previous_message_id: 'm' } }).serverHeld).toBe('thread');
  });

  it('takes no output cap from a request that only warms the cache', () => {
    expect(adapter.context({ messages, max_tokens: 0 }).outputCap).toBeUndefined();
  });
});

describe('readItem', () => {
  it('reads a string, a block and a block with a cache marker the same', () => {
    const plain = read('user', 'Hello');
    expect(plain).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }]);
    expect(read('user', [{ type: 'text', text: 'Hello' }])).toEqual(plain);
    expect(read('user', [{ type: 'text', text: 'Hello', ...marker }])).toEqual(plain);
  });

  it('reads fields that only replies carry like absent ones', () => {
    expect(read('assistant', [{ type: 'text', text: 'Hi', citations: null }])).toEqual(read('assistant', 'Hi'));
    const call = { type: 'tool_use', id: 't1', name: 'read', input: {} };
    expect(read('assistant', [{ ...call, caller: { type: 'direct' }, toolset_name: null }])).toEqual(read('assistant', [call]));
  });

  it('splits results from what the user said beside them', () => {
    const content = [
      { type: 'text', text: 'Look at this.' },
      { type: 'tool_result', tool_use_id: 't1', content: 'fine', ...marker },
      { type: 'tool_result', tool_use_id: 't2', is_error: true, content: [{ type: 'text', text: 'no' }] },
    ];
    expect(read('user', content)).toEqual([
      {
        role: 'tool',
        parts: [
          { type: 'toolResult', callId: 't1', content: [{ type: 'text', text: 'fine' }] },
          { type: 'toolResult', callId: 't2', content: [{ type: 'text', text: 'no' }], isError: true },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'Look at this.' }] },
    ]);
  });

  it('makes one tool message of results alone, and counts blank text beside them as nothing', () => {
    const results = [{ type: 'tool_result', tool_use_id: 't1' }];
    const alone = [{ role: 'tool', parts: [{ type: 'toolResult', callId: 't1', content: [] }] }];
    expect(read('user', results)).toEqual(alone);
    expect(read('user', [...results, { type: 'text', text: ' \n' }])).toEqual(alone);
  });

  it('reads the size of an inline image', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } };
    expect(read('user', [image])).toEqual([
      { role: 'user', parts: [{ type: 'media', kind: 'image', width: 3, height: 2, bytes: atob(pixel).length, value: image }] },
    ]);
  });

  it('reads images and documents whose size is unknown, also inside results', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const paper = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } };
    const [message] = adapter.readItem({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: [image, paper] } as { type: string }],
    });
    expect(message?.parts[0]).toEqual({
      type: 'toolResult',
      callId: 't1',
      content: [
        { type: 'media', kind: 'image', value: image },
        { type: 'media', kind: 'document', bytes: 7, value: paper },
      ],
    });
  });

  it.each([
    [{ type: 'base64', media_type: 'application/pdf', data: 'aGVsbG8=' }, 5],
    [{ type: 'base64', media_type: 'application/pdf', data: 'aGVsbA==' }, 4],
    [{ type: 'content', content: 'hello' }, 5],
    [
      {
        type: 'content',
        content: [{ type: 'text', text: 'hello' }, { type: 'image', source: { type: 'base64', data: 'aGk=' } }, null],
      },
      7,
    ],
    [{ type: 'url', url: 'https://example.com/a.pdf' }, undefined],
    [null, undefined],
  ])('counts the bytes of the document %j', (source, bytes) => {
    const document = { type: 'document', source };
    const [message] = adapter.readItem({ role: 'user', content: [document] });
    const counted = bytes === undefined ? {} : { bytes };
    expect(message?.parts).toEqual([{ type: 'media', kind: 'document', value: document, ...counted }]);
  });

  it('reads thinking as reasoning, and its signature as something that tells it apart', () => {
    const thinking = (signature: unknown): unknown => read('assistant', [{ type: 'thinking', thinking: 'Hm.', signature }]);
    expect(thinking('a')).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'native', value: { signature: 'a' } },
        ],
      },
    ]);
    expect(thinking('b')).not.toEqual(thinking('a'));
    expect(thinking('')).toEqual([{ role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm.' }] }]);
  });

  it.each([
    { type: 'redacted_thinking', data: 'x' },
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    { type: 'mcp_tool_use', id: 'm1', name: 'x', server_name: 'y', input: {} },
    { type: 'container_upload', file_id: 'f' },
    { type: 'compaction', content: 'Summary', encrypted_content: null },
    { type: 'something_new' },
  ])('carries $type as the very same object', (block) => {
    const [message] = adapter.readItem({ role: 'assistant', content: [block] });
    const [part] = message?.parts ?? [];
    expect(part?.type === 'native' && part.value).toBe(block);
  });

  it('leaves cache markers out of what it carries', () => {
    const block = { type: 'search_result', source: 's', title: 't', content: [] };
    expect(read('user', [{ ...block, ...marker }])).toEqual(read('user', [block]));
    const image = { type: 'image', source: { type: 'file', file_id: 'f' } };
    expect(read('user', [{ ...image, ...marker }])).toEqual(read('user', [image]));
  });

  it('reads system messages in the middle of a conversation', () => {
    expect(read('system', 'Be brief.')).toEqual([{ role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }]);
  });

  it('takes odd blocks without an error', () => {
    const odd = [null, 7, 'x', { type: 'text' }, { type: 'tool_use' }, { type: 'tool_result' }, { type: 'image' }, []];
    for (const role of ['user', 'assistant', 'system']) {
      const messages = read(role, odd) as { parts: unknown[] }[];
      expect(messages.flatMap(({ parts }) => parts)).toHaveLength(odd.length);
    }
  });
});

import fc from 'fast-check';
import type { ChatCompletionMessage, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { isCompactionError } from '../../src/errors.ts';
import { fingerprint } from '../../src/history/fingerprint.ts';
import type { Message, Part, Role, TextPart } from '../../src/message.ts';
import { buildReplacement, readReplacement } from '../../src/prompt/replacement.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';

const adapter = openaiChat();
/** Any object with a role: what servers and applications send in spite of the types. */
type Loose = { role: string; [field: string]: unknown };
const read = (message: ChatCompletionMessageParam | Loose): Message[] => adapter.readItem(message);
const parts = (message: ChatCompletionMessageParam | Loose): readonly Part[] => read(message)[0]?.parts ?? [];
const write = (role: Role, ...list: Part[]): ChatMessage[] => adapter.writeMessage({ role, parts: list });
const text = (value: string): TextPart => ({ type: 'text', text: value });

const gif = 'R0lGODlhAgADAAAAACH5BAAAAAAALAAAAAACAAMAAAICBAoAOw==';
const image = { type: 'image_url', image_url: { url: `data:image/gif;base64,${gif}` } } as const;
const call = (id: string, name = 'look', args = '{}') => ({ id, type: 'function', function: { name, arguments: args } }) as const;

/** A message of a host's own class: it has no fields of its own, and says what is sent. */
class HostMessage {
  readonly [key: string]: unknown;
  readonly #message: ChatMessage;
  constructor(message: ChatMessage) {
    this.#message = message;
  }
  get role(): string {
    return this.#message.role;
  }
  toJSON(): ChatMessage {
    return this.#message;
  }
}

describe('a message of a class with getters', () => {
  it('is read as what is sent, and kept', () => {
    const plain = { role: 'assistant', content: 'Looking.', tool_calls: [call('c1')] };
    const message = new HostMessage(plain);
    expect(read(message)).toEqual(read(plain));
    expect(adapter.repairItem(message)).toBe(message);
    expect(adapter.withoutReasoning(message)).toBe(message);
  });

  it('is repaired as what is sent', () => {
    const message = new HostMessage({ role: 'assistant', content: ' ', tool_calls: [call('c1')] });
    expect(adapter.repairItem(message)).toEqual({ role: 'assistant', content: null, tool_calls: [call('c1')] });
    const thinking = new HostMessage({ role: 'assistant', content: 'Yes.', reasoning: 'Hm.' } as ChatMessage);
    expect(adapter.withoutReasoning(thinking)).toEqual({ role: 'assistant', content: 'Yes.' });
  });
});

describe('readItem', () => {
  it.each([
    ['system', 'system'],
    ['developer', 'system'],
    ['user', 'user'],
    ['assistant', 'assistant'],
  ] as const)('reads the role %s as %s', (role, neutral) => {
    expect(read({ role, content: 'Hello' })).toEqual([{ role: neutral, parts: [text('Hello')] }]);
    expect(
      read({
        role,
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      }),
    ).toEqual([{ role: neutral, parts: [text('one'), text('two')] }]);
  });

  it('reads calls with parsed arguments, and the result of each', () => {
    expect(parts({ role: 'assistant', content: 'Looking.', tool_calls: [call('c1', 'look', '{"at": [1]}')] })).toEqual([
      text('Looking.'),
      { type: 'toolCall', id: 'c1', name: 'look', input: { at: [1] } },
    ]);
    expect(read({ role: 'tool', tool_call_id: 'c1', content: 'seen' })).toEqual([
      { role: 'tool', parts: [{ type: 'toolResult', callId: 'c1', content: [text('seen')] }] },
    ]);
    expect(
      parts({
        role: 'tool',
        tool_call_id: 'c1',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    ).toEqual([{ type: 'toolResult', callId: 'c1', content: [text('a'), text('b')] }]);
    expect(parts({ role: 'tool', tool_call_id: 'c1', content: '' })).toEqual([{ type: 'toolResult', callId: 'c1', content: [] }]);
  });

  it.each(['{"at": ', '', '"only text"', `${'['.repeat(200)}${']'.repeat(200)}`])('keeps the arguments %j as text', (args) => {
    expect(parts({ role: 'assistant', tool_calls: [call('c1', 'look', args)] })).toEqual([
      { type: 'toolCall', id: 'c1', name: 'look', input: args },
    ]);
  });

  it('reads calls of custom tools', () => {
    expect(
      parts({ role: 'assistant', tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] }),
    ).toEqual([{ type: 'toolCall', id: 'c1', name: 'sql', input: 'SELECT 1' }]);
  });

  it('reads the legacy forms of call and result as a pair', () => {
    const [asked] = read({ role: 'assistant', content: null, function_call: { name: 'look', arguments: '{"at":1}' } });
    const [answered] = read({ role: 'function', name: 'look', content: 'seen' });
    expect(asked).toEqual({
      role: 'assistant',
      parts: [{ type: 'toolCall', id: 'function_call:look', name: 'look', input: { at: 1 } }],
    });
    expect(answered).toEqual({
      role: 'tool',
      parts: [{ type: 'toolResult', callId: 'function_call:look', content: [text('seen')] }],
    });
  });

  it('reads a refusal as text', () => {
    expect(parts({ role: 'assistant', content: null, refusal: 'No.' })).toEqual([text('No.')]);
    expect(parts({ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] })).toEqual([text('No.')]);
  });

  it('reads attachments with what they tell of themselves', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/gif;base64,${gif}`, detail: 'low' } } as const;
    const remote = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } } as const;
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } } as const;
    const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAAAA==', filename: 'a.pdf' } } as const;
    const stored = { type: 'file', file: { file_id: 'file-1' } } as const;
    const video = { type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } };
    const message = { role: 'user', content: [image, remote, audio, file, stored, video] };
    expect(parts(message)).toEqual([
      { type: 'media', kind: 'image', width: 2, height: 3, detail: 'low', bytes: 37, value: image },
      { type: 'media', kind: 'image', value: remote },
      { type: 'media', kind: 'audio', bytes: 3, value: audio },
      { type: 'media', kind: 'document', bytes: 4, value: file },
      { type: 'media', kind: 'document', value: stored },
      { type: 'media', kind: 'video', value: video },
    ]);
    expect(parts(message)[0]).toHaveProperty('value', image);
  });

  it('keeps apart what the model thought, and carries what it does not know', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'xyz' }];
    const message = { role: 'assistant', content: 'Yes.', reasoning_details: details, reasoning_content: 'Hmm.', name: 'helper' };
    expect(parts(message)).toEqual([
      { type: 'reasoning', text: 'Hmm.' },
      text('Yes.'),
      { type: 'native', value: { name: 'helper' } },
      { type: 'native', value: { reasoning_details: details } },
    ]);
    expect(parts({ role: 'user', content: [{ type: 'sticker', id: 7 }, 'loose', null] })).toEqual([
      { type: 'native', value: { type: 'sticker', id: 7 } },
      { type: 'native', value: 'loose' },
    ]);
    expect(parts({ role: 'user', content: { odd: true } })).toEqual([{ type: 'native', value: { content: { odd: true } } }]);
  });

  it('carries the reference to spoken words, not the sound', () => {
    const audio = { id: 'audio_1', data: 'AAAA', expires_at: 1, transcript: 'Spoken.' };
    expect(parts({ role: 'assistant', content: null, audio })).toEqual([
      text('Spoken.'),
      { type: 'native', value: { audio: { id: 'audio_1' } } },
    ]);
  });

  it('never takes an unknown role for the user', () => {
    expect(read({ role: 'critic', content: 'Hm' })).toEqual([
      { role: 'assistant', parts: [text('Hm'), { type: 'native', value: { role: 'critic' } }] },
    ]);
  });

  it('does not see the marks of the prompt cache', () => {
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' } } as const;
    const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } } as const;
    const plain = read({ role: 'user', content: [{ type: 'text', text: 'a' }, image] });
    expect(
      read({
        role: 'user',
        content: [
          { type: 'text', text: 'a', ...mark },
          { ...image, ...mark },
        ],
      }),
    ).toEqual(plain);
    expect(read({ role: 'user', content: [{ type: 'text', text: 'a' }, image], cache_control: { type: 'ephemeral' } })).toEqual(
      plain,
    );
  });

  it('reads a reply pushed back as it came like the same message without its empty fields', () => {
    const reply: ChatCompletionMessage & { parsed: null } = {
      role: 'assistant',
      content: 'Yes.',
      refusal: null,
      annotations: [],
      audio: null,
      function_call: null,
      tool_calls: [],
      parsed: null,
    };
    expect(read(reply)).toEqual(read({ role: 'assistant', content: 'Yes.' }));
    expect(read({ ...reply, content: null, tool_calls: [call('c1')] })).toEqual(
      read({ role: 'assistant', tool_calls: [call('c1')] }),
    );
    expect(read({ role: 'assistant', content: '' })).toEqual(read({ role: 'assistant', content: [] }));
  });

  it('reads the same whatever the order of the fields', () => {
    const one = { role: 'assistant', content: 'x', b: 1, a: { d: 1, c: 2 } };
    const other = { a: { c: 2, d: 1 }, b: 1, content: 'x', role: 'assistant' };
    expect(fingerprint(read(one))).toBe(fingerprint(read(other)));
    expect(fingerprint(read({ ...one, b: 2 }))).not.toBe(fingerprint(read(one)));
  });
});

describe('writeMessage', () => {
  it('writes one text as a string and several parts as a list', () => {
    expect(write('user', text('Hello'))).toEqual([{ role: 'user', content: 'Hello' }]);
    expect(write('system', text('a'), text('b'))).toEqual([
      {
        role: 'system',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  it('leaves out reasoning and blank text, and never writes an empty message', () => {
    expect(write('assistant', { type: 'reasoning', text: 'Hmm.' }, text(' \n'), text('Yes.'))).toEqual([
      { role: 'assistant', content: 'Yes.' },
    ]);
    for (const role of ['system', 'user', 'assistant', 'tool'] as const) {
      expect(write(role)).toEqual([]);
      expect(write(role, text('\n'), { type: 'reasoning', text: 'Hmm.' }, { type: 'native', value: { name: 'x' } })).toEqual([]);
    }
  });

  it('writes calls, and each result as a message right after them', () => {
    expect(
      write(
        'assistant',
        text('Looking.'),
        { type: 'toolCall', id: 'c1', name: 'look', input: { at: 1 } },
        { type: 'toolCall', id: 'c2', name: 'look', input: '{"broken' },
        { type: 'toolCall', id: 'c3', name: 'look', input: undefined },
        { type: 'toolResult', callId: 'c1', content: [text('seen')] },
      ),
    ).toEqual([
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: [call('c1', 'look', '{"at":1}'), call('c2', 'look', '{"broken'), call('c3')],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'seen' },
    ]);
  });

  it('writes several results as several messages, before what the user says beside them', () => {
    const results: Part[] = [
      { type: 'toolResult', callId: 'c1', content: [text('a'), text('b')] },
      { type: 'toolResult', callId: 'c2', content: [], isError: true },
    ];
    const messages = [
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'tool', tool_call_id: 'c2', content: '' },
    ];
    expect(write('tool', ...results)).toEqual(messages);
    expect(write('user', text('And now?'), ...results)).toEqual([...messages, { role: 'user', content: 'And now?' }]);
  });

  it('writes a replacement that is recognized, also where the user has a name', () => {
    const said = parts({
      role: 'user',
      name: 'bob',
      content: [{ type: 'text', text: 'Look' }, image, { type: 'sticker', id: 7 }],
    });
    const replacement = buildReplacement({ summary: 'S', lastUserMessage: said });
    const [written, ...others] = adapter.writeMessage(replacement);
    expect(others).toEqual([]);
    const [again] = adapter.readItem(written!);
    expect(again && readReplacement(again)).toEqual({ summary: 'S', lastUserMessage: said.slice(0, 3) });
  });

  it('writes well-formed text', () => {
    expect(write('user', text('a\ud800b'))).toEqual([{ role: 'user', content: 'a\ufffdb' }]);
  });

  it('has a typed error for an input that is no JSON', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const input of [cycle, 10n]) {
      let error: unknown;
      try {
        write('assistant', { type: 'toolCall', id: 'c', name: 'n', input });
      } catch (thrown) {
        error = thrown;
      }
      expect(isCompactionError(error) && error.code).toBe('invalid-request');
    }
  });

  it.each<Loose>([
    { role: 'system', content: 'Be exact.' },
    { role: 'user', content: 'Hello' },
    { role: 'user', content: [{ type: 'text', text: 'Look' }, image, { type: 'text', text: 'here' }] },
    { role: 'user', content: [{ type: 'sticker', id: 7 }] },
    { role: 'user', content: { odd: true } },
    { role: 'assistant', content: 'Hello', type: 'message' },
    { role: 'assistant', content: 'Yes.', reasoning_details: [{ type: 'x', data: 'y' }] },
    { role: 'assistant', tool_calls: [call('c1', 'look', '{"at":[1,"two",null]}'), call('c2', 'look', 'not json')] },
    { role: 'assistant', content: 'Looking.', tool_calls: [call('c1')] },
    { role: 'assistant', audio: { id: 'audio_1' } },
    { role: 'assistant', function_call: { name: 'look', arguments: '{}' } },
    { role: 'tool', tool_call_id: 'c1', content: 'seen' },
    { role: 'tool', tool_call_id: 'c1', content: '', name: 'look' },
    { role: 'function', name: 'look', content: 'seen' },
  ])('gives back what was read: %j', (message) => {
    expect(read(message).flatMap(adapter.writeMessage)).toEqual([message]);
  });
});

describe('repairItem', () => {
  it.each<Loose>([
    { role: 'user', content: 'Hello' },
    { role: 'user', content: [{ type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } }] },
    { role: 'assistant', content: 'Yes.', refusal: null, annotations: [] },
    { role: 'assistant', content: '', tool_calls: [call('c1')] },
    { role: 'assistant', content: null, tool_calls: [call('c1', 'look', '{"broken')] }, // nobody knows what it was to be
    { role: 'assistant', content: null, refusal: 'No.' },
    { role: 'assistant', audio: { id: 'a' } },
    { role: 'tool', content: '', tool_call_id: 'c1' },
    { role: 'critic', content: '' },
  ])('gives back the same object where nothing is wrong: %j', (message) => {
    expect(adapter.repairItem(Object.freeze(message))).toBe(message);
  });

  it.each<Loose>([
    { role: 'user', content: ' \n' },
    { role: 'user' },
    { role: 'user', content: null },
    { role: 'user', content: [] },
    { role: 'user', content: [{ type: 'text', text: '' }, null] },
    { role: 'system', content: '' },
    { role: 'assistant', content: ' \n' }, // B039
    { role: 'assistant', content: [] },
    { role: 'assistant', content: null },
    { role: 'assistant', content: null, tool_calls: [] },
    { role: 'assistant', content: '', refusal: '', tool_calls: [null] },
  ])('B039: leaves nothing of an empty message: %j', (message) => {
    expect(adapter.repairItem(message)).toBeUndefined();
  });

  it.each([
    ['an empty list of calls', { role: 'assistant', content: 'x', tool_calls: [] }, { role: 'assistant', content: 'x' }],
    ['no list of calls', { role: 'assistant', content: 'x', tool_calls: null }, { role: 'assistant', content: 'x' }],
    [
      'empty arguments',
      { role: 'assistant', tool_calls: [call('c1', 'look', ''), call('c2')] },
      { role: 'assistant', tool_calls: [call('c1'), call('c2')] },
    ],
    [
      'empty legacy arguments',
      { role: 'assistant', function_call: { name: 'look', arguments: '' } },
      { role: 'assistant', function_call: { name: 'look', arguments: '{}' } },
    ],
    [
      'white space beside calls',
      { role: 'assistant', content: '\n', tool_calls: [call('c1')] },
      { role: 'assistant', content: null, tool_calls: [call('c1')] },
    ],
    [
      'an empty list beside calls',
      { role: 'assistant', content: [], tool_calls: [call('c1')] },
      { role: 'assistant', content: null, tool_calls: [call('c1')] },
    ],
    [
      'blank parts',
      {
        role: 'user',
        content: [
          { type: 'text', text: ' ' },
          { type: 'text', text: 'x' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
    ],
    ['a result without content', { role: 'tool', tool_call_id: 'c1' }, { role: 'tool', tool_call_id: 'c1', content: '' }],
    [
      'a result of blank parts',
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '' }] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
    ],
  ])('makes good %s', (_name, broken, whole) => {
    const before = structuredClone(broken);
    expect(adapter.repairItem(broken)).toEqual(whole);
    expect(broken).toEqual(before);
  });
});

describe('any message', () => {
  const loose = fc.oneof(fc.constant(null), fc.constant(''), fc.constant(' \n'), fc.string({ unit: 'binary' }), fc.anything());
  const part = fc.oneof(
    loose,
    fc.record(
      {
        type: fc.constantFrom('text', 'image_url', 'input_audio', 'file', 'refusal', 'other'),
        text: loose,
        image_url: loose,
        file: loose,
        refusal: loose,
      },
      { requiredKeys: ['type'] },
    ),
  );
  const anyCall = fc.oneof(
    loose,
    fc.record(
      { id: loose, type: loose, function: fc.oneof(loose, fc.record({ name: loose, arguments: loose })), custom: loose },
      { requiredKeys: [] },
    ),
  );
  const anyMessage = fc.record(
    {
      role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function', 'critic'),
      content: fc.oneof(loose, fc.array(part)),
      tool_calls: fc.oneof(loose, fc.array(anyCall)),
      function_call: anyCall,
      tool_call_id: loose,
      audio: loose,
      name: loose,
      refusal: loose,
      reasoning_content: loose,
    },
    { requiredKeys: ['role'] },
  );

  it('can be read, written and repaired, and stays as it was', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const frozen = Object.freeze(message);
        const neutral = read(frozen);
        expect(neutral).toHaveLength(1);
        expect(read(frozen)).toEqual(neutral);
        const repaired = adapter.repairItem(frozen);
        if (repaired) {
          expect(adapter.repairItem(repaired)).toBe(repaired);
          adapter.readItem(repaired);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is legal once written, whatever its text', () => {
    const wild = fc.oneof(fc.constant(''), fc.constant('\n'), fc.string({ unit: 'binary' }), fc.constant('\ud800'));
    const neutralPart = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: wild }),
      fc.record({ type: fc.constant('reasoning' as const), text: wild }),
    );
    fc.assert(
      fc.property(fc.array(neutralPart), fc.array(fc.json()), fc.array(wild), (said, inputs, returned) => {
        const calls = inputs.map(
          (input, index): Part => ({ type: 'toolCall', id: `c${index}`, name: 'look', input: JSON.parse(input) }),
        );
        const results = inputs.map(
          (_, index): Part => ({
            type: 'toolResult',
            callId: `c${index}`,
            content: returned.map((value) => ({ type: 'text', text: value })),
          }),
        );
        const messages = [
          ...write('system', ...said),
          { role: 'user', content: 'Hello' },
          ...write('assistant', ...said, ...calls),
          ...write('tool', ...results),
          ...write('user', ...said),
          { role: 'user', content: 'Go on' },
        ];
        expect(validateOpenAiChat({ model: 'm', messages })).toEqual([]);
      }),
    );
  });
});

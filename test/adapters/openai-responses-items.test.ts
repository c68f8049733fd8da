import fc from 'fast-check';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { openaiResponses, type ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { countMessages, sumBreakdown } from '../../src/budget/breakdown.ts';
import { isCompactionError } from '../../src/errors.ts';
import { fingerprint } from '../../src/history/fingerprint.ts';
import type { Message, Part, Role, TextPart } from '../../src/message.ts';
import { buildReplacement, readReplacement } from '../../src/prompt/replacement.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';

const adapter = openaiResponses();
/** Any object: what servers and applications send in spite of the types. */
type Loose = { [field: string]: unknown };
const read = (item: ResponseInputItem | Loose): Message[] => adapter.readItem(item as ResponsesItem);
const parts = (item: ResponseInputItem | Loose): readonly Part[] => read(item)[0]?.parts ?? [];
const write = (role: Role, ...list: Part[]): ResponsesItem[] => adapter.writeMessage({ role, parts: list });
const repair = (item: ResponseInputItem | Loose) => adapter.repairItem(item as ResponsesItem);
const text = (value: string): TextPart => ({ type: 'text', text: value });

const gif = 'R0lGODlhAgADAAAAACH5BAAAAAAALAAAAAACAAMAAAICBAoAOw==';
const image = { type: 'input_image', detail: 'low', image_url: `data:image/gif;base64,${gif}` } as const;
const said = { type: 'output_text', text: 'Fine.', annotations: [] } as const;

describe('an item of a class with getters', () => {
  it('is read as what is sent', () => {
    const plain = { role: 'user', content: [{ type: 'input_text', text: 'Look.' }] } as const;
    const item = new (class {
      readonly [key: string]: unknown;
      get role(): string {
        return plain.role;
      }
      toJSON(): object {
        return plain;
      }
    })();
    expect(read(item)).toEqual(read(plain));
  });
});

describe('readItem', () => {
  it.each([
    ['system', 'system'],
    ['developer', 'system'],
    ['user', 'user'],
    ['assistant', 'assistant'],
  ] as const)('reads a message of the role %s as %s, with or without its type', (role, neutral) => {
    const expected = [{ role: neutral, parts: [text('Hello')] }];
    expect(read({ role, content: 'Hello' })).toEqual(expected);
    expect(read({ type: 'message', role, content: 'Hello' })).toEqual(expected);
    expect(read({ type: null, role, content: [{ type: 'input_text', text: 'Hello' }] })).toEqual(expected);
    expect(read({ role, content: null })).toEqual([{ role: neutral, parts: [] }]);
  });

  it('reads a message of the model like one that was written without the ids of the server', () => {
    const output = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [said] } as const;
    expect(fingerprint(read(output))).toBe(fingerprint(read({ role: 'assistant', content: 'Fine.' })));
    expect(parts({ ...output, phase: 'commentary' })).toEqual([
      text('Fine.'),
      { type: 'native', value: { phase: 'commentary' } },
    ]);
    expect(parts({ ...output, content: [{ type: 'refusal', refusal: 'I cannot.' }] })).toEqual([text('I cannot.')]);
  });

  it('reads attachments, and carries parts that it does not know', () => {
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } as const;
    const audio = { type: 'input_audio', input_audio: { data: 'AAAAAAA=', format: 'wav' } };
    const odd = { type: 'input_video', video_id: 'v' };
    const marked = { ...image, prompt_cache_breakpoint: { mode: 'explicit' } };
    expect(parts({ role: 'user', content: [marked, file, audio, odd, { type: 'input_image', file_id: 'f' }] })).toEqual([
      { type: 'media', kind: 'image', value: image, bytes: 37, width: 2, height: 3, detail: 'low' },
      { type: 'media', kind: 'document', value: file, bytes: 3 },
      { type: 'media', kind: 'audio', value: audio, bytes: 5 },
      { type: 'native', value: odd },
      { type: 'media', kind: 'image', value: { type: 'input_image', file_id: 'f' } },
    ]);
  });

  it('reads calls with parsed arguments, and the result of each', () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{"at": [1]}' } as const;
    expect(read({ ...call, status: 'completed' })).toEqual([
      { role: 'assistant', parts: [{ type: 'toolCall', id: 'c1', name: 'look', input: { at: [1] } }] },
    ]);
    expect(parts({ ...call, arguments: 'not JSON', namespace: 'eyes', caller: null })).toEqual([
      { type: 'toolCall', id: 'c1', name: 'look', input: 'not JSON' },
      { type: 'native', value: { namespace: 'eyes' } },
    ]);
    expect(read({ type: 'function_call_output', call_id: 'c1', output: 'seen' })).toEqual([
      { role: 'tool', parts: [{ type: 'toolResult', callId: 'c1', content: [text('seen')] }] },
    ]);
    expect(parts({ type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'a' }, image] })).toEqual([
      {
        type: 'toolResult',
        callId: 'c1',
        content: [text('a'), { type: 'media', kind: 'image', value: image, bytes: 37, width: 2, height: 3, detail: 'low' }],
      },
    ]);
    expect(parts({ type: 'function_call_output', call_id: 'c1', output: '' })).toEqual([
      { type: 'toolResult', callId: 'c1', content: [] },
    ]);
  });

  it('reads calls of custom tools as what they are', () => {
    const mark = (type: string) => ({ type: 'native', value: { type } });
    expect(parts({ type: 'custom_tool_call', call_id: 'c1', name: 'sql', input: '{"a":1}' })).toEqual([
      { type: 'toolCall', id: 'c1', name: 'sql', input: '{"a":1}' },
      mark('custom_tool_call'),
    ]);
    expect(parts({ type: 'custom_tool_call_output', call_id: 'c1', output: 'one row' })).toEqual([
      { type: 'toolResult', callId: 'c1', content: [text('one row')] },
      mark('custom_tool_call_output'),
    ]);
  });

  it('reads the text of reasoning, and carries its seal', () => {
    const thought = {
      id: 'rs_1',
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Looked twice.' }],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
      encrypted_content: 'gAAA',
    } as const;
    const seal = { id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAA' };
    expect(read(thought as never)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Looked twice.' },
          { type: 'reasoning', text: 'Hm.' },
          { type: 'native', value: seal },
        ],
      },
    ]);
    expect(fingerprint(read({ ...thought, encrypted_content: 'gBBB' } as never))).not.toBe(fingerprint(read(thought as never)));
  });

  const opaque: [Role, Loose][] = [
    ['assistant', { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }],
    ['assistant', { type: 'mcp_call', id: 'mcp_1', name: 'send', arguments: '{}', output: 'sent' }],
    ['assistant', { type: 'computer_call', id: 'cu_1', call_id: 'c1', action: { type: 'screenshot' } }],
    ['assistant', { type: 'program', id: 'prog_1', call_id: 'p1', code: 'look()', fingerprint: 'f' }],
    ['assistant', { type: 'configuration_update', effort: 'low' }],
    ['assistant', { type: 'item_reference', id: 'msg_1' }],
    ['assistant', { id: 'msg_1' }],
    ['assistant', { type: 'function_call', name: 'no id', arguments: '{}' }],
    ['tool', { type: 'shell_call_output', call_id: 'c1', output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit' } }] }],
    ['tool', { type: 'mcp_approval_response', approval_request_id: 'q', approve: true }],
    ['tool', { type: 'function_call_output', name: 'handoff', output: 'to you' }],
    ['system', { type: 'compaction', encrypted_content: 'gAAA' }],
    ['system', { type: 'additional_tools', role: 'developer', tools: [] }],
  ];

  it.each(opaque)('carries as %s, whole, %j', (role, item) => {
    expect(read(item)).toEqual([{ role, parts: [{ type: 'native', value: item }] }]);
    if (role !== 'system') return;
    expect(adapter.writeMessage({ role, parts: parts(item) })).toEqual([item]);
  });

  it('counts an image that is an item by its size, not by its base64', () => {
    const data = gif.padEnd(400_000, 'A');
    const screen = { type: 'computer_screenshot', image_url: `data:image/gif;base64,${data}` };
    for (const item of [
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: data },
      { type: 'computer_call_output', call_id: 'c1', output: screen },
    ]) {
      expect(parts(item)).toEqual([{ type: 'media', kind: 'image', value: item, bytes: 300_000, width: 2, height: 3 }]);
      const counted = countMessages(read(item), { count: (value) => value.length, family: 'openai', model: 'gpt-5' });
      expect(sumBreakdown(counted)).toBeLessThan(1000);
    }
  });

  it('never takes a role that it does not know for the user', () => {
    expect(read({ type: 'message', role: 'critic', content: 'Bad.' })).toEqual([
      { role: 'assistant', parts: [text('Bad.'), { type: 'native', value: { role: 'critic' } }] },
    ]);
  });

  it('does not care for the order of fields, for ids, and for fields that say nothing', () => {
    const left = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}', namespace: 'n', note: 'x' };
    const right = { note: 'x', namespace: 'n', caller: null, arguments: '{}', name: 'f', call_id: 'c', type: 'function_call' };
    expect(fingerprint(read(left))).toBe(fingerprint(read(right)));
  });

  it('never throws, whatever the fields hold', () => {
    const kinds = ['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'computer_call_output'];
    const odd = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.constant(Number.NaN));
    const fields = ['role', 'content', 'summary', 'call_id', 'name', 'arguments', 'input', 'output', 'status', 'phase', 'id'];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...fields), odd), (type, item) => {
        const loose = { type, role: 'user', ...item };
        const [message, ...others] = read(loose);
        expect(others).toEqual([]);
        expect(message?.parts).toBeInstanceOf(Array);
        repair(loose);
        adapter.pairItems?.([loose as never], { closeOpen: true, missingResult: 'none', writeOrphan: () => [] });
      }),
      { numRuns: 500 },
    );
  });
});

describe('writeMessage', () => {
  it('writes one text as a string, several parts as parts of their role', () => {
    expect(write('user', text('Hello'))).toEqual([{ type: 'message', role: 'user', content: 'Hello' }]);
    expect(write('system', text('Be exact.'))).toEqual([{ type: 'message', role: 'system', content: 'Be exact.' }]);
    expect(write('assistant', text('Fine.'))).toEqual([{ type: 'message', role: 'assistant', content: 'Fine.' }]);
    expect(write('user', text('See:'), { type: 'media', kind: 'image', value: image })).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'See:' }, image] },
    ]);
    expect(write('assistant', text('one'), text('two'))).toEqual([
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'one' },
          { type: 'output_text', text: 'two' },
        ],
      },
    ]);
    expect(write('user', text(' \n'))).toEqual([]);
  });

  it('writes calls and results as items of their own, in their order', () => {
    expect(
      write(
        'assistant',
        text('Looking.'),
        { type: 'toolCall', id: 'a', name: 'look', input: { at: 1 } },
        { type: 'toolCall', id: 'b', name: 'sql', input: 'SELECT 1' },
        { type: 'native', value: { type: 'custom_tool_call' } },
      ),
    ).toEqual([
      { type: 'message', role: 'assistant', content: 'Looking.' },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"at":1}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'sql', input: 'SELECT 1' },
    ]);
    expect(
      write(
        'user',
        text('And now?'),
        { type: 'toolResult', callId: 'a', content: [text('seen'), { type: 'media', kind: 'image', value: image }] },
        { type: 'toolResult', callId: 'b', content: [] },
      ),
    ).toEqual([
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'seen' }, image] },
      { type: 'function_call_output', call_id: 'b', output: '' },
      { type: 'message', role: 'user', content: 'And now?' },
    ]);
  });

  it('K13: writes what an assistant did step by step, with ids for calls that have none', () => {
    const items = write(
      'assistant',
      text('Looking.'),
      { type: 'toolCall', id: '', name: 'look', input: {} },
      { type: 'toolResult', callId: '', content: [text('seen')] },
      text('Fine.'),
    );
    expect(items).toMatchObject([
      { type: 'message', content: 'Looking.' },
      { type: 'function_call', name: 'look' },
      { type: 'function_call_output', output: 'seen', call_id: items[1]?.call_id },
      { type: 'message', content: 'Fine.' },
    ]);
    const input = [{ role: 'user', content: 'Look.' }, ...items, { role: 'user', content: 'Thanks.' }];
    expect(validateOpenAiResponses({ model: 'm', input })).toEqual([]);
  });

  it('writes no id of the server and no reasoning, which belongs to another prefix', () => {
    const items: Loose[] = [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAA' },
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [said], phase: 'final_answer' },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{"at":1}', status: 'completed' },
      { type: 'function_call_output', id: 'fco_1', call_id: 'c1', output: 'seen', caller: { type: 'direct' } },
    ];
    expect(items.flatMap(read).flatMap((message) => adapter.writeMessage(message))).toEqual([
      { type: 'message', role: 'assistant', phase: 'final_answer', content: 'Fine.' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'seen', caller: { type: 'direct' } },
    ]);
  });

  it.each<[Loose]>([
    [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }],
    [{ type: 'function_call_output', name: 'handoff', output: 'to you' }],
    [{ type: 'computer_call_output', call_id: 'c1', output: { type: 'computer_screenshot', image_url: `data:,${gif}` } }],
    [{ type: 'image_generation_call', id: 'ig_1', result: gif }],
  ])('writes what was read as a whole item back as that item: %j', (item) => {
    const [written] = read(item).flatMap((message) => adapter.writeMessage(message));
    expect(written).toEqual(item);
  });

  it('round trip: what is written reads the same', () => {
    const content = fc.oneof(
      fc
        .string({ minLength: 1 })
        .filter((value) => /\S/.test(value))
        .map(text),
      fc.constant<Part>({ type: 'media', kind: 'image', value: { type: 'input_image', file_id: 'f' } }),
    );
    const message = fc.oneof(
      fc.record({ role: fc.constant<Role>('user'), parts: fc.array(content, { minLength: 1 }) }),
      fc.record({
        role: fc.constant<Role>('assistant'),
        parts: fc.array(fc.string({ minLength: 1 }).map(text), { minLength: 1 }),
      }),
      fc.record({
        role: fc.constant<Role>('assistant'),
        parts: fc.tuple(
          fc.record({
            type: fc.constant('toolCall' as const),
            id: fc.string({ minLength: 1 }),
            name: fc.string({ minLength: 1 }),
            input: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()), { noNullPrototype: true }),
          }),
        ),
      }),
    );
    fc.assert(
      fc.property(message, ({ role, parts: list }) => {
        const kept = list.filter((part) => part.type !== 'text' || /\S/.test(part.text));
        const back = adapter.writeMessage({ role, parts: list }).flatMap(adapter.readItem);
        expect(back.flatMap((one) => one.parts)).toEqual(kept);
      }),
    );
  });

  it('a replacement is known again, with attachments and parts that nobody knows', () => {
    const last: Part[] = [
      text('See this.'),
      { type: 'media', kind: 'image', value: image },
      { type: 'native', value: { type: 'input_video', video_id: 'v' } },
      { type: 'native', value: { type: 'hologram', id: 'h' } },
      { type: 'native', value: { type: 'hologram' } },
    ];
    const items = adapter.writeMessage(buildReplacement({ summary: 'All of it.', lastUserMessage: last }));
    expect(items).toHaveLength(1);
    const [message] = adapter.readItem(items[0]!);
    const found = message && readReplacement(message);
    expect(found?.summary).toBe('All of it.');
    expect(found?.lastUserMessage).toMatchObject(last);
    expect(validateOpenAiResponses({ model: 'm', input: adapter.writeMessage(buildReplacement({ summary: 'x' })) })).toEqual([]);
  });

  it('names an input that is no JSON', () => {
    const cycle: Loose = {};
    cycle.self = cycle;
    let error: unknown;
    try {
      write('assistant', { type: 'toolCall', id: 'a', name: 'f', input: cycle });
    } catch (thrown) {
      error = thrown;
    }
    expect(isCompactionError(error) && error.code).toBe('invalid-request');
  });
});

describe('repairItem', () => {
  it('is the very same object where nothing is wrong', () => {
    const sound: (ResponseInputItem | Loose)[] = [
      { role: 'user', content: 'Hello' },
      { role: 'user', content: [{ type: 'input_text', text: 'Hello' }, image] },
      { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [said] },
      // The model's own, and reasoning may be tied to it.
      { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ ...said, text: '' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"cut' },
      { type: 'function_call_output', call_id: 'a', output: '' },
      { type: 'function_call_output', name: 'handoff', output: 'to you' },
      { type: 'compaction', encrypted_content: 'gAAA' },
      { type: 'configuration_update', text: '' },
      { id: 'msg_1' },
    ];
    for (const item of sound) expect(repair(item)).toBe(item);
  });

  it('B039: leaves out blank text, and messages that say nothing', () => {
    expect(repair({ role: 'user', content: ' \n' })).toBeUndefined();
    expect(repair({ role: 'assistant', content: null })).toBeUndefined();
    expect(repair({ role: 'user', content: [] })).toBeUndefined();
    expect(repair({ role: 'user', content: [{ type: 'input_text', text: ' ' }, null, image] })).toEqual({
      role: 'user',
      content: [image],
    });
  });

  it('leaves out what an SDK added to the items of a reply', () => {
    expect(
      repair({ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}', parsed_arguments: null, created_by: 'me' }),
    ).toEqual({ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' });
    const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' };
    expect(repair({ ...message, content: [{ ...said, parsed: { a: 1 } }] })).toEqual({ ...message, content: [said] });
  });

  it('fills what must not be missing', () => {
    const call = { type: 'function_call', call_id: 'a', name: 'f' };
    expect(repair({ ...call, arguments: '' })).toEqual({ ...call, arguments: '{}' });
    expect(repair({ type: 'function_call_output', call_id: 'a', output: null })).toEqual({
      type: 'function_call_output',
      call_id: 'a',
      output: '',
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { PairOptions } from '../../src/adapters/adapter.ts';
import { type GeminiContent, type GeminiPart, geminiContents } from '../../src/adapters/google-genai.ts';
import type { Part } from '../../src/message.ts';

const adapter = geminiContents();
// Parts hold more than the fields that the adapter names.
const content = (role: string, ...parts: object[]): GeminiContent => ({ role, parts: parts as readonly GeminiPart[] });
const read = (item: GeminiContent): readonly Part[] => adapter.readItem(item).flatMap(({ parts }) => parts);
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAUCAYAAAC07w7bAAAAAElFTkSuQmCC';

describe('reading', () => {
  it('tells what is said from what is thought', () => {
    const item = content('model', { text: 'Hm.', thought: true }, { text: 'Done.' }, { text: '' });
    expect(adapter.readItem(item)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Done.' },
        ],
      },
    ]);
  });

  it('reads calls, and gives those without an id one that tells them apart', () => {
    const item = content(
      'model',
      { functionCall: { id: 'c1', name: 'read', args: { path: 'a.ts' } } },
      { functionCall: { name: 'read' } },
      { functionCall: { name: 'read', args: null } },
    );
    const calls = read(item);
    expect(calls).toMatchObject([
      { type: 'toolCall', id: 'c1', name: 'read', input: { path: 'a.ts' } },
      { type: 'toolCall', name: 'read', input: {} },
      { type: 'toolCall', name: 'read', input: {} },
    ]);
    expect(new Set(calls.map((part) => part.type === 'toolCall' && part.id)).size).toBe(3);
  });

  it('reads results, and what stands beside them', () => {
    const image = { inlineData: { mimeType: 'image/png', data: png } };
    const item = content(
      'user',
      { text: 'Be quick.' },
      { functionResponse: { id: 'c1', name: 'read', response: { output: 'export {}' }, parts: [image] } },
      { functionResponse: { id: 'c2', name: 'read', response: { error: 'no such file' } } },
      { functionResponse: { id: 'c3', name: 'read', response: { lines: 3 } } },
      { functionResponse: { id: 'c4', name: 'read', response: { output: '' } } },
      { functionResponse: { id: 'c5', name: 'read', response: 'broken' } },
      { functionResponse: { id: 'c6', name: 'read' } },
    );
    expect(adapter.readItem(item)).toEqual([
      {
        role: 'tool',
        parts: [
          {
            type: 'toolResult',
            callId: 'c1',
            name: 'read',
            content: [
              { type: 'text', text: 'export {}' },
              { type: 'media', kind: 'image', width: 10, height: 20, bytes: 45, value: image },
            ],
          },
          { type: 'toolResult', callId: 'c2', name: 'read', content: [{ type: 'text', text: 'no such file' }], isError: true },
          { type: 'toolResult', callId: 'c3', name: 'read', content: [{ type: 'text', text: '{"lines":3}' }] },
          { type: 'toolResult', callId: 'c4', name: 'read', content: [] },
          { type: 'toolResult', callId: 'c5', name: 'read', content: [{ type: 'text', text: 'broken' }] },
          { type: 'toolResult', callId: 'c6', name: 'read', content: [] },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'Be quick.' }] },
    ]);
  });

  it.each([
    ['image/png', { inlineData: { mimeType: 'image/png', data: png } }, { kind: 'image', width: 10, height: 20, bytes: 45 }],
    [
      'an image with a resolution',
      { fileData: { mimeType: 'image/jpeg', fileUri: 'gs://b/o' }, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } },
      { kind: 'image', detail: 'MEDIA_RESOLUTION_LOW' },
    ],
    ['audio', { inlineData: { mimeType: 'audio/mp3', data: 'AAAA' } }, { kind: 'audio', bytes: 3 }],
    ['a video', { fileData: { mimeType: 'video/mp4', fileUri: 'x' }, videoMetadata: { fps: 1 } }, { kind: 'video' }],
    ['a document', { inlineData: { mimeType: 'application/pdf', data: 'AA==' } }, { kind: 'document', bytes: 1 }],
    ['a file of an unknown type', { fileData: { fileUri: 'x' } }, { kind: 'document' }],
    ['the spelling of REST', { inline_data: { mime_type: 'image/png', data: png } }, { kind: 'image', width: 10 }],
  ])('reads attachments: %s', (_name, part, expected) => {
    const [media] = read(content('user', part));
    expect(media).toMatchObject({ type: 'media', ...expected });
    expect(media?.type === 'media' && media.value).toBe(part);
  });

  it.each([
    { executableCode: { code: 'print(1)', language: 'PYTHON' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { toolCall: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', args: {} }, thoughtSignature: 'c2ln' },
    { toolResponse: { id: 't1', response: {} } },
    { text: '', thoughtSignature: 'c2ln' },
    { thoughtSignature: 'c2ln' },
    { thought: true, inlineData: { mimeType: 'image/png', data: png } },
    { hologram: { deep: [1] } },
  ])('carries what it does not know as it is: %j', (part) => {
    const [native, ...others] = read(content('model', part));
    expect(native?.type === 'native' && native.value).toBe(part);
    expect(others).toEqual([]);
  });

  it('tells a text from one that is signed otherwise', () => {
    const signed = (thoughtSignature?: string): object => ({ text: 'Done.', ...(thoughtSignature && { thoughtSignature }) });
    const texts = [signed(), signed('YQ=='), signed('Yg==')].map((part) => JSON.stringify(read(content('model', part))));
    expect(new Set(texts).size).toBe(3);
  });

  it('keeps a call of the user and a result of the model out of the pairs', () => {
    expect(read(content('user', { functionCall: { name: 'read' } })).map(({ type }) => type)).toEqual(['native']);
    expect(read(content('model', { functionResponse: { name: 'read' } })).map(({ type }) => type)).toEqual(['native']);
    expect(read(content('model', 5 as never, null as never))).toEqual([{ type: 'native', value: 5 }]);
  });

  it('reads results with the ids of their calls, wherever ids are missing', () => {
    const call = (name: string, id?: string): object => ({ functionCall: { ...(id && { id }), name } });
    const result = (name: string, id?: string): object => ({
      functionResponse: { ...(id && { id }), name, response: { output: name } },
    });
    const paired = (calls: object[], ...results: object[][]): unknown[] => {
      const contents = [
        content('user', { text: 'Go.' }),
        content('model', ...calls),
        ...results.map((parts) => content('user', ...parts)),
      ];
      const parts = adapter.items({ contents }).flatMap(read);
      const ids = parts.flatMap((part) => (part.type === 'toolCall' ? [part.id] : []));
      return parts.flatMap((part) => (part.type === 'toolResult' ? [ids.indexOf(part.callId)] : []));
    };
    expect(paired([call('a', '1'), call('a', '2')], [result('a', '2'), result('a', '1')])).toEqual([1, 0]);
    expect(paired([call('a', '1'), call('b', '2'), call('a', '3')], [result('a'), result('a'), result('b')])).toEqual([0, 2, 1]);
    expect(paired([call('a'), call('a')], [result('a', 'x'), result('a', 'y')])).toEqual([0, 1]);
    expect(paired([call('a'), call('a')], [result('a')], [result('a')])).toEqual([0, 1]);
    expect(paired([call('a', '1'), call('a', '2')], [result('a'), result('a', '1')])).toEqual([1, 0]);
    expect(paired([call('a', '1')], [result('a', '2')])).toEqual([-1]);
  });
});

describe('writing', () => {
  it('writes what it has read, signatures in their places', () => {
    const items = [
      content('user', { text: 'See.', partMetadata: { source: 'editor' } }, { inlineData: { mimeType: 'image/png', data: png } }),
      content(
        'model',
        { text: 'Let me look.', thoughtSignature: 'YQ==' },
        { functionCall: { id: 'c1', name: 'read', args: { path: 'a.ts' } }, thoughtSignature: 'Yg==' },
        { functionCall: { id: 'c2', name: 'read', args: {} } },
      ),
      content('model', { text: 'Done.' }, { text: '', thoughtSignature: 'Yw==' }, { hologram: 1 }),
    ];
    for (const item of items) expect(adapter.readItem(item).flatMap(adapter.writeMessage)).toEqual([item]);
  });

  it('leaves thoughts out, and the signature of a call that is gone', () => {
    const item = content(
      'model',
      { text: 'Hm.', thought: true, thoughtSignature: 'YQ==' },
      { text: 'Let me look.' },
      { functionCall: { id: 'c1', name: 'read' }, thoughtSignature: 'Yg==' },
      { thought: true, inlineData: { mimeType: 'image/png', data: png } },
    );
    const parts = read(item).filter(({ type }) => type !== 'toolCall');
    expect(adapter.writeMessage({ role: 'assistant', parts })).toEqual([content('model', { text: 'Let me look.' })]);
  });

  it('puts results by themselves, in front of what the user says', () => {
    const image = { inlineData: { mimeType: 'image/png', data: png } };
    const parts: Part[] = [
      { type: 'text', text: 'Be quick.' },
      {
        type: 'toolResult',
        callId: 'c1',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
          { type: 'media', kind: 'image', value: image },
        ],
      },
      { type: 'toolResult', callId: 'c2', content: [], isError: true },
      { type: 'toolResult', callId: '', content: [] },
    ];
    expect(adapter.writeMessage({ role: 'user', parts })).toEqual([
      content(
        'user',
        { functionResponse: { id: 'c1', response: { output: 'one\ntwo' }, parts: [image] } },
        { functionResponse: { id: 'c2', response: { error: 'The tool failed without a message.' } } },
        { functionResponse: { response: { output: '' } } },
      ),
      content('user', { text: 'Be quick.' }),
    ]);
  });

  it('writes a message with its own results step by step', () => {
    const written = adapter.writeMessage({
      role: 'assistant',
      parts: [
        { type: 'text', text: 'First.' },
        { type: 'toolCall', id: '', name: 'read', input: 'a.ts' },
        { type: 'toolResult', callId: '', content: [] },
        { type: 'text', text: 'Done.' },
      ],
    });
    expect(written.map(({ role }) => role)).toEqual(['model', 'user', 'model']);
    expect(written[0]?.parts).toMatchObject([{ text: 'First.' }, { functionCall: { name: 'read', args: { value: 'a.ts' } } }]);
  });

  it('leaves out what is blank, and mends broken characters', () => {
    expect(adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: ' \n' }] })).toEqual([]);
    expect(adapter.writeMessage({ role: 'assistant', parts: [] })).toEqual([]);
    expect(adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: 'a\ud800' }] })).toEqual([
      content('user', { text: 'a\ufffd' }),
    ]);
  });

  it('has the user say what a system message says: there is no place for it', () => {
    expect(adapter.writeMessage({ role: 'system', parts: [{ type: 'text', text: 'Mind the time.' }] })).toEqual([
      content('user', { text: 'Mind the time.' }),
    ]);
  });
});

describe('repair', () => {
  it('gives back what is whole', () => {
    for (const item of [
      content('user', { text: '\n' }),
      content('model', { text: '', thoughtSignature: 'c2ln' }, { functionCall: { name: 'read' } }),
      content('user', { functionResponse: { response: {} } }),
      { parts: [{ text: 'Go.' }] },
    ])
      expect(adapter.repairItem(item)).toBe(item);
  });

  it('B039: leaves out what says nothing, and nothing else', () => {
    for (const item of [content('model'), { role: 'model' }, content('model', { text: '' }, {}), content('user', null as never)])
      expect(adapter.repairItem(item)).toBeUndefined();
    const kept = { text: 'Done.' };
    const repaired = adapter.repairItem(content('model', { text: '' }, kept, { thought: true, text: '' }));
    expect(repaired).toEqual(content('model', kept));
    expect(repaired?.parts?.[0]).toBe(kept);
  });

  it('leaves out calls of the user, results of the model and calls without a name', () => {
    const call = { functionCall: { name: 'read' } };
    const result = { functionResponse: { name: 'read', response: {} } };
    expect(adapter.repairItem(content('user', call, result))).toEqual(content('user', result));
    expect(adapter.repairItem(content('model', call, result, { functionCall: {} }))).toEqual(content('model', call));
  });

  it('makes objects of arguments and responses that are none', () => {
    const model = content('model', { functionCall: { name: 'a', args: [1] } }, { functionCall: { name: 'b', args: null } });
    expect(adapter.repairItem(model)?.parts).toEqual([
      { functionCall: { name: 'a', args: { value: [1] } } },
      { functionCall: { name: 'b', args: {} } },
    ]);
    const user = content('user', { function_response: { name: 'a', response: 'x' } }, { functionResponse: { name: 'b' } });
    expect(adapter.repairItem(user)?.parts).toEqual([
      { function_response: { name: 'a', response: { output: 'x' } } },
      { functionResponse: { name: 'b', response: { output: '' } } },
    ]);
  });
});

describe('pairing', () => {
  const options: PairOptions = {
    closeOpen: false,
    missingResult: 'none',
    writeOrphan: (result) => [{ type: 'text', text: 'lost:' }, ...result.content],
  };
  const pair = (contents: GeminiContent[], more: Partial<PairOptions> = {}): readonly GeminiContent[] =>
    adapter.pairItems?.(contents, { ...options, ...more }) ?? [];
  const go = content('user', { text: 'Go.' });
  const call = (id: string, name = 'read'): object => ({ functionCall: { id, name } });
  const result = (id: string, name = 'read'): object => ({ functionResponse: { id, name, response: { output: id } } });
  const missing = (id: string): object => ({ functionResponse: { id, response: { error: 'none' }, name: 'read' } });

  it('changes nothing where each call is answered', () => {
    for (const contents of [
      [
        go,
        content('model', call('1'), call('2')),
        content('user', result('2'), result('1')),
        content('model', { text: 'Done.' }),
      ],
      [go, content('model', call('1')), content('model', call('2')), content('user', result('1'), result('2')), go],
      [go, content('model', { functionCall: { name: 'a' } }), content('user', { functionResponse: { name: 'a', response: {} } })],
      [go, content('model', call('1')), content('user', result('1'), { text: 'Be quick.' })],
      [go, go, content('model', { text: 'Done.' })],
    ])
      expect(pair(contents, { closeOpen: true })).toBe(contents);
  });

  it('B013: leaves the calls open that still wait at the end, and closes them where the conversation is over', () => {
    const open = [go, content('model', call('1'), call('2')), content('user', result('1'))];
    expect(pair(open)).toBe(open);
    expect(pair(open, { closeOpen: true })).toEqual([...open.slice(0, 2), content('user', result('1'), missing('2'))]);
    const silent = open.slice(0, 2);
    expect(pair(silent)).toBe(silent);
    expect(pair(silent, { closeOpen: true })).toEqual([...silent, content('user', missing('1'), missing('2'))]);
  });

  it('B002: closes a call that the user passed over', () => {
    const contents = [go, content('model', call('1')), go, content('model', { text: 'Done.' })];
    expect(pair(contents)).toEqual([go, contents[1], content('user', missing('1')), go, contents[3]]);
  });

  it('B009: brings a result back to its call, the very same part', () => {
    const late = result('2');
    const model = content('model', call('1'), call('2'));
    const contents = [
      go,
      model,
      content('user', result('1')),
      content('model', { text: 'Hm.' }),
      content('user', late, { text: 'On.' }),
    ];
    const paired = pair(contents);
    expect(paired).toEqual([go, model, content('user', result('1'), late), contents[3], content('user', { text: 'On.' })]);
    expect(paired[2]?.parts?.[1]).toBe(late);
  });

  it('brings the results of a turn together, in front of what was said between them', () => {
    const model = content('model', call('1'), call('2'));
    const said = content('user', { text: 'Wait.' });
    expect(pair([go, model, content('user', result('2')), said, content('user', result('1'))])).toEqual([
      go,
      model,
      content('user', result('1'), result('2')),
      said,
    ]);
  });

  it('B001: makes text of a result whose call is missing', () => {
    expect(pair([content('user', result('1')), content('model', { text: 'Hm.' })])).toEqual([
      content('user', { text: 'lost:' }, { text: '1' }),
      content('model', { text: 'Hm.' }),
    ]);
    const model = content('model', call('1'));
    expect(pair([go, model, content('user', result('1'), result('1'))])).toEqual([
      go,
      model,
      content('user', result('1')),
      content('user', { text: 'lost:' }, { text: '1' }),
    ]);
  });

  it('answers each use of an id by itself', () => {
    const model = content('model', call('1'));
    const contents = [go, model, go, content('model', call('1')), content('user', result('1')), go];
    expect(pair(contents)).toEqual([go, model, content('user', missing('1')), go, ...contents.slice(3)]);
  });
});

import { Message } from 'genkit';
import { describe, expect, it } from 'vitest';
import { type GenkitMessage, genkitModel } from '../../src/adapters/genkit.ts';
import type { Message as NeutralMessage, Part, TextPart } from '../../src/message.ts';
import { freezeDeep } from '../support/freeze.ts';

const adapter = genkitModel();
const say = (role: string, ...content: object[]): GenkitMessage => ({ role, content });
const read = (item: GenkitMessage): Part[] => adapter.readItem(item).flatMap(({ parts }) => parts);
const write = (role: NeutralMessage['role'], ...parts: Part[]): GenkitMessage[] => adapter.writeMessage({ role, parts });
const text = (words: string): TextPart => ({ type: 'text', text: words });
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEUlEQVR4nGP8z8DwnwEKmGAMADUIAgTYQ0zXAAAAAElFTkSuQmCC';

describe('reading a message', () => {
  it('tells the roles apart', () => {
    expect(['system', 'user', 'model', 'tool'].map((role) => adapter.readItem(say(role, { text: 'x' }))[0]?.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('reads texts, and leaves blank ones of the user out', () => {
    expect(read(say('user', { text: 'a' }, { text: '' }, { text: ' \n' }, { text: 'b' }))).toEqual([text('a'), text('b')]);
    expect(adapter.readItem(say('user', { text: '' }))).toEqual([{ role: 'user', parts: [] }]);
  });

  it('reads plain texts where Genkit takes them', () => {
    const lenient = { role: 'user', content: 'Hello' } as unknown as GenkitMessage;
    expect(read(lenient)).toEqual([text('Hello')]);
    expect(read({ role: 'user', content: ['Hello'] } as unknown as GenkitMessage)).toEqual([text('Hello')]);
  });

  it('reads a `Message` as its data', () => {
    const data = { role: 'model' as const, content: [{ text: 'Fine.' }], metadata: { own: 1 } };
    expect(adapter.readItem(new Message(data))).toEqual(adapter.readItem(data));
  });

  it('pairs calls and responses by reference', () => {
    const calls = read(say('model', { toolRequest: { name: 'read', ref: 'a', input: { path: 'x' } } }));
    expect(calls).toEqual([{ type: 'toolCall', id: 'a', name: 'read', input: { path: 'x' } }]);
    expect(read(say('tool', { toolResponse: { name: 'read', ref: 'a', output: 'seen' } }))).toEqual([
      { type: 'toolResult', callId: 'a', name: 'read', content: [text('seen')] },
    ]);
  });

  it('pairs parallel calls of one tool without references by their order', () => {
    const request = (name: string, input: unknown) => ({ toolRequest: { name, input } });
    const response = (name: string, output: unknown) => ({ toolResponse: { name, output } });
    const calls = read(say('model', request('read', 1), request('write', 2), request('read', 3)));
    const results = read(say('tool', response('write', 'two'), response('read', 'one'), response('read', 'three')));
    const ids = calls.map((part) => part.type === 'toolCall' && part.id);
    expect(new Set(ids).size).toBe(3);
    expect(results.map((part) => part.type === 'toolResult' && part.callId)).toEqual([ids[1], ids[0], ids[2]]);
    expect(write('assistant', ...calls)).toEqual([say('model', request('read', 1), request('write', 2), request('read', 3))]);
    expect(write('tool', ...results)).toEqual([
      say('tool', response('write', 'two'), response('read', 'one'), response('read', 'three')),
    ]);
  });

  it('reads what a tool returned as text, whatever it is', () => {
    const returned = (output: unknown, content?: object[]) => {
      const [part] = read(say('tool', { toolResponse: { name: 'read', ref: 'a', output, ...(content && { content }) } }));
      return part?.type === 'toolResult' ? part.content : undefined;
    };
    expect(returned('')).toEqual([]);
    expect(returned(undefined)).toEqual([]);
    expect(returned(null)).toEqual([text('null')]);
    expect(returned({ lines: [1, 2n] })).toEqual([text('{"lines":[1,"2"]}')]);
    expect(returned(undefined, [{ text: 'a' }, { media: { url: png } }])).toEqual([
      text('a'),
      expect.objectContaining({ type: 'media', kind: 'image' }),
    ]);
  });

  it('tells the kind, the size and the bytes of an attachment', () => {
    const media = (url: string, contentType?: string) =>
      read(say('user', { media: { url, ...(contentType && { contentType }) } }))[0];
    expect(media(png)).toMatchObject({ type: 'media', kind: 'image', width: 2, height: 3 });
    expect(media('data:application/pdf;base64,aGVsbG8=')).toMatchObject({ kind: 'document', bytes: 5 });
    expect(media('https://example.test/a', 'audio/wav')).toEqual({
      type: 'media',
      kind: 'audio',
      value: { media: { url: 'https://example.test/a', contentType: 'audio/wav' } },
    });
    expect(media('https://example.test/a')).toMatchObject({ kind: 'image' });
    expect(media('')).toMatchObject({ type: 'media' });
  });

  it('tells reasoning apart, signed otherwise too', () => {
    const thought = (thoughtSignature: string) => say('model', { reasoning: 'Hm.', metadata: { thoughtSignature } });
    expect(read(thought('x'))[0]).toEqual({ type: 'reasoning', text: 'Hm.' });
    expect(read(thought('x'))).not.toEqual(read(thought('y')));
  });

  it('carries what it does not know', () => {
    const parts = [
      { data: { any: 1 } },
      { custom: { executableCode: { code: 'x' } } },
      { resource: { uri: 'notes://today' } },
      { type: 'x_unheard_of' },
      { text: '- [0]: A document.', metadata: { purpose: 'context' } },
    ];
    expect(read(say('model', ...parts))).toEqual(parts.map((value) => ({ type: 'native', value })));
  });

  it('reads nothing from the markers of a cache', () => {
    const marked = say('user', { text: 'a', metadata: { cache_control: { type: 'ephemeral' } } });
    expect(adapter.readItem({ ...marked, metadata: { cache: { ttlSeconds: 60 } } })).toEqual(
      adapter.readItem(say('user', { text: 'a' })),
    );
  });
});

describe('writing a message', () => {
  it('gives back what it read', () => {
    for (const item of [
      say('system', { text: 'Be exact.' }),
      say('user', { text: 'a' }, { media: { url: png } }, { text: 'b', metadata: { lang: 'en' } }, { resource: { uri: 'x' } }),
      say(
        'model',
        { text: 'I will.' },
        { toolRequest: { name: 'read', ref: 'a', input: {} }, metadata: { thoughtSignature: 's' } },
      ),
      say('model', { text: '[result]', custom: { anthropicServerToolResult: {} } }, { text: 'Fine.' }),
      { ...say('model', { text: 'Fine.', metadata: { thoughtSignature: 's' } }), metadata: { generate: { output: {} } } },
      {
        ...say('tool', { toolResponse: { name: 'tool', ref: 'a', output: 'x' }, metadata: { source: 'pending' } }),
        metadata: { resumed: true },
      },
    ])
      expect(adapter.readItem(freezeDeep(item)).flatMap(adapter.writeMessage)).toEqual([item]);
  });

  it('leaves out thoughts, redacted too, and the signature that goes with them', () => {
    const item = say(
      'model',
      { reasoning: 'Hm.', metadata: { thoughtSignature: 's' } },
      { custom: { redactedThinking: 'x' } },
      { text: 'Fine.' },
    );
    expect(adapter.readItem(item).flatMap(adapter.writeMessage)).toEqual([say('model', { text: 'Fine.' })]);
  });

  it('writes nothing where there is nothing to say', () => {
    expect(write('user', text(' \n'))).toEqual([]);
    expect(write('assistant')).toEqual([]);
    expect(write('assistant', { type: 'native', value: { messageFields: { metadata: {} } } })).toEqual([]);
  });

  it('marks no message of the user as what another was marked as', () => {
    const item = { ...say('user', { text: 'a' }), metadata: { preamble: true } };
    expect(adapter.readItem(item).flatMap(adapter.writeMessage)).toEqual([say('user', { text: 'a' })]);
  });

  it('replaces broken characters', () => {
    expect(write('user', text('half \ud83d'))).toEqual([say('user', { text: 'half \ufffd' })]);
  });

  it('puts the results of a step right behind its calls, with the names of their tools', () => {
    const parts: Part[] = [
      text('First.'),
      { type: 'toolCall', id: 'c1', name: 'read', input: undefined },
      { type: 'toolResult', callId: 'c1', content: [text('one')] },
      text('Then.'),
    ];
    expect(write('assistant', ...parts)).toEqual([
      say('model', { text: 'First.' }, { toolRequest: { name: 'read', ref: 'c1', input: {} } }),
      say('tool', { toolResponse: { name: 'read', ref: 'c1', output: 'one' } }),
      say('model', { text: 'Then.' }),
    ]);
  });

  it('writes what a user says beside results behind them', () => {
    const result: Part = { type: 'toolResult', callId: 'c1', content: [] };
    expect(write('tool', text('By the way.'), result)).toEqual([
      say('tool', { toolResponse: { name: 'tool', ref: 'c1', output: '' } }),
      say('user', { text: 'By the way.' }),
    ]);
  });

  it('writes attachments of a result beside its text', () => {
    const media = { media: { url: png } };
    const content = [text('See.'), { type: 'media', kind: 'image', value: media }] as NonNullable<
      Extract<Part, { type: 'toolResult' }>['content']
    >;
    expect(write('tool', { type: 'toolResult', callId: 'c1', content })).toEqual([
      say('tool', { toolResponse: { name: 'tool', ref: 'c1', output: 'See.', content: [media] } }),
    ]);
    expect(write('tool', { type: 'toolResult', callId: 'c1', content: content.slice(1) })).toEqual([
      say('tool', { toolResponse: { name: 'tool', ref: 'c1', content: [media] } }),
    ]);
  });
});

describe('repairing a message', () => {
  it('gives a whole message back as it is', () => {
    for (const item of [
      say('user', { text: 'a' }, { media: { url: png } }),
      say('model', { reasoning: 'Hm.' }, { text: 'Fine.' }, { text: '', metadata: { thoughtSignature: 's' } }),
      say('model', { data: { any: 1 } }),
      say('tool', { toolResponse: { name: 'read', ref: 'a', output: '' } }),
      new Message({ role: 'model', content: [{ text: 'Fine.' }] }),
    ])
      expect(adapter.repairItem(item)).toBe(item);
  });

  it('B039: leaves blank texts out, and messages with nothing else', () => {
    expect(adapter.repairItem(say('user', { text: '' }, { text: 'a' }, { text: ' ', metadata: { own: 1 } }))).toEqual(
      say('user', { text: 'a' }),
    );
    expect(adapter.repairItem(say('model', { text: '\n' }))).toBeUndefined();
    expect(adapter.repairItem(say('model'))).toBeUndefined();
    expect(adapter.repairItem({ role: 'model', content: ' ' } as unknown as GenkitMessage)).toBeUndefined();
  });

  it('B186: leaves out a message that was cut in its thoughts', () => {
    expect(adapter.repairItem(say('model', { reasoning: 'Hm.' }, { custom: { redactedThinking: 'x' } }))).toBeUndefined();
  });

  it('gives a call an input, and a result an output', () => {
    expect(adapter.repairItem(say('model', { toolRequest: { name: 'read', ref: 'a' }, metadata: { own: 1 } }))).toEqual(
      say('model', { toolRequest: { name: 'read', ref: 'a', input: {} }, metadata: { own: 1 } }),
    );
    expect(adapter.repairItem(say('tool', { toolResponse: { name: 'read', ref: 'a' } }))).toEqual(
      say('tool', { toolResponse: { name: 'read', ref: 'a', output: '' } }),
    );
  });

  it('leaves out what is no part', () => {
    expect(adapter.repairItem({ role: 'user', content: [null, 7, { text: 'a' }] } as unknown as GenkitMessage)).toEqual(
      say('user', { text: 'a' }),
    );
  });

  it('makes data of a `Message` that it repairs', () => {
    const message = new Message({ role: 'model', content: [{ text: '' }, { text: 'Fine.' }], metadata: { own: 1 } });
    const repaired = adapter.repairItem(message);
    expect(repaired).toStrictEqual({ role: 'model', content: [{ text: 'Fine.' }], metadata: { own: 1 } });
  });
});

import { GenerateRequestSchema } from 'genkit/model';
import { describe, expect, it } from 'vitest';
import { chooseFrom } from '../../../src/testing/choose.ts';
import { randomConversation } from '../../../src/testing/conversation.ts';
import { genkitKit } from '../../../src/testing/kits/genkit.ts';
import { validateGenkit } from '../../../src/testing/wire/genkit.ts';

type Fields = Record<string, unknown>;

const say = (role: string, ...content: unknown[]): Fields => ({ role, content });
const user = say('user', { text: 'Hello' });
const system = say('system', { text: 'Be exact.' });
const call = (fields: Fields = {}): Fields => ({ toolRequest: { name: 'read', ref: 'a', input: {}, ...fields } });
const response = (fields: Fields = {}): Fields => ({ toolResponse: { name: 'read', ref: 'a', output: 'x', ...fields } });
const tool = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, outputSchema: null };
const body = (messages: unknown, fields: Fields = {}): Fields => ({ messages, tools: [tool], ...fields });

const legal: readonly (readonly [string, unknown])[] = [
  ['a question', body([user])],
  [
    'what Genkit itself puts beside it',
    body([system, user], { tools: [], output: {}, config: { version: 'x' }, docs: undefined }),
  ],
  [
    'everything a user may send',
    body([
      say(
        'user',
        { text: 'See.', metadata: { cache_control: { type: 'ephemeral' } } },
        { media: { url: 'data:image/png;base64,aGVsbG8=', contentType: 'image/png' } },
        { media: { url: 'https://example.test/a.png' } },
        { resource: { uri: 'notes://today' } },
        { data: { any: 1 } },
        { custom: { own: 1 } },
      ),
    ]),
  ],
  [
    'what a model says',
    body([
      user,
      say('model', { reasoning: '', metadata: { thoughtSignature: 'x' } }, { text: '', metadata: { thoughtSignature: 'x' } }),
      user,
    ]),
  ],
  [
    'parallel calls',
    body([user, say('model', call(), call({ ref: 'b' })), say('tool', response({ ref: 'b' }), response({ output: '' }))]),
  ],
  [
    'parallel calls of one tool without references',
    body([
      user,
      say('model', call({ ref: undefined }), call({ ref: undefined })),
      say('tool', response({ ref: undefined }), response({ ref: undefined, output: null })),
    ]),
  ],
  [
    'responses in several messages',
    body([user, say('model', call(), call({ ref: 'b' })), say('tool', response({ ref: 'b' })), say('tool', response())]),
  ],
  [
    'a reference that is used again',
    body([user, say('model', call()), say('tool', response()), say('model', call()), say('tool', response())]),
  ],
  [
    'a response of parts',
    body([user, say('model', call()), say('tool', response({ output: undefined, content: [{ text: 'x' }] }))]),
  ],
  [
    'a choice, a format and documents',
    body([user], { toolChoice: 'required', output: { format: 'json', schema: {} }, docs: [{ content: [] }] }),
  ],
];

const illegal: readonly (readonly [string, unknown])[] = [
  ['body', 'a text'],
  ['messages-type', {}],
  ['messages-empty', body([])],
  ['message-type', body([user, null])],
  ['unknown-role', body([say('assistant', { text: 'Hello' }), user])],
  ['content-type', body([{ role: 'user', content: 'Hello' }])],
  ['content-empty', body([say('user')])],
  ['metadata', body([{ ...user, metadata: 'none' }])],
  ['metadata', body([say('user', { text: 'Hello', metadata: [] })])],
  ['part-type', body([say('user', 'Hello')])],
  ['part-kind', body([say('user', { text: 'Hello', reasoning: 'Hm.' })])],
  ['part-kind', body([say('user', { type: 'text' })])],
  ['part-kind', body([say('user', { custom: 'none' })])],
  ['part-role', body([say('system', { media: { url: 'https://example.test/a.png' } }), user])],
  ['part-role', body([say('user', { reasoning: 'Hm.' })])],
  ['part-role', body([user, say('model', call()), say('tool', response(), { text: 'beside it' })])],
  ['part-role', body([user, say('model', call()), say('user', response())])],
  ['part-field', body([say('user', { media: { contentType: 'image/png' } })])],
  ['part-field', body([say('user', { resource: {} })])],
  ['part-field', body([say('user', { text: 7 })])],
  ['part-field', body([user, say('model', call({ name: '' })), say('tool', response())])],
  ['part-field', body([user, say('model', call({ ref: 7, name: 'read' })), say('tool', response({ ref: undefined }))])],
  ['part-field', body([user, say('model', call()), say('tool', response({ name: undefined }))])],
  ['input-missing', body([user, say('model', call({ input: undefined })), say('tool', response())])],
  ['output-missing', body([user, say('model', call()), say('tool', response({ output: undefined }))])],
  ['blank-text', body([say('user', { text: '' })])],
  ['blank-text', body([say('system', { text: '\n', metadata: {} }), user])],
  ['blank-text', body([user, say('model', { text: ' ' }), user])],
  ['system-first', body([user, system])],
  ['system-first', body([system, system, user])],
  ['no-user-message', body([system])],
  ['first-message', body([system, say('model', { text: 'Hello' }), user])],
  ['last-message', body([user, say('model', { text: 'Hello' })])],
  ['unanswered-call', body([user, say('model', call())])],
  ['unanswered-call', body([user, say('model', call(), call({ ref: 'b' })), say('tool', response()), user])],
  [
    'unanswered-call',
    body([user, say('model', call({ ref: undefined }), call({ ref: undefined })), say('tool', response({ ref: undefined }))]),
  ],
  ['orphan-response', body([user, say('tool', response())])],
  ['orphan-response', body([user, say('model', call()), say('tool', response(), response())])],
  ['orphan-response', body([user, say('model', call()), say('tool', response()), user, say('tool', response())])],
  ['duplicate-ref', body([user, say('model', call(), call()), say('tool', response(), response())])],
  ['tools-type', body([user], { tools: {} })],
  ['tool-field', body([user], { tools: [{ ...tool, name: '' }] })],
  ['tool-field', body([user], { tools: [{ ...tool, description: undefined }] })],
  ['tool-field', body([user], { tools: [{ ...tool, inputSchema: 'string' }] })],
  ['tool-name-twice', body([user], { tools: [tool, tool] })],
  ['tool-choice', body([user], { toolChoice: 'any' })],
  ['tool-choice-without-tools', body([user], { tools: [], toolChoice: 'none' })],
  ['output-cap', body([user], { config: { maxOutputTokens: 0 } })],
  ['stop-sequences', body([user], { config: { stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] } })],
  ['output-type', body([user], { output: 'json' })],
  ['output-type', body([user], { output: { format: 1 } })],
  ['output-type', body([user], { output: { schema: 'a' } })],
  ['document', body([user], { docs: ['a text'] })],
  ['ill-formed-string', body([say('user', { text: 'half \ud83d' })])],
];

describe('validateGenkit', () => {
  it.each(legal)('lets through %s', (_name, request) => {
    expect(validateGenkit(request)).toEqual([]);
  });

  it.each(illegal)('finds %s', (rule, request) => {
    expect(validateGenkit(request).map((violation) => violation.rule)).toContain(rule);
  });

  it('names where a rule is broken, and breaks none besides', () => {
    expect(validateGenkit(body([user, say('model', call({ ref: 'lost' })), user]))).toEqual([
      {
        rule: 'unanswered-call',
        path: 'messages[1].content[0]',
        message: 'Expected a response to the call of #lost right after it.',
      },
    ]);
  });

  it("lets nothing through that Genkit's own schema refuses", () => {
    for (const [, request] of legal) expect(GenerateRequestSchema.safeParse(request).error).toBeUndefined();
    for (let seed = 1; seed <= 200; seed++) {
      const request = genkitKit.request(randomConversation(genkitKit, chooseFrom(seed), { open: true }));
      expect(validateGenkit(request)).toEqual([]);
      expect(GenerateRequestSchema.safeParse(request).error).toBeUndefined();
    }
  });

  it('survives whatever it is given', () => {
    for (const odd of [
      undefined,
      null,
      7,
      [],
      { messages: [undefined, 7, { role: {}, content: [null, 7, [], { toolRequest: 7 }] }] },
    ])
      expect(validateGenkit(odd).length).toBeGreaterThan(0);
  });
});

import { describe, expect, it } from 'vitest';
import { validateGemini } from '../../../src/testing/wire/google-genai.ts';

type Fields = Record<string, unknown>;

const model = 'gemini-3-pro';
const user = (text: string): Fields => ({ role: 'user', parts: [{ text }] });
const said = (text: string): Fields => ({ role: 'model', parts: [{ text }] });
const callPart = (name: string, more: Fields = {}): Fields => ({ functionCall: { name, args: {}, ...more } });
const calls = (...parts: Fields[]): Fields => ({
  role: 'model',
  parts: parts.map((part, index) => (index === 0 ? { ...part, thoughtSignature: 'c2ln' } : part)),
});
const resultPart = (name: string, more: Fields = {}): Fields => ({ functionResponse: { name, response: {}, ...more } });
const results = (...parts: Fields[]): Fields => ({ role: 'user', parts });
const functions = [{ functionDeclarations: [{ name: 'read' }] }];
const rulesOf = (body: unknown): string[] => validateGemini(body).map(({ rule }) => rule);
const rulesIn = (...contents: unknown[]): string[] => rulesOf({ model, contents });

describe('what is accepted', () => {
  it.each<[string, unknown]>([
    ['a text', { model, contents: 'Hello' }],
    ['a part', { model, contents: { text: 'Hello' } }],
    ['texts and parts', { model, contents: ['Hello', { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] }],
    ['one content', { model, contents: user('Hello') }],
    ['a content without a role', { model, contents: [{ parts: [{ text: 'Hello' }] }] }],
    [
      'a conversation with parallel calls',
      {
        model,
        config: { tools: functions, toolConfig: { functionCallingConfig: { mode: 'NONE' } }, maxOutputTokens: 9 },
        contents: [
          user('Go.'),
          calls(callPart('read', { id: 'a' }), callPart('read', { id: 'b' })),
          results(resultPart('read', { id: 'b' }), resultPart('read', { id: 'a' })),
          said('Done.'),
          user('And now?'),
        ],
      },
    ],
    [
      'calls without ids',
      { contents: [user('Go.'), calls(callPart('read')), { ...results(resultPart('read')), role: 'function' }] },
    ],
    ['an id on one side', { contents: [user('Go.'), calls(callPart('read', { id: 'a' })), results(resultPart('read'))] }],
    [
      'words of the user behind results',
      { contents: [user('Go.'), calls(callPart('read')), results(resultPart('read')), user('On.')] },
    ],
    [
      'an empty text with a signature',
      { contents: [user('Go.'), { role: 'model', parts: [{ text: '', thoughtSignature: 'c2ln' }] }, user('On.')] },
    ],
    ['white space', { contents: [user('Go.'), said('\n'), user('On.')] }],
    [
      'unsigned calls of an earlier turn',
      { model, contents: [user('Go.'), { role: 'model', parts: [callPart('read')] }, results(resultPart('read')), user('On.')] },
    ],
    [
      'unsigned calls of an older model',
      {
        model: 'models/gemini-2.5-pro',
        contents: [user('Go.'), { role: 'model', parts: [callPart('read')] }, results(resultPart('read'))],
      },
    ],
    [
      'the body of a REST call, in both spellings',
      {
        system_instruction: { parts: [{ text: 'Help.' }] },
        tools: [{ function_declarations: [{ name: 'read' }] }],
        tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['read'] } },
        generationConfig: { response_mime_type: 'application/json', responseSchema: {} },
        contents: [
          { role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: 'aGk=' } }] },
          { role: 'model', parts: [{ function_call: { name: 'read' }, thought_signature: 'c2ln' }] },
          { role: 'user', parts: [{ function_response: { name: 'read', response: {} } }] },
        ],
      },
    ],
    ['a cached content', { cachedContent: 'cachedContents/1', contents: [user('Go.')] }],
    ['parts that nobody knows yet', { contents: [{ role: 'user', parts: [{ hologram: {} }] }] }],
  ])('%s', (_name, body) => {
    expect(validateGemini(body)).toEqual([]);
  });
});

describe('what is refused', () => {
  it.each<[string, unknown, string]>([
    ['no object', 'Hello', 'body'],
    ['no contents', { model }, 'contents-empty'],
    ['an empty text', { model, contents: '' }, 'contents-empty'],
    ['a content that is none', { contents: [user('Go.'), 5] }, 'content-type'],
    ['an unknown role', { contents: [{ role: 'system', parts: [{ text: 'Help.' }] }] }, 'unknown-role'],
    ['no parts', { contents: [{ role: 'user', parts: [] }] }, 'parts-empty'],
    ['parts that are none', { contents: [{ role: 'user', parts: ['Hello'] }] }, 'part-type'],
    ['an empty part', { contents: [{ role: 'user', parts: [{}] }] }, 'part-empty'],
    ['a part with an empty text', { contents: [{ role: 'user', parts: [{ text: '' }] }] }, 'part-empty'],
    ['an empty system text', { config: { systemInstruction: '' }, contents: 'Go.' }, 'part-empty'],
    ['a system text without parts', { systemInstruction: { parts: [] }, contents: 'Go.' }, 'parts-empty'],
    ['a part of two kinds', { contents: [{ role: 'user', parts: [{ text: 'See.', fileData: {} }] }] }, 'part-of-two-kinds'],
    ['an output cap of nothing', { config: { maxOutputTokens: 0 }, contents: 'Go.' }, 'output-cap'],
    ['tools beside a cached content', { config: { cachedContent: 'c', tools: functions }, contents: 'Go.' }, 'cached-content'],
    [
      'a system text beside a cached content',
      { cachedContent: 'c', system_instruction: 'Help.', contents: [user('Go.')] },
      'cached-content',
    ],
    [
      'a calling mode without functions',
      { config: { tools: [{ googleSearch: {} }], toolConfig: { functionCallingConfig: { mode: 'NONE' } } }, contents: 'Go.' },
      'tool-config-without-functions',
    ],
    [
      'allowed functions where none is called',
      {
        config: { tools: functions, toolConfig: { functionCallingConfig: { mode: 'NONE', allowedFunctionNames: ['read'] } } },
        contents: 'Go.',
      },
      'allowed-functions',
    ],
    ['a schema without a type', { config: { responseSchema: {} }, contents: 'Go.' }, 'schema-without-type'],
    [
      'two ways to limit thinking',
      { config: { thinkingConfig: { thinkingBudget: 9, thinkingLevel: 'LOW' } }, contents: 'Go.' },
      'thinking-twice',
    ],
    ['an effort of another provider', { config: { thinkingConfig: { thinkingLevel: 'MAX' } }, contents: 'Go.' }, 'unknown-level'],
    ['half a surrogate pair', { contents: 'Go \ud800.' }, 'ill-formed-string'],
  ])('%s', (_name, body, rule) => {
    expect(rulesOf(body)).toEqual([rule]);
  });

  it('the model speaks first, or last', () => {
    expect(rulesIn(said('Hello.'), user('Go.'))).toEqual(['first-turn']);
    expect(rulesIn(user('Go.'), said('Done.'))).toEqual(['last-turn']);
  });

  it('two turns of one kind in a row', () => {
    expect(rulesIn(user('Go.'), user('On.'))).toEqual([]);
    expect(rulesIn(user('Go.'), said('Do'), said('ne.'), user('On.'))).toEqual([]);
    const split = [calls(callPart('a'), callPart('b')), results(resultPart('a')), results(resultPart('b'))];
    expect(rulesIn(user('Go.'), ...split)).toContain('results-together');
  });

  it('results with something beside them', () => {
    const mixed = results(resultPart('read'), { text: 'Be quick.' });
    expect(rulesIn(user('Go.'), calls(callPart('read')), mixed)).toEqual(['results-alone']);
  });

  it('calls without results, and results without calls', () => {
    expect(rulesIn(user('Go.'), calls(callPart('read')), user('On.'))).toEqual(['call-unanswered']);
    expect(rulesIn(user('Go.'), calls(callPart('a'), callPart('b')), results(resultPart('a')))).toEqual(['result-count']);
    expect(rulesIn(user('Go.'), results(resultPart('a')))).toEqual(['result-count', 'result-orphan']);
    expect(rulesIn(user('Go.'), calls(callPart('a')), results(resultPart('b')))).toEqual(['result-orphan']);
    expect(rulesIn(user('Go.'), calls(callPart('a', { id: '1' })), results(resultPart('a', { id: '2' })))).toEqual([
      'result-orphan',
    ]);
  });

  it('calls and results in the wrong turn, or without what they need', () => {
    expect(rulesIn({ role: 'user', parts: [callPart('a')] })).toEqual(['call-role']);
    expect(rulesIn(user('Go.'), { role: 'model', parts: [resultPart('a')] }, user('On.'))).toEqual(['result-role']);
    expect(rulesIn(user('Go.'), calls(callPart('')), results(resultPart('')))).toEqual(['call-name', 'result-name']);
    expect(rulesIn(user('Go.'), calls(callPart('a', { args: 'x' })), results(resultPart('a', { response: 'x' })))).toEqual([
      'call-arguments',
      'result-type',
    ]);
  });

  it('an unsigned call of the current turn, where the model asks for signatures', () => {
    const unsigned = { role: 'model', parts: [callPart('a')] };
    const body = { contents: [user('Go.'), calls(callPart('b')), results(resultPart('b')), unsigned, results(resultPart('a'))] };
    expect(validateGemini({ ...body, model })).toMatchObject([{ rule: 'call-unsigned', path: 'contents[3].parts[0]' }]);
    expect(rulesOf({ ...body, model: 'publishers/google/models/gemini-3.5-flash' })).toEqual(['call-unsigned']);
    expect(rulesOf(body)).toEqual([]);
  });
});

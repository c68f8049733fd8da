import { describe, expect, it } from 'vitest';
import { type GeminiContent, type GeminiRequest, geminiContents } from '../../src/adapters/google-genai.ts';
import { isCompactionError } from '../../src/errors.ts';
import { validateGemini } from '../../src/testing/wire/google-genai.ts';

const adapter = geminiContents();
const user = (text: string): GeminiContent => ({ role: 'user', parts: [{ text }] });
const said = (text: string): GeminiContent => ({ role: 'model', parts: [{ text }] });
const calls = (...names: string[]): GeminiContent => ({
  role: 'model',
  parts: names.map((name) => ({ functionCall: { name, args: {} }, thoughtSignature: 'c2ln' })),
});
const results = (...names: string[]): GeminiContent => ({
  role: 'user',
  parts: names.map((name) => ({ functionResponse: { name, response: { output: 'ok' } } })),
});
const functions = [{ functionDeclarations: [{ name: 'read' }] }];
const model = 'gemini-3-pro';
// REST bodies come as JSON.
const rest = (fields: object): GeminiRequest => fields as GeminiRequest;

describe('items', () => {
  it('are the contents, the very same objects', () => {
    const contents = [user('Go.'), said('Done.'), user('On.')];
    expect(adapter.items({ model, contents })).toEqual(contents);
    adapter.items({ model, contents }).forEach((item, index) => {
      expect(item).toBe(contents[index]);
    });
    expect(adapter.items({ model, contents: contents[0] ?? '' })[0]).toBe(contents[0]);
    expect(adapter.items({ model, contents: [] })).toEqual([]);
  });

  it('are one content of the user where there are texts and parts alone', () => {
    const part = { inlineData: { mimeType: 'image/png', data: 'aGk=' } };
    expect(adapter.items({ model, contents: 'Hello' })).toEqual([user('Hello')]);
    expect(adapter.items({ model, contents: part })).toEqual([{ role: 'user', parts: [part] }]);
    const [content] = adapter.items({ model, contents: ['Hello', part] });
    expect(content).toEqual({ role: 'user', parts: [{ text: 'Hello' }, part] });
    expect(content?.parts?.[1]).toBe(part);
  });

  it.each<[string, unknown, RegExp]>([
    ['no contents', undefined, /`contents`.*got undefined/],
    ['null', null, /`contents`.*got null/],
    ['a number', 5, /`contents`.*got number/],
    ['null among contents', [user('Go.'), null], /`contents\[1\]`.*got null/],
    ['a text among contents', [user('Go.'), 'On.'], /`contents\[1\]`.*got "On\."/],
    ['a list among parts', ['Go.', []], /`contents\[1\]`.*got an array/],
    ['a role of another provider', [{ role: 'assistant', parts: [] }], /`contents\[0\]\.role`.*got "assistant"/],
    ['a role that is none', [{ role: {}, parts: [] }], /`contents\[0\]\.role`.*got object/],
    ['parts that are no array', [{ role: 'user', parts: 'Go.' }], /`contents\[0\]\.parts`.*got "Go\."/],
  ])('are refused where they cannot be read: %s', (_name, contents, message) => {
    const read = (): unknown => adapter.items({ model, contents } as never);
    expect(read).toThrow(message);
    try {
      read();
    } catch (error) {
      expect(isCompactionError(error) && error.code).toBe('invalid-request');
    }
  });

  it('may have no parts, no role, or the role of older clients', () => {
    const contents = [{ parts: [{ text: 'Go.' }] }, { role: 'model' }, { role: 'function', parts: null }, { role: '' }] as never;
    const read = adapter.items({ model, contents }).flatMap(adapter.readItem);
    expect(read.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user']);
  });
});

describe('withItems', () => {
  it('keeps everything else, and normalizes what was no array of contents', () => {
    const request = { model, contents: 'Go.', config: { temperature: 0 } };
    const rebuilt = adapter.withItems(request, [...adapter.items(request), said('Done.')]);
    expect(rebuilt).toEqual({ ...request, contents: [user('Go.'), said('Done.')] });
    expect(rebuilt.config).toBe(request.config);
  });

  it('joins new contents of one turn, and reads them again as what they were', () => {
    const items = [user('Go.'), calls('a', 'b'), results('a'), results('b'), user('On.'), user('Now.')];
    const rebuilt = adapter.withItems({ model, contents: [] as GeminiContent[] }, items);
    expect(rebuilt.contents).toEqual([
      items[0],
      items[1],
      results('a', 'b'),
      { role: 'user', parts: [{ text: 'On.' }, { text: 'Now.' }] },
    ]);
    expect(validateGemini(rebuilt)).toEqual([]);
    const read = adapter.items(rebuilt);
    expect(read).toHaveLength(6);
    expect(read[5]).toBe(items[5]);
    const again = adapter.withItems(rebuilt, [...read, said('Done.'), user('Thanks.')]);
    expect(validateGemini(again)).toEqual([]);
    expect(adapter.items(again)).toHaveLength(8);
  });

  it('takes a joined content for what it is, once its owner has added to it', () => {
    const { contents } = adapter.withItems({ model, contents: [] as GeminiContent[] }, [user('Go.'), user('On.')]);
    const parts: unknown[] = contents[0]?.parts as never;
    parts.push({ text: 'Now.' });
    expect(adapter.items({ model, contents })).toEqual([
      { role: 'user', parts: [{ text: 'Go.' }, { text: 'On.' }, { text: 'Now.' }] },
    ]);
  });

  it('leaves contents apart that the caller had apart', () => {
    const contents = [user('Go.'), user('On.'), said('Do'), said('ne.'), user('Thanks.')];
    const request = { model, contents };
    expect(adapter.withItems(request, adapter.items(request)).contents).toEqual(contents);
    const moved = adapter.withItems(request, [said('Before.'), ...contents, said('After.')]);
    expect(moved.contents.slice(1, -1)).toEqual(contents);
    moved.contents.slice(1, -1).forEach((content, index) => {
      expect(content).toBe(contents[index]);
    });
  });

  it('gives written results the name and the id of their call', () => {
    const write = (callId: string): GeminiContent[] =>
      adapter.writeMessage({ role: 'tool', parts: [{ type: 'toolResult', callId, content: [{ type: 'text', text: 'ok' }] }] });
    const named: GeminiContent = { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'read' } }] };
    const rebuilt = adapter.withItems({ contents: [user('Go.'), named] }, [user('Go.'), named, ...write('c1')]);
    expect(rebuilt.contents.at(-1)?.parts).toEqual([
      { functionResponse: { id: 'c1', name: 'read', response: { output: 'ok' } } },
    ]);
    const anonymous = adapter.readItem(calls('read'))[0]?.parts[0];
    const id = anonymous?.type === 'toolCall' ? anonymous.id : '';
    const without = adapter.withItems({ contents: [user('Go.')] }, [user('Go.'), calls('read'), ...write(id)]);
    expect(without.contents.at(-1)).toEqual(results('read'));
    // A host that echoes the id sends none either.
    const echoed: GeminiContent = {
      role: 'user',
      parts: [{ functionResponse: { id, name: 'read', response: { output: 'ok' } } }],
    };
    expect(adapter.withItems({ contents: [user('Go.')] }, [user('Go.'), calls('read'), echoed]).contents.at(-1)).toEqual(
      results('read'),
    );
  });

  it('signs a call that nobody signed, where the model demands it and nowhere else', () => {
    const written = adapter.writeMessage({
      role: 'assistant',
      parts: ['a', 'b'].map((name) => ({ type: 'toolCall', id: `c_${name}`, name, input: {} })),
    });
    const items = [user('Go.'), ...written, results('a', 'b')];
    const signaturesFor = (name: string | undefined, contents: readonly GeminiContent[]): unknown[] =>
      adapter
        .withItems({ ...(name && { model: name }), contents: [] as GeminiContent[] }, contents)
        .contents.flatMap(({ parts = [] }) => parts.map(({ thoughtSignature }) => thoughtSignature));
    const unsigned = 'skip_thought_signature_validator';
    expect(signaturesFor('gemini-3-pro', items)).toEqual([undefined, unsigned, undefined, undefined, undefined]);
    expect(signaturesFor('models/gemini-12-flash', items)[1]).toBe(unsigned);
    expect(signaturesFor('gemini-2.5-pro', items)[1]).toBeUndefined();
    expect(signaturesFor(undefined, items)[1]).toBeUndefined();
    expect(signaturesFor('gemini-3-pro', [...items, user('On.')])[1]).toBeUndefined();
    const kept = [user('Go.'), calls('a')];
    expect(adapter.withItems({ model, contents: [user('Go.')] }, kept).contents[1]).toBe(kept[1]);
  });
});

describe('context', () => {
  it('reads the parameters of the SDK', () => {
    const config = { systemInstruction: 'Help.', tools: functions, maxOutputTokens: 9 };
    expect(adapter.context({ model, contents: 'Go.', config })).toEqual({
      model,
      system: 'Help.',
      tools: functions,
      outputCap: 9,
      pending: undefined,
    });
    expect(adapter.context({ model, contents: 'Go.' })).toMatchObject({
      system: undefined,
      tools: undefined,
      outputCap: undefined,
    });
  });

  it.each([
    { systemInstruction: { parts: [] }, tools: functions, generationConfig: { maxOutputTokens: 9 } },
    { system_instruction: { parts: [] }, tools: functions, generation_config: { max_output_tokens: 9 } },
  ])('reads the body of a REST call', (fields) => {
    const context = adapter.context(rest({ contents: [user('Go.')], ...fields }));
    expect(context).toMatchObject({ model: undefined, system: { parts: [] }, tools: functions, outputCap: 9 });
  });

  it('is pending where the model has the last word, or goes on with a long reply', () => {
    expect(adapter.context({ model, contents: [user('Go.'), said('We')] }).pending).toBe('model-last');
    expect(adapter.context({ model, contents: 'Go.', config: { continuationToken: 't' } }).pending).toBe('continuationToken');
    expect(adapter.context({ model, contents: [user('Go.'), calls('a'), results('a')] }).pending).toBeUndefined();
  });

  it('does not look into a tool that runs itself', () => {
    const callable = { tool: async () => ({}), callTool: async () => [], self: {} };
    callable.self = callable;
    const { tools } = adapter.context({ model, contents: 'Go.', config: { tools: [...functions, callable] } });
    expect(JSON.stringify(tools)).toBe(JSON.stringify([...functions, { callable: true }]));
  });

  it.each([null, 5, 'x', []])('takes odd settings for none: %j', (config) => {
    expect(adapter.context({ model, contents: 'Go.', config } as never)).toMatchObject({ outputCap: undefined });
  });
});

describe('withSystem', () => {
  it('puts the text where the request has it', () => {
    const system = { parts: [{ text: 'Be quick.' }] };
    const config = { temperature: 0 };
    expect(adapter.withSystem({ model, contents: 'Go.', config }, 'Be quick.').config).toEqual({
      ...config,
      systemInstruction: system,
    });
    expect(adapter.withSystem({ model, contents: 'Go.' }, 'Be quick.')).toEqual({
      model,
      contents: 'Go.',
      config: { systemInstruction: system },
    });
    const body = rest({ contents: [user('Go.')], system_instruction: { parts: [] } });
    expect(adapter.withSystem(body, 'Be quick.')).toEqual({ contents: [user('Go.')], system_instruction: system });
    expect(adapter.withSystem(body, ' ')).toEqual({ contents: [user('Go.')] });
  });
});

describe('forkForSummary', () => {
  const fork = <R extends GeminiRequest>(request: R) => adapter.forkForSummary(request, 'Summarize.', { maxTokens: 500 });

  it('repeats the parent and lets no function be called', () => {
    const contents = [user('Go.'), calls('read'), results('read')];
    const toolConfig = {
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] },
      retrievalConfig: { languageCode: 'de' },
    };
    const config = {
      systemInstruction: 'Help.',
      tools: functions,
      toolConfig,
      temperature: 0.5,
      thinkingConfig: { thinkingBudget: 1000 },
    };
    const parent = Object.freeze({ model, contents, config: Object.freeze(config) });
    const { request, changed } = fork(parent);
    expect(changed).toEqual([]);
    expect(request).toEqual({
      model,
      contents: [...contents, user('Summarize.')],
      config: {
        ...config,
        maxOutputTokens: 1500,
        toolConfig: { functionCallingConfig: { mode: 'NONE' }, retrievalConfig: { languageCode: 'de' } },
      },
    });
    contents.forEach((content, index) => {
      expect(request.contents[index]).toBe(content);
    });
    expect(request.config.tools).toBe(functions);
    expect(validateGemini(request)).toEqual([]);
  });

  it('repeats the body of a REST call, whatever its spelling', () => {
    const body = rest({
      contents: [user('Go.'), said('Done.'), user('On.')],
      system_instruction: { parts: [{ text: 'Help.' }] },
      tools: [{ function_declarations: [{ name: 'read' }] }],
      tool_config: { function_calling_config: { mode: 'AUTO' } },
      generation_config: {
        max_output_tokens: 9,
        candidate_count: 2,
        stop_sequences: ['x'],
        response_mime_type: 'application/json',
      },
    });
    const { request, changed } = fork(body);
    expect(changed).toEqual(['responseMimeType']);
    expect(request).toEqual({
      ...body,
      contents: [user('Go.'), said('Done.'), { role: 'user', parts: [{ text: 'On.' }, { text: 'Summarize.' }] }],
      tool_config: { function_calling_config: { mode: 'NONE' } },
      generation_config: { max_output_tokens: 500 },
    });
    expect(validateGemini(request)).toEqual([]);
    expect(fork(rest({ contents: [user('Go.')] })).request).toMatchObject({ generationConfig: { maxOutputTokens: 500 } });
  });

  it('asks together with the newest words of the user, but never beside results', () => {
    const asked = (...contents: GeminiContent[]): unknown => fork({ model, contents }).request.contents.slice(-1);
    expect(asked(user('Go.'))).toEqual([{ role: 'user', parts: [{ text: 'Go.' }, { text: 'Summarize.' }] }]);
    expect(asked(user('Go.'), calls('a'), results('a'))).toEqual([user('Summarize.')]);
    expect(asked(user('Go.'), said('Done.'))).toEqual([user('Summarize.')]);
    const mixed = { role: 'user', parts: [...(results('a').parts ?? []), { text: 'Be quick.' }] };
    expect(asked(user('Go.'), calls('a'), mixed)).toEqual([user('Summarize.')]);
    const part = { text: 'Go.' };
    expect(fork({ model, contents: ['See.', part] }).request.contents).toEqual([
      { role: 'user', parts: [{ text: 'See.' }, part, { text: 'Summarize.' }] },
    ]);
  });

  it('sets no calling mode where there are no functions, or where they are in a cached content', () => {
    for (const config of [{}, { tools: [] }, { tools: [{ googleSearch: {} }] }, { cachedContent: 'cachedContents/1' }]) {
      const { request, changed } = fork({ model, contents: 'Go.', config });
      expect(request.config).toEqual({ ...config, maxOutputTokens: 500 });
      expect(changed).toEqual([]);
      expect(validateGemini(request)).toEqual([]);
    }
  });

  it('relaxes a forced format, and says so', () => {
    const config = {
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT' },
      responseJsonSchema: {},
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '1:1' },
    };
    const { request, changed } = fork({ model, contents: 'Go.', config });
    expect(changed).toEqual(['responseMimeType', 'responseSchema', 'responseJsonSchema', 'responseModalities']);
    expect(request.config).toEqual({ responseModalities: ['TEXT'], maxOutputTokens: 500 });
    const plain = { responseMimeType: 'text/plain', responseModalities: ['TEXT'] };
    expect(fork({ model, contents: 'Go.', config: plain })).toMatchObject({ request: { config: plain }, changed: [] });
  });

  it('asks for one reply that does not stop early, and goes on with none', () => {
    const config = { candidateCount: 3, stopSequences: ['\n'], continuationToken: 't', seed: 7 };
    expect(fork({ model, contents: 'Go.', config }).request.config).toEqual({ seed: 7, maxOutputTokens: 500 });
  });

  it('keeps the SDK from running tools by itself, and says nothing of it to the provider', () => {
    const callable = { tool: async () => ({}), callTool: async () => [] };
    const config = { tools: [callable], automaticFunctionCalling: { maximumRemoteCalls: 5 } };
    const { request, changed } = fork({ model, contents: 'Go.', config });
    expect(request.config).toMatchObject({
      automaticFunctionCalling: { maximumRemoteCalls: 5, disable: true },
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
    });
    expect(request.config.tools[0]).toBe(callable);
    expect(changed).toEqual([]);
    expect(fork({ model, contents: 'Go.', config: { tools: functions } }).request.config).not.toHaveProperty(
      'automaticFunctionCalling',
    );
  });

  it('leaves the signal of the parent in its place', () => {
    const { signal: abortSignal } = new AbortController();
    expect(fork({ model, contents: 'Go.', config: { abortSignal } }).request.config.abortSignal).toBe(abortSignal);
  });
});

it('knows the addresses where its bodies go', () => {
  const { endpoint } = adapter;
  for (const path of [
    '/v1beta/models/gemini-3-pro:generateContent',
    '/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3-pro:streamGenerateContent',
  ])
    expect(endpoint?.test(path)).toBe(true);
  for (const path of [
    '/v1beta/models/gemini-3-pro:countTokens',
    '/v1beta/models/x:batchGenerateContent',
    '/v1beta/cachedContents',
  ])
    expect(endpoint?.test(path)).toBe(false);
});

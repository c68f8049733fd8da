import { describe, expect, it } from 'vitest';
import { type AiSdkMessage, type AiSdkPart, type AiSdkRequest, aiSdkModel } from '../../src/adapters/ai-sdk.ts';
import { isCompactionError } from '../../src/errors.ts';
import { freeze } from '../../src/testing/conformance/check.ts';

const adapter = aiSdkModel();
type Part = AiSdkPart & Record<string, unknown>;

const text = (value: string, providerOptions?: object): Part => ({
  type: 'text',
  text: value,
  ...(providerOptions && { providerOptions }),
});
const user = (...content: (string | Part)[]): AiSdkMessage => ({
  role: 'user',
  content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
});
const assistant = (...content: (string | Part)[]): AiSdkMessage => ({ ...user(...content), role: 'assistant' });
const system = (content: string, providerOptions?: object): AiSdkMessage => ({
  role: 'system',
  content,
  ...(providerOptions && { providerOptions }),
});
const call = (id: string, more: object = {}): Part => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'read',
  input: { path: 'a.ts' },
  ...more,
});
const result = (id: string, output: unknown = { type: 'text', value: 'done' }, toolName = 'read'): Part => ({
  type: 'tool-result',
  toolCallId: id,
  toolName,
  output,
});
const tool = (...content: Part[]): AiSdkMessage => ({ role: 'tool', content });
const request = (prompt: readonly AiSdkMessage[], more: object = {}): AiSdkRequest => freeze({ prompt, ...more });
const readTool = { type: 'function', name: 'read', inputSchema: { type: 'object' } };
const openai = { provider: 'openai.responses', modelId: 'gpt-5' };
const anthropic = { provider: 'anthropic.messages', modelId: 'claude-sonnet-4-5' };

describe('items', () => {
  it('are the prompt, and come back in the very same request', () => {
    const prompt = [system('Be exact.'), user('Hello')];
    const parent = request(prompt);
    expect(adapter.items(parent)).toBe(prompt);
    expect(adapter.withItems(parent, prompt)).toBe(parent);
  });

  it.each([
    [{}, '`prompt`'],
    [{ prompt: 'Hello' }, '`prompt`'],
    [{ prompt: [user('x'), null] }, '`prompt[1]`'],
    [{ prompt: [{ role: 'wizard', content: [] }] }, '`prompt[0].role`'],
    [{ prompt: [{ role: 'user', content: 5 }] }, '`prompt[0].content`'],
    [{ prompt: [{ role: 'system', content: [text('x')] }] }, '`prompt[0].content`'],
    [null, '`prompt`'],
  ])('what cannot be read is named: %j', (odd, name) => {
    const error = (() => {
      try {
        adapter.items(odd as never);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(isCompactionError(error) && error.code).toBe('invalid-request');
    expect(String(error)).toContain(name);
  });

  it('other system text takes the place of the leading messages, and keeps what stands beside the first', () => {
    const marker = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const parent = request([system('Be exact.', marker), system('Be kind.'), user('Hello'), system('Hurry.')]);
    expect(adapter.withSystem(parent, 'Be quick.').prompt).toEqual([
      system('Be quick.', marker),
      user('Hello'),
      system('Hurry.'),
    ]);
    expect(adapter.withSystem(parent, ' ').prompt).toEqual([user('Hello'), system('Hurry.')]);
    expect(adapter.withSystem(request([user('Hello')]), 'Be quick.').prompt).toEqual([system('Be quick.'), user('Hello')]);
  });
});

describe('context', () => {
  it('tells model, tools and cap', () => {
    const parent = request([user('x')], { model: openai, tools: [readTool], maxOutputTokens: 700 });
    expect(adapter.context(parent)).toMatchObject({ model: 'gpt-5', tools: [readTool], outputCap: 700 });
    expect(adapter.context(request([user('x')], { providerOptions: { openai: { maxCompletionTokens: 9 } } })).outputCap).toBe(9);
    expect(adapter.context(request([user('x')], { maxOutputTokens: 0 })).outputCap).toBeUndefined();
  });

  it('counts the thinking that the SDK adds to the cap', () => {
    const capOf = (providerOptions: object) =>
      adapter.context(request([user('x')], { maxOutputTokens: 700, providerOptions })).outputCap;
    expect(capOf({ anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } })).toBe(2700);
    expect(capOf({ bedrock: { reasoningConfig: { type: 'enabled', budgetTokens: 1000 } } })).toBe(1700);
    expect(capOf({ anthropic: { thinking: { type: 'adaptive' } } })).toBe(700);
    expect(capOf({ anthropic: { thinking: { type: 'enabled', budgetTokens: Number.NaN } } })).toBe(700);
  });

  it('a history of the server is none of ours', () => {
    const heldBy = (options: object) =>
      adapter.context(request([user('x')], { providerOptions: { openai: options } })).serverHeld;
    expect(heldBy({ conversation: 'conv_1' })).toBe('conversation');
    expect(heldBy({ previousResponseId: 'resp_1' })).toBe('previousResponseId');
    expect(heldBy({ previousResponseId: null, store: false })).toBeUndefined();
  });

  it('B011: nothing is touched while an approval or a tool of the provider waits', () => {
    const search = call('s1', { providerExecuted: true });
    const mcp = call('m1', { providerExecuted: true, providerOptions: { openai: { approvalRequestId: 'mcpr_1' } } });
    const coded = call('c1', { providerOptions: { anthropic: { caller: { type: 'code_execution_20250825', toolId: 's1' } } } });
    const response: Part = { type: 'tool-approval-response', approvalId: 'mcpr_1', approved: true };
    const pendingOf = (...prompt: AiSdkMessage[]) => adapter.context(request(prompt)).pending;
    expect(pendingOf(user('Go'))).toBeUndefined();
    expect(pendingOf(user('Go'), assistant(call('c1')), tool(result('c1')))).toBeUndefined();
    expect(pendingOf(user('Go'), assistant(search, result('s1'), call('c1')), tool(result('c1')))).toBeUndefined();
    expect(pendingOf(user('Go'), assistant('I will'))).toBe('assistant-last');
    expect(pendingOf(user('Go'), assistant(search), system('Hurry.'))).toBe('assistant-last');
    expect(pendingOf(user('Go'), assistant(mcp), tool(response))).toBe('tool-approval-response');
    expect(pendingOf(user('Go'), assistant(mcp), user('Well?'))).toBe('tool-approval-request');
    expect(pendingOf(user('Go'), assistant(search, coded), tool(result('c1')))).toBe('provider-executed tool');
    // As messages of a user interface come back: the tool has run, and was approved.
    expect(pendingOf(user('Go'), assistant(mcp, result('m1')), tool(response), user('Ok'))).toBeUndefined();
    // Once the assistant has gone on, it is over.
    expect(
      pendingOf(user('Go'), assistant(mcp), tool(response), assistant(mcp, result('m1'), 'Done.'), user('Ok')),
    ).toBeUndefined();
    expect(pendingOf(user('Go'), assistant(mcp), user('Never mind.'), assistant('Fine.'), user('Ok'))).toBeUndefined();
  });
});

describe('reading', () => {
  const partsOf = (item: AiSdkMessage) => adapter.readItem(freeze(item))[0]?.parts;

  it('gives each message its role and parts', () => {
    expect(adapter.readItem(system('Be exact.'))).toEqual([{ role: 'system', parts: [{ type: 'text', text: 'Be exact.' }] }]);
    expect(adapter.readItem(user('Hello', 'there'))).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Hello' },
          { type: 'text', text: 'there' },
        ],
      },
    ]);
    expect(partsOf(assistant({ type: 'reasoning', text: 'Hm.' }, 'Look.', call('c1')))).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Look.' },
      { type: 'toolCall', id: 'c1', name: 'read', input: { path: 'a.ts' } },
    ]);
  });

  it('reads every kind of output', () => {
    const contentOf = (output: unknown) => partsOf(tool(result('c1', output)))?.[0];
    const read = (texts: string[], isError?: boolean) => ({
      type: 'toolResult',
      callId: 'c1',
      name: 'read',
      content: texts.map((value) => ({ type: 'text', text: value })),
      ...(isError && { isError }),
    });
    expect(contentOf({ type: 'text', value: 'ok' })).toEqual(read(['ok']));
    expect(contentOf({ type: 'text', value: '' })).toEqual(read([]));
    expect(contentOf({ type: 'json', value: { lines: [1, 2] } })).toEqual(read(['{"lines":[1,2]}']));
    expect(contentOf({ type: 'json', value: { big: 12n } })).toEqual(read(['{"big":"12"}']));
    expect(contentOf({ type: 'error-text', value: 'no' })).toEqual(read(['no'], true));
    expect(contentOf({ type: 'error-json', value: { code: 5 } })).toEqual(read(['{"code":5}'], true));
    expect(contentOf({ type: 'execution-denied', reason: 'Not now.' })).toEqual(read(['Not now.'], true));
    expect(contentOf({ type: 'execution-denied' })).toEqual(read(['Tool call execution denied.'], true));
    expect(contentOf(null)).toEqual(read([]));
    expect(contentOf({ type: 'x_new', value: 1 })).toMatchObject({ content: [{ type: 'native', value: { type: 'x_new' } }] });
    const custom = { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference', toolName: 'x' } } };
    const image = { type: 'image-data', data: 'aGVsbG8=', mediaType: 'image/png' };
    expect(contentOf({ type: 'content', value: [text('See'), image, custom] })).toEqual({
      type: 'toolResult',
      callId: 'c1',
      name: 'read',
      content: [
        { type: 'text', text: 'See' },
        { type: 'media', kind: 'image', bytes: 5, value: image },
        { type: 'native', value: custom },
      ],
    });
  });

  it('knows files in all their forms, and never counts their bytes as text', () => {
    const png = Uint8Array.from(
      atob('iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP8zwACTGCSAQANHQEDqtPptQAAAABJRU5ErkJggg=='),
      (character) => character.charCodeAt(0),
    );
    const mediaOf = (more: object) => partsOf(user({ type: 'file', mediaType: 'image/png', ...more } as Part))?.[0];
    expect(mediaOf({ data: png })).toMatchObject({ type: 'media', kind: 'image', width: 2, height: 3, bytes: png.length });
    expect(mediaOf({ data: 'data:image/png;base64,aGVsbG8=' })).toMatchObject({ kind: 'image', bytes: 5 });
    expect(mediaOf({ data: new URL('https://example.com/a.png') })).not.toHaveProperty('bytes');
    expect(mediaOf({ data: 'https://example.com/a.png' })).not.toHaveProperty('bytes');
    expect(mediaOf({ data: 'aGk=', mediaType: 'application/pdf' })).toMatchObject({ kind: 'document', bytes: 2 });
    expect(mediaOf({ data: 'aGk=', mediaType: 'audio/wav' })).toMatchObject({ kind: 'audio' });
    expect(mediaOf({ data: 'aGk=', mediaType: 'video/mp4' })).toMatchObject({ kind: 'video' });
    expect(mediaOf({ data: 'aGk=', providerOptions: { openai: { imageDetail: 'low' } } })).toMatchObject({ detail: 'low' });
  });

  it('leaves no trace of cache markers and of the server’s ids', () => {
    const plain = assistant('Done.', call('c1'));
    const marked = assistant(
      text('Done.', { openai: { itemId: 'msg_1' }, anthropic: { cacheControl: { type: 'ephemeral' } } }),
      call('c1', {
        providerOptions: { openai: { itemId: 'fc_1', reasoningEncryptedContent: null }, bedrock: { cachePoint: {} } },
      }),
    );
    const whole = { ...marked, providerOptions: { anthropic: { cache_control: {} }, openai: { promptCacheBreakpoint: {} } } };
    expect(adapter.readItem(marked)).toEqual(adapter.readItem(plain));
    expect(adapter.readItem(whole)).toEqual(adapter.readItem(plain));
    const file: Part = { type: 'file', mediaType: 'image/png', data: 'aGk=' };
    expect(partsOf(user({ ...file, providerOptions: { anthropic: { cacheControl: {} } } }))).toEqual(partsOf(user(file)));
  });

  it('keeps signatures and ciphertext apart, as what they are', () => {
    const thought = (signature: string): Part => ({
      type: 'reasoning',
      text: 'Hm.',
      providerOptions: { anthropic: { signature } },
    });
    expect(adapter.readItem(assistant(thought('a')))).not.toEqual(adapter.readItem(assistant(thought('b'))));
    expect(partsOf(assistant(text('', { google: { thoughtSignature: 's' } })))).toEqual([
      { type: 'native', value: { providerOptions: { google: { thoughtSignature: 's' } } } },
    ]);
  });

  it('carries what the provider runs itself, and what it does not know', () => {
    const search = call('s1', { providerExecuted: true });
    const found = result('s1', { type: 'json', value: [] });
    const odd: Part = { type: 'x_new', payload: 1 };
    expect(partsOf(assistant(search, found, odd))).toEqual([search, found, odd].map((value) => ({ type: 'native', value })));
    const response: Part = { type: 'tool-approval-response', approvalId: 'p', approved: false };
    const denial = result('m1', { type: 'execution-denied', providerOptions: { openai: { approvalId: 'p' } } });
    expect(partsOf(tool(response, denial))).toEqual([response, denial].map((value) => ({ type: 'native', value })));
    expect(partsOf({ role: 'user', content: [null, 5] as never })).toEqual([{ type: 'native', value: 5 }]);
  });

  it('a message of the system that only sets something is no message of the provider’s own', () => {
    const effort = { anthropic: { effort: 'low' } };
    expect(partsOf(system('', effort))).toEqual([
      { type: 'text', text: '' },
      { type: 'native', value: { providerOptions: effort } },
    ]);
  });
});

describe('writing', () => {
  it('puts results right behind their calls, before what the user says', () => {
    const parts = [
      { type: 'text', text: 'And hurry.' },
      { type: 'toolResult', callId: 'c1', content: [{ type: 'text', text: 'ok' }] },
    ] as const;
    expect(adapter.writeMessage({ role: 'user', parts })).toEqual([
      tool(result('c1', { type: 'text', value: 'ok' }, 'tool')),
      user('And hurry.'),
    ]);
    expect(
      adapter.writeMessage({
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Look.' },
          { type: 'toolCall', id: '', name: 'read', input: { path: 'a.ts' } },
          { type: 'toolResult', callId: '', content: [{ type: 'text', text: 'ok' }] },
          { type: 'text', text: 'Fine.' },
        ],
      }),
    ).toMatchObject([{ role: 'assistant' }, { role: 'tool' }, { role: 'assistant', content: [text('Fine.')] }]);
  });

  it('a result has the name of its tool, or a word of its own where nobody told it', () => {
    const written = adapter.writeMessage({
      role: 'tool',
      parts: [
        { type: 'toolResult', callId: 'c1', name: 'read', content: [] },
        { type: 'toolResult', callId: 'nobody', content: [] },
      ],
    });
    expect(written.at(-1)?.content).toMatchObject([{ toolName: 'read' }, { toolName: 'tool' }]);
  });

  it('writes errors that say something, and attachments beside a text', () => {
    const outputOf = (content: readonly object[], isError?: boolean) => {
      const part = { type: 'toolResult', callId: 'c1', content, ...(isError && { isError }) };
      const [message] = adapter.writeMessage({ role: 'tool', parts: [part as never] }); // the parts are loosely typed
      return Object(message?.content[0]).output;
    };
    const image = { type: 'image-data', data: 'aGk=', mediaType: 'image/png' };
    expect(outputOf([])).toEqual({ type: 'text', value: '' });
    expect(outputOf([], true)).toEqual({ type: 'error-text', value: 'The tool failed without a message.' });
    expect(outputOf([text('a'), text('b')])).toEqual({ type: 'text', value: 'a\nb' });
    expect(outputOf([text('a'), { type: 'media', kind: 'image', value: image }])).toEqual({
      type: 'content',
      value: [text('a'), image],
    });
  });

  it('an attachment that a tool returned becomes a file of the user, where it has a form', () => {
    const write = (value: unknown) =>
      adapter.writeMessage({ role: 'user', parts: [{ type: 'media', kind: 'image', value }] })[0]?.content[0];
    const file = { type: 'file', mediaType: 'image/png', data: Uint8Array.of(1, 2) };
    expect(write(file)).toBe(file);
    expect(write({ type: 'image-data', data: 'aGk=', mediaType: 'image/png' })).toEqual({
      type: 'file',
      data: 'aGk=',
      mediaType: 'image/png',
    });
    expect(write({ type: 'image-url', url: 'https://example.com/a.png' })).toEqual({
      type: 'file',
      mediaType: 'image/*',
      data: new URL('https://example.com/a.png'),
    });
    expect(write({ type: 'file-data', data: 'aGk=', mediaType: 'text/csv', filename: 'a.csv' })).toMatchObject({
      filename: 'a.csv',
    });
    expect(write({ type: 'file-url', url: 'nowhere' })).toBeUndefined();
    expect(write({ type: 'file-id', fileId: 'file_1' })).toBeUndefined();
  });

  it('bytes and addresses survive JSON', () => {
    const write = (data: unknown) =>
      adapter.writeMessage({
        role: 'user',
        parts: [
          { type: 'media', kind: 'image', value: JSON.parse(JSON.stringify({ type: 'file', mediaType: 'image/png', data })) },
        ],
      })[0]?.content[0];
    expect(write(Uint8Array.of(1, 2, 255))).toMatchObject({ data: Uint8Array.of(1, 2, 255) });
    expect(write(Buffer.from([1, 2, 255]))).toMatchObject({ data: Uint8Array.of(1, 2, 255) });
    expect(write(new URL('https://example.com/a.png'))).toMatchObject({ data: new URL('https://example.com/a.png') });
    expect(write('aGk=')).toMatchObject({ data: 'aGk=' });
  });

  it('leaves out thoughts, blank texts and what has no place', () => {
    expect(
      adapter.writeMessage({
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'native', value: { providerOptions: { anthropic: { signature: 's' } } } },
          { type: 'text', text: ' \n' },
        ],
      }),
    ).toEqual([]);
    expect(adapter.writeMessage({ role: 'system', parts: [{ type: 'text', text: '' }] })).toEqual([]);
    expect(adapter.writeMessage({ role: 'system', parts: [text('a') as never, text('b') as never] })).toEqual([system('a\nb')]);
    expect(
      adapter.writeMessage({ role: 'user', parts: [{ type: 'native', value: { type: 'custom', providerOptions: {} } }] }),
    ).toEqual([]);
    const response = { type: 'tool-approval-response', approvalId: 'p', approved: true };
    expect(adapter.writeMessage({ role: 'user', parts: [{ type: 'native', value: response }] })).toEqual([
      { role: 'tool', content: [response] },
    ]);
  });
});

describe('repair', () => {
  const repaired = (item: AiSdkMessage) => adapter.repairItem(freeze(item));

  it('gives back what is whole', () => {
    for (const item of [
      system('x'),
      system('', { anthropic: { effort: 'low' } }),
      user('x', { type: 'file', mediaType: 'image/png', data: 'aGk=' }),
      assistant(text('', { google: { thoughtSignature: 's' } }), call('c1')),
      assistant(
        { type: 'reasoning', text: '', providerOptions: { openai: { itemId: 'rs_1' } } },
        text('', { openai: { itemId: 'm' } }),
      ),
      tool(result('c1'), result('c2', { type: 'error-text', value: 'no' })),
    ])
      expect(repaired(item)).toBe(item);
  });

  it('B039: blank texts go, and messages of which nothing is left', () => {
    expect(repaired(assistant('\n', call('c1')))).toEqual(assistant(call('c1')));
    expect(repaired(assistant(' \n'))).toBeUndefined();
    expect(repaired(user())).toBeUndefined();
    expect(repaired(system(' '))).toBeUndefined();
    expect(repaired({ role: 'user', content: [null, text('x')] as never })).toEqual(user('x'));
  });

  it('B038: an empty compaction of the provider goes', () => {
    const compaction = (value: string) => text(value, { anthropic: { type: 'compaction' } });
    expect(repaired(assistant(compaction('')))).toBeUndefined();
    const whole = assistant(compaction('Summary'));
    expect(repaired(whole)).toBe(whole);
  });

  it('B186: thoughts with an empty signature go', () => {
    const thought = (signature: unknown): Part => ({
      type: 'reasoning',
      text: 'Hm.',
      providerOptions: { anthropic: { signature } },
    });
    expect(repaired(assistant(thought(''), 'Done.'))).toEqual(assistant('Done.'));
    const signed = assistant(thought('s'), 'Done.');
    expect(repaired(signed)).toBe(signed);
  });

  it('a call has an input, and a result an output that says something', () => {
    expect(repaired(assistant(call('c1', { input: undefined })))).toEqual(assistant(call('c1', { input: {} })));
    expect(repaired(tool({ ...result('c1'), output: undefined }))).toEqual(tool(result('c1', { type: 'json', value: null })));
    expect(repaired(tool(result('c1', 'plain')))).toEqual(tool(result('c1', { type: 'json', value: 'plain' })));
    expect(repaired(tool(result('c1', { type: 'error-text', value: ' ' })))).toEqual(
      tool(result('c1', { type: 'error-text', value: 'The tool failed without a message.' })),
    );
  });
});

describe('messages of the system in the middle', () => {
  const summary = user('<compacted_context>');
  const effort = (level: string) => system('', { openai: { reasoningEffortUpdate: level } });

  it('Anthropic takes one, last or right before an assistant', () => {
    const parent = request([user('Go'), assistant('Hi'), user('More')], { model: anthropic });
    const place = (...items: AiSdkMessage[]) => adapter.withItems(parent, items).prompt;
    expect(place(summary, system('Mind the time.'), user('So?'))).toEqual([summary, user('So?'), system('Mind the time.')]);
    expect(place(summary, system('a'), user('So?'), assistant('Hm'), user('Ok'))).toEqual([
      summary,
      user('So?'),
      system('a'),
      assistant('Hm'),
      user('Ok'),
    ]);
    expect(place(system('Be exact.'), system('Be kind.'), summary)).toEqual([system('Be exact.'), system('Be kind.'), summary]);
    expect(
      place(
        summary,
        system('a', { anthropic: { effort: 'low', toolChanges: [1], clearAt: 'next_user_message' } }),
        system('', { anthropic: { effort: 'high', toolChanges: [2] } }),
      ),
    ).toEqual([summary, system('a', { anthropic: { effort: 'high', toolChanges: [1, 2] } })]);
  });

  it('OpenAI takes no two that set something side by side', () => {
    const parent = request([user('Go')], { model: openai });
    expect(adapter.withItems(parent, [summary, effort('low'), effort('high'), user('So?')]).prompt).toEqual([
      summary,
      effort('high'),
      user('So?'),
    ]);
    const texts = [summary, system('a'), system('b'), effort('low'), user('So?')];
    expect(adapter.withItems(parent, texts).prompt).toEqual(texts);
  });

  it('turns that were there stay as they are', () => {
    const prompt = [user('Go'), system('a'), user('More'), assistant('Hi')];
    const parent = request(prompt, { model: anthropic });
    expect(adapter.withItems(parent, [...prompt]).prompt).toEqual(prompt);
    expect(adapter.withItems(parent, [...prompt, user('Ok')]).prompt).toEqual([...prompt, user('Ok')]);
  });
});

describe('the summary request', () => {
  const ask = (more: object, prompt = [system('Be exact.'), user('Go'), assistant(call('c1')), tool(result('c1'))]) => {
    const parent = request(prompt, more);
    const { request: fork, changed } = adapter.forkForSummary(parent, 'Summarize.', { maxTokens: 500 });
    const added = fork.prompt.filter((item) => !parent.prompt.includes(item));
    expect(added).toEqual([user('Summarize.')]);
    return { fork: fork as AiSdkRequest & Record<string, unknown>, changed };
  };

  it('is the parent and one message, with its own cap and no stop sequences', () => {
    const { fork, changed } = ask({
      temperature: 0.2,
      maxOutputTokens: 9,
      stopSequences: ['END'],
      includeRawChunks: true,
      seed: 4,
    });
    expect(changed).toEqual([]);
    expect(fork).toMatchObject({ temperature: 0.2, seed: 4, maxOutputTokens: 500 });
    expect(fork).not.toHaveProperty('stopSequences');
    expect(fork).not.toHaveProperty('includeRawChunks');
    expect(fork).not.toHaveProperty('toolChoice');
  });

  it.each([
    ['openai.chat', 'none', []],
    ['openai.responses', 'none', []],
    ['azure.responses', 'none', []],
    ['azure-openai.chat', 'none', []],
    ['google.generative-ai', 'none', []],
    ['google.vertex.chat', 'none', []],
    // There `none` breaks the cache, or takes the tools away.
    ['anthropic.messages', undefined, []],
    ['vertex.anthropic.messages', undefined, []],
    ['amazon-bedrock', undefined, []],
    ['gateway', undefined, []],
    ['my-own.chat', undefined, []],
  ])('tools stay, and %s is told %s', (provider, choice, because) => {
    const { fork, changed } = ask({ model: { provider, modelId: 'x' }, tools: [readTool] });
    expect(fork.tools).toEqual([readTool]);
    expect(fork.toolChoice?.type).toBe(choice);
    expect(changed).toEqual(because);
  });

  it('a forced choice is relaxed, and that is said', () => {
    for (const toolChoice of [{ type: 'required' }, { type: 'tool', toolName: 'read' }]) {
      const { fork, changed } = ask({ model: anthropic, tools: [readTool], toolChoice });
      expect(fork.toolChoice).toEqual({ type: 'auto' });
      expect(changed).toEqual(['toolChoice']);
      expect(ask({ model: openai, tools: [readTool], toolChoice }).changed).toEqual([]);
    }
    expect(ask({ model: anthropic, tools: [readTool], toolChoice: { type: 'none' } })).toMatchObject({
      changed: [],
      fork: { toolChoice: { type: 'none' } },
    });
  });

  it('tools that the provider runs cannot be denied: they are forbidden, and that is said', () => {
    const search = { type: 'provider', id: 'anthropic.web_search_20250305', name: 'web_search', args: {} };
    const bash = { type: 'provider', id: 'anthropic.bash_20250124', name: 'bash', args: {} };
    expect(ask({ model: anthropic, tools: [search] })).toMatchObject({
      changed: ['provider-executed tools'],
      fork: { toolChoice: { type: 'none' }, tools: [search] },
    });
    expect(ask({ model: anthropic, tools: [bash] })).toMatchObject({ changed: [] });
    expect(ask({ model: anthropic, providerOptions: { anthropic: { mcpServers: [{}] } } }).changed).toEqual([
      'provider-executed tools',
    ]);
    expect(ask({ model: { provider: 'amazon-bedrock', modelId: 'x' }, tools: [search] }).fork.toolChoice).toBeUndefined();
    expect(ask({ model: openai, tools: [{ ...search, id: 'openai.web_search' }] }).changed).toEqual([]);
  });

  it('without tools there is no choice of one', () => {
    const { fork } = ask({ model: openai, tools: [], toolChoice: { type: 'auto' } });
    expect(fork).not.toHaveProperty('tools');
    expect(fork).not.toHaveProperty('toolChoice');
  });

  it('a forced format is relaxed, and that is said', () => {
    const { fork, changed } = ask({ responseFormat: { type: 'json', schema: {} } });
    expect(fork).not.toHaveProperty('responseFormat');
    expect(changed).toEqual(['responseFormat']);
    expect(ask({ responseFormat: { type: 'text' } }).changed).toEqual([]);
    expect(ask({ providerOptions: { openai: { textFormat: { type: 'json_object' }, store: false } } })).toMatchObject({
      changed: ['providerOptions.textFormat'],
      fork: { providerOptions: { openai: { store: false } } },
    });
  });

  it('options of the provider stay but for those that would spoil a summary', () => {
    const kept = { anthropic: { thinking: { type: 'adaptive' } }, openai: { store: false } };
    expect(ask({ providerOptions: kept }).fork.providerOptions).toBe(kept);
    const spoiling = {
      allowedTools: { toolNames: ['read'], mode: 'required' },
      prediction: {},
      truncation: 'auto',
      maxCompletionTokens: 9,
    };
    expect(ask({ providerOptions: { openai: { ...spoiling, store: false } } }).fork.providerOptions).toEqual({
      openai: { store: false },
    });
  });

  it('Gemini’s thinking fits beside the summary', () => {
    const { fork } = ask({ providerOptions: { google: { thinkingConfig: { thinkingBudget: 2000 } } } });
    expect(fork.maxOutputTokens).toBe(2500);
  });

  it('Anthropic is asked before a message of the system that stands last, and that is said', () => {
    const prompt = [user('Go'), system('Hurry.')];
    const { fork, changed } = ask({ model: anthropic }, prompt);
    expect(fork.prompt).toEqual([user('Go'), user('Summarize.'), system('Hurry.')]);
    expect(changed).toEqual(['system-message-last']);
    expect(ask({ model: openai }, prompt).fork.prompt.at(-1)).toEqual(user('Summarize.'));
  });
});

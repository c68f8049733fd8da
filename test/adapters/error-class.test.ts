import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorClass } from '../../src/adapters/adapter.ts';
import { classifyProviderError } from '../../src/adapters/error-class.ts';

/** Wordings of public errors, with the sizes that they tell. */
const overflows: readonly (readonly [string, limit?: number, requested?: number])[] = [
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 200010 tokens. Please reduce the length of the messages.",
    128000,
    200010,
  ],
  [
    "This model's maximum context length is 4097 tokens. However, you requested 4120 tokens (3120 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    4097,
    4120,
  ],
  ["This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens", 131072, 200000],
  [
    "'max_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 1000 input tokens (8192 > 8192 - 1000).",
    8192,
  ],
  ['Your input exceeds the context window of this model. Please adjust your input and try again.'],
  [
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. Please reduce the length of the messages.',
    272000,
    300123,
  ],
  [
    "You passed 8193 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8192 tokens.",
    8192,
    8193,
  ],
  ['The decoder prompt (length 5000) is longer than the maximum model length of 4096.', 4096, 5000],
  ['prompt is too long: 210000 tokens > 200000 maximum', 200000, 210000],
  ['Prompt is too long'],
  [
    'input length and `max_tokens` exceed context limit: 195000 + 10000 > 200000, decrease input length or `max_tokens` and try again',
    200000,
    205000,
  ],
  ['The prompt is too long: 33000, model maximum context length: 32768', 32768, 33000],
  ['Input is too long for requested model.'], // B162
  ['too many total text bytes: 26214401 > 26214400'],
  ['Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.'],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1048576, 1200000],
  ['input token count of this request exceeds the maximum'],
  ['the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count.', 1048576, 1251952],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131072, 537812],
  ['request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it', 65536, 66202],
  ['the request exceeds the available context size, try increasing it'],
  ['The number of tokens to keep from the initial prompt is greater than the context length'],
  ['However, the model is loaded with context length of only 4096 tokens, which is not enough.', 4096],
  ['the input length exceeds the context length'],
  ['prompt token count of 140000 exceeds the limit of 128000', 128000, 140000],
  ['Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', 32768, 40000],
  ['The request is too large for model with 32768 maximum context length', 32768],
  ['Invalid request: Your request exceeded model token limit: 262144 (requested: 280000)', 262144, 280000],
  ['invalid params, context window exceeds limit'],
  ['The prompt exceeds the maximum allowed input length of 131072 tokens', 131072],
  ['Range of input length should be [1, 129024]', 129024],
  ['Prompt exceeds max length'],
  ['too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000', 4081, 5000],
  ['`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 512 `max_new_tokens`', 4097, 5000],
  ['Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192', 8192, 10000],
  ['litellm.ContextWindowExceededError: AzureException'],
];

function overflow([, limit, requested]: readonly [string, limit?: number, requested?: number]): ErrorClass {
  return { kind: 'overflow', ...(limit !== undefined && { limit }), ...(requested !== undefined && { requested }) };
}

describe('overflow', () => {
  it.each(overflows.map((row) => [row[0], row] as const))('B168: is recognised in: %s', (text, row) => {
    expect(classifyProviderError({ status: 400, message: text })).toEqual(overflow(row));
  });

  it.each(overflows.map((row) => [row[0], row] as const))('is recognised however it is wrapped: %s', (text, row) => {
    const json = JSON.stringify({ error: { message: text, type: 'invalid_request_error' } });
    const wrapped: unknown[] = [
      text,
      new Error('The provider answered with an error', { cause: { message: text } }),
      { status: 400, error: { error: { message: text } } },
      { message: 'Provider returned error', code: 400, metadata: { raw: json } },
      { name: 'AI_RetryError', lastError: { statusCode: 400, responseBody: json } },
      { errors: [{ statusCode: 400, data: { error: { message: text } } }] },
      { message: `400 {"error":${JSON.stringify(json)}}` },
      { message: `data: ${json}` },
    ];
    for (const error of wrapped) expect(classifyProviderError(error)).toEqual(overflow(row));
  });

  it.each(overflows.map((row) => [row[0], row] as const))('does not depend on case and line breaks: %s', (text, row) => {
    expect(classifyProviderError({ status: 400, message: text.toUpperCase() })).toEqual(overflow(row));
    expect(classifyProviderError({ status: 400, message: text.replaceAll(' ', '\n  ') })).toEqual(overflow(row));
  });

  it.each([',', '.', ' ', '_', '\u202f'])('reads numbers that are grouped by %j', (separator) => {
    const text = `prompt is too long: 210${separator}000 tokens > 1${separator}200${separator}000 maximum`;
    expect(classifyProviderError({ status: 400, message: text })).toEqual({
      kind: 'overflow',
      limit: 1_200_000,
      requested: 210_000,
    });
  });

  it.each([
    'context_length_exceeded',
    'Context length exceeded',
    "This model's maximum context length is 8192 tokens",
    'the maximum context window is 8192 tokens',
    'context window exceeded',
    'the context window is too small for this request',
    "the input exceeds the model's maximum context",
    'the prompt exceeds model context',
    'the request exceeds the maximum context',
    'prompt is too long',
    'input is too long',
    'the input token count exceeds the limit',
    'the input exceeds the maximum number of tokens',
    'more than the maximum input tokens',
    'too many tokens in the prompt',
    'the request exceeds the context of this model',
  ])('V40: is recognised in: %s', (message) => {
    expect(classifyProviderError({ status: 400, message }).kind).toBe('overflow');
    expect(classifyProviderError({ status: 400, message: message.toUpperCase() }).kind).toBe('overflow');
    // V41: wherever it stands in the chain of causes.
    const inner = Object.assign(new Error(message), { status: 400 });
    expect(classifyProviderError(new Error('outer', { cause: new Error('middle', { cause: inner }) })).kind).toBe('overflow');
  });

  it.each(['the field `context` is missing', 'unknown parameter: context_window'])('V40: is not recognised in: %s', (message) => {
    expect(classifyProviderError({ status: 400, message }).kind).not.toBe('overflow');
  });

  it('is recognised by its code alone, under any name of the field', () => {
    for (const error of [
      { status: 400, code: 'context_length_exceeded', message: 'Bad request' },
      { status: 400, error: { code: 'context_length_exceeded' } },
      { type: 'context_length_exceeded' },
      { errorCode: 'context_window_exceeded' },
      Object.assign(new Error('Too long.'), { name: 'ContextOverflowError', cause: { status: 400 } }), // LangChain
    ])
      expect(classifyProviderError(error)).toEqual({ kind: 'overflow' });
  });

  it('reads the sizes that llama.cpp gives as fields', () => {
    const error = { code: 400, type: 'exceed_context_size_error', message: 'too large', n_prompt_tokens: 66202, n_ctx: 65536 };
    expect(classifyProviderError({ status: 400, error })).toEqual({ kind: 'overflow', limit: 65536, requested: 66202 });
  });

  it('B159: is seen behind a gateway that says only that the provider failed', () => {
    const raw = 'Input exceeds the maximum allowed input length of 262144 tokens';
    const error = { status: 400, error: { message: 'Provider returned error', code: 400, metadata: { raw } } };
    expect(classifyProviderError(error)).toEqual({ kind: 'overflow', limit: 262144 });
  });

  it('B163: is seen in JSON inside the JSON of a gateway', () => {
    const inner = JSON.stringify({ message: 'prompt is too long: 250000 tokens > 200000 maximum' });
    const outer = JSON.stringify({ error_code: 'BAD_REQUEST', message: `{"external_model_message":${inner}}` });
    expect(classifyProviderError({ status: 400, message: outer })).toMatchObject({ kind: 'overflow', requested: 250000 });
  });

  it('is what a request is that alone exceeds the tokens of a whole minute', () => {
    const message =
      'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.';
    expect(classifyProviderError({ status: 429, code: 'rate_limit_exceeded', message })).toEqual({
      kind: 'overflow',
      limit: 30000,
      requested: 45000,
    });
  });
});

describe('what is not an overflow', () => {
  it.each([
    ['B164: Bedrock throttling', { name: 'ThrottlingException', message: 'Too many tokens, please wait before trying again.' }],
    [
      'Bedrock throttling with a status',
      { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 }, message: 'Too many requests' },
    ],
    ['a rate limit', { status: 429, message: 'Rate limit reached: Limit 30000, Used 29000, Requested 2000.' }],
    ['a rate limit that advises to reduce', { status: 429, message: 'Please reduce the length of the messages.' }],
    [
      'a rate limit in a stream',
      { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please reduce the length of the messages.' },
    ],
    ['an overloaded server', { error: { type: 'overloaded_error', message: 'Overloaded' } }],
  ])('%s may pass', (_name, error) => {
    expect(classifyProviderError(error)).toEqual({ kind: 'retryable' });
  });

  it.each([
    ['a quota', { status: 429, code: 'insufficient_quota', message: 'You exceeded your current quota' }],
    ['a usage limit', { status: 429, error: { type: 'usage_limit_reached' } }],
    ['a spend limit', { status: 429, errorCode: 'enforced_spend_limit_reached' }],
    ['a wrong key', { status: 401, message: 'Incorrect API key provided' }],
    ['a missing right', { status: 403, message: 'prompt is too long' }],
    ['a limit in bytes', { status: 413, error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }],
    ['a limit in bytes of a proxy', { status: 413, message: '413 Request Entity Too Large' }],
    ['a body that nobody can read', { status: 400, message: '400 status code (no body)' }],
    ['a wrong parameter', { status: 400, message: "Invalid type for 'messages[1].content': expected a string." }],
    ['a large image', { status: 400, message: 'image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes' }],
    [
      'a long string',
      { status: 400, code: 'string_above_max_length', message: 'string too long. Expected a maximum length of 10485760' },
    ],
    ['an unknown model', { status: 404, type: 'server_error', message: 'No such model' }],
    ['an abort', Object.assign(new Error('The operation was aborted'), { name: 'AbortError' })],
    ['an abort of the SDK', new Error('Request was aborted.')],
    ['a mistake in the program', new TypeError("Cannot read properties of undefined (reading 'choices')")],
  ])('%s is fatal', (_name, error) => {
    expect(classifyProviderError(error)).toEqual({ kind: 'fatal' });
  });
});

describe('retryable', () => {
  it.each([408, 409, 429, 500, 502, 503, 504, 529])('status %i', (status) => {
    expect(classifyProviderError({ status, message: 'no' })).toEqual({ kind: 'retryable' });
    expect(classifyProviderError({ statusCode: status })).toEqual({ kind: 'retryable' });
    expect(classifyProviderError({ status_code: status })).toEqual({ kind: 'retryable' }); // Ollama
    expect(classifyProviderError({ $metadata: { httpStatusCode: status } })).toEqual({ kind: 'retryable' });
    expect(classifyProviderError(new Error('wrapped', { cause: { code: String(status) } }))).toEqual({ kind: 'retryable' });
  });

  it.each([
    ['OpenAI, in a stream', { type: 'server_error', code: null, message: 'The server had an error' }],
    ['Anthropic, in a stream', { error: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } }],
    ['Bedrock', { name: 'ModelErrorException', originalStatusCode: 500, $metadata: { httpStatusCode: 424 } }],
    ['Genkit', { name: 'GenkitError', status: 'UNAVAILABLE', message: 'no' }],
    ['the connection', new TypeError('fetch failed', { cause: Object.assign(new Error('read'), { code: 'ECONNRESET' }) })],
    ['the SDK', new Error('Connection error.')],
    ['a timeout of the SDK', new Error('Request timed out.')],
    ['the AI SDK', Object.assign(new Error('Cannot connect to API: bad port'), { name: 'AI_APICallError' })],
    ['a browser', new TypeError('Failed to fetch')],
    ['a stream that ended early', new Error('stream disconnected: stream closed before response.completed')],
    ['a stream that was cut in the middle of an event', new Error('Incomplete JSON segment at the end')],
    ['words that tell no time', { status: 429, message: 'Please try again in a moment.' }],
    ['a timeout', new DOMException('The operation timed out.', 'TimeoutError')],
  ])('%s', (_name, error) => {
    expect(classifyProviderError(error)).toEqual({ kind: 'retryable' });
  });

  it.each([
    ['Headers', new Headers({ 'retry-after': '2' }), 2000],
    ['a plain object', { 'Retry-After': '2' }, 2000],
    ['a Map', new Map([['retry-after', '2']]), 2000],
    ['a list of values', { 'retry-after': ['2'] }, 2000],
    ['milliseconds, which win', new Headers({ 'retry-after': '9', 'retry-after-ms': '250.5' }), 250.5],
    ['a date in the past', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  ])('tells how long to wait, from %s', (_name, headers, retryAfter) => {
    for (const error of [
      { status: 429, headers },
      { statusCode: 429, responseHeaders: headers },
      new Error('failed', { cause: { status: 429, response: { headers } } }),
    ])
      expect(classifyProviderError(error)).toEqual({ kind: 'retryable', retryAfter });
  });

  it('tells how long to wait until a date', () => {
    const headers = { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() };
    const result = classifyProviderError({ status: 503, headers });
    expect(result).toMatchObject({ kind: 'retryable' });
    expect(result.kind === 'retryable' && result.retryAfter).toBeGreaterThan(3_000_000);
  });

  it('tells how long Google asks to wait', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
    expect(classifyProviderError({ error: { code: 429, status: 'RESOURCE_EXHAUSTED', details } })).toEqual({
      kind: 'retryable',
      retryAfter: 34_500,
    });
  });

  it.each([
    ['20ms', 20],
    ['11.054s', 11_054],
    ['1m30s', 90_000],
    ['6m0s', 360_000],
    ['2m', 120_000],
  ])('tells how long OpenAI asks to wait in the middle of a stream: %s', (delay, retryAfter) => {
    const cause = {
      code: 'rate_limit_exceeded',
      message: `Rate limit reached for gpt-5. Please try again in ${delay}. Visit us.`,
    };
    expect(classifyProviderError(new Error('failed', { cause }))).toEqual({ kind: 'retryable', retryAfter });
    expect(classifyProviderError(Object.assign(new Error('failed', { cause }), { headers: { 'retry-after': '7' } }))).toEqual({
      kind: 'retryable',
      retryAfter: 7000,
    });
  });

  it.each(['soon', '', '-3', 'NaN'])('does not believe a header of %j', (value) => {
    expect(classifyProviderError({ status: 429, headers: { 'retry-after': value } })).toEqual({ kind: 'retryable' });
  });
});

describe('hostile errors', () => {
  it('are read in spite of cycles and of getters that throw', () => {
    const error: Record<string, unknown> = { message: 'prompt is too long' };
    error.cause = error;
    error.error = { error };
    Object.defineProperty(error, 'status', { get: () => { throw new Error('no status'); } }); // biome-ignore format: one line
    Object.defineProperty(error, 'headers', { value: { get: () => { throw new Error('no headers'); } } }); // biome-ignore format: one line
    expect(classifyProviderError(error)).toEqual({ kind: 'overflow' });
    expect(classifyProviderError(new Proxy({}, { get: () => { throw new Error('no'); }, ownKeys: () => { throw new Error('no'); } }))).toEqual({ kind: 'fatal' }); // biome-ignore format: one line
  });

  it('are not followed without end', () => {
    let error: unknown = { message: 'prompt is too long' };
    for (let depth = 0; depth < 100_000; depth++) error = { cause: error };
    expect(classifyProviderError(error)).toEqual({ kind: 'fatal' });
    let text = 'prompt is too long';
    for (let depth = 0; depth < 8; depth++) text = JSON.stringify({ message: text });
    expect(classifyProviderError(text)).toEqual({ kind: 'overflow' });
  });

  it('may be very long', () => {
    for (const filler of ['1', '1,000', ' ', '{', '{"a":', 'prompt is too long: '])
      expect(['fatal', 'overflow']).toContain(classifyProviderError({ message: filler.repeat(2_000_000) }).kind);
  });

  it('may be anything', () => {
    for (const error of [undefined, null, 0, Number.NaN, '', Symbol('x'), () => {}, [], [[[]]], new Map(), 10n])
      expect(classifyProviderError(error)).toEqual({ kind: 'fatal' });
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withMap: true, withSet: true }), (error) => {
        expect(['overflow', 'retryable', 'fatal']).toContain(classifyProviderError(error).kind);
      }),
    );
  });
});

import { expect, it } from 'vitest';
import { genkitModel } from '../../src/adapters/genkit.ts';
import { standInClasses } from '../../src/testing/kits/langchain/messages.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { thrownBy } from '../support/report-errors.ts';
import { goodSummary } from '../support/report-model.ts';
import { block, onAllShapes } from '../support/report-shapes.ts';

// A table of wordings in many wrappings is in test/adapters/error-class.test.ts. Here each provider speaks through its own SDK, to every
// adapter: behind a gateway any of them may be heard through another.

const { openai, anthropic, bedrock, gemini, genkit, aiSdk, aiSdkAfterRetries, langchain } = thrownBy;

const tooLong = { code: 'context_length_exceeded', param: 'messages' };
const maximum = "This model's maximum context length is 128000 tokens. However, your messages resulted in 200010 tokens.";
const tooWide = 'Your input exceeds the context window of this model. Please adjust your input and try again.';
const perMinute = 'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.';

const overflows: readonly [from: string, error: unknown, limit?: number, requested?: number][] = [
  ['OpenAI', openai(400, `${maximum} Please reduce the length of the messages.`, tooLong), 128000, 200010],
  [
    'OpenAI, older',
    openai(
      400,
      "This model's maximum context length is 4097 tokens, however you requested 4120 tokens (3120 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      tooLong,
    ),
    4097,
    4120,
  ],
  ['OpenAI, newer', openai(400, tooWide, { ...tooLong, param: 'input' })],
  ['OpenAI, with a cap', openai(400, 'Input tokens exceed the configured limit of 272000 tokens.', tooLong), 272000],
  ['OpenAI, without a code', openai(400, tooWide)],
  ['OpenAI, in the middle of a stream', openai(undefined, tooWide, { code: 'context_length_exceeded' })],
  [
    'OpenAI, larger than a whole minute',
    openai(429, 'Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 45000.', {
      code: 'rate_limit_exceeded',
      type: 'tokens',
    }),
    30000,
    45000,
  ],
  ['Codex, in a failed reply', new Error('failed', { cause: { code: 'context_length_exceeded', message: tooWide } })],
  ['Azure', openai(400, maximum, { ...tooLong, innererror: { code: 'ContextLengthExceeded' } }), 128000, 200010],
  [
    'OpenRouter',
    openai(400, "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens"),
    131072,
    200000,
  ],
  ['Groq', openai(400, 'Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' })],
  ['xAI', openai(400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."), 131072, 537812],
  ['llama.cpp', openai(400, 'the request exceeds the available context size, try increasing it')],
  ['LM Studio', openai(400, 'The number of tokens to keep from the initial prompt is greater than the context length.')],
  ['Copilot', openai(400, 'prompt token count of 140000 exceeds the limit of 128000'), 128000, 140000],
  [
    'Mistral',
    openai(400, 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length'),
    32768,
    40000,
  ],
  ['Moonshot', openai(400, 'Your request exceeded model token limit: 262144'), 262144],
  ['MiniMax', openai(400, 'invalid params, context window exceeds limit')],
  ['Anthropic', anthropic(400, 'invalid_request_error', 'prompt is too long: 213462 tokens > 200000 maximum'), 200000, 213462],
  [
    'Anthropic, with the cap',
    anthropic(
      400,
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    ),
    200000,
    209573,
  ],
  [
    'Bedrock, Claude',
    bedrock(
      'ValidationException',
      400,
      'The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum',
    ),
    200000,
    200049,
  ],
  ['Bedrock', bedrock('ValidationException', 400, 'Input is too long for requested model.')],
  [
    'Bedrock, with the cap',
    bedrock(
      'ValidationException',
      400,
      'The model returned the following errors: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    ),
    200000,
    210000,
  ],
  ['Bedrock, in bytes of text', bedrock('ValidationException', 400, 'too many total text bytes: 26214401 > 26214400')],
  ['Bedrock, in the middle of a stream', bedrock('ValidationException', undefined, 'Input is too long for requested model.')],
  [
    'Gemini',
    gemini(400, 'INVALID_ARGUMENT', 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).'),
    1048576,
    1196265,
  ],
  [
    'Gemini, newer',
    gemini(400, 'INVALID_ARGUMENT', 'The input token count exceeds the maximum number of tokens allowed 1048576.'),
  ],
  ['Genkit over OpenAI', genkit('INVALID_ARGUMENT', 400, `400 ${maximum}`), 128000, 200010],
  [
    'Genkit over Anthropic',
    genkit('INVALID_ARGUMENT', 400, '400 prompt is too long: 213462 tokens > 200000 maximum'),
    200000,
    213462,
  ],
  ['AI SDK', aiSdk(400, maximum, tooLong), 128000, 200010],
  ['AI SDK, after its retries', aiSdkAfterRetries(aiSdk(400, tooWide, tooLong))],
  ['AI SDK over Bedrock', aiSdk(400, 'Input is too long for requested model.')],
  ['LangChain', langchain('CONTEXT_OVERFLOW', openai(400, maximum, tooLong)), 128000, 200010],
];

const passing: readonly [from: string, error: unknown][] = [
  ['OpenAI, in a minute', openai(429, perMinute, { code: 'rate_limit_exceeded', type: 'tokens' })],
  ['OpenAI, with advice', openai(429, `${perMinute} Please reduce the length of the messages.`, { code: 'rate_limit_exceeded' })],
  ['OpenAI, in a stream', openai(undefined, perMinute, { code: 'rate_limit_exceeded', type: 'tokens' })],
  ['Codex, in a failed reply', new Error('failed', { cause: { code: 'rate_limit_exceeded', message: perMinute } })],
  ['OpenAI, busy', openai(503, 'The engine is currently overloaded, please try again later.', { type: 'server_error' })],
  [
    'Anthropic, in a minute',
    anthropic(
      429,
      'rate_limit_error',
      "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    ),
  ],
  ['Anthropic, busy', anthropic(529, 'overloaded_error', 'Overloaded')],
  ['Anthropic, in a stream', anthropic(undefined, 'overloaded_error', 'Overloaded')],
  ['Anthropic, itself', anthropic(500, 'api_error', 'Internal server error')],
  ['Bedrock, tokens', bedrock('ThrottlingException', 429, 'Too many tokens, please wait before trying again.')],
  ['Bedrock, requests', bedrock('ThrottlingException', 429, 'Too many requests, please wait before trying again.')],
  ['Bedrock, a day', bedrock('ThrottlingException', 429, 'Too many tokens per day, please wait before trying again.')],
  ['Bedrock, in a stream', bedrock('ThrottlingException', undefined, 'Too many tokens, please wait before trying again.')],
  ['Bedrock, cold', bedrock('ModelNotReadyException', 429, 'Model is not ready for inference.')],
  ['Bedrock, slow', bedrock('ModelTimeoutException', 408, 'Model has timed out in processing the request.')],
  ['Bedrock, a broken stream', bedrock('ModelStreamErrorException', 424, 'The model stopped.', { originalStatusCode: 500 })],
  ['Bedrock, its model', bedrock('ModelErrorException', 424, 'The model failed.', { originalStatusCode: 500 })],
  ['Bedrock, busy', bedrock('ServiceUnavailableException', 503, 'Bedrock is unable to process your request.')],
  ['Gemini, in a minute', gemini(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for metric: input_token_count, limit: 1000000.')],
  ['Gemini, busy', gemini(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')],
  ['Genkit, in a minute', genkit('RESOURCE_EXHAUSTED', 429, `429 ${perMinute}`)],
  ['Genkit, late', genkit('DEADLINE_EXCEEDED', 504, '504 Deadline exceeded.')],
  ['Genkit, a lost connection', genkit('UNKNOWN', 500, 'Connection error.')],
  ['AI SDK, in a minute', aiSdk(429, perMinute, { code: 'rate_limit_exceeded' })],
  ['AI SDK, after its retries', aiSdkAfterRetries(aiSdk(529, 'Overloaded', { type: 'overloaded_error' }))],
  ['LangChain, in a minute', langchain('MODEL_RATE_LIMIT', openai(429, perMinute, { code: 'rate_limit_exceeded' }))],
  ['a lost connection', new TypeError('fetch failed', { cause: Object.assign(new Error('read'), { code: 'ECONNRESET' }) })],
];

const fatal: readonly [from: string, error: unknown][] = [
  ['OpenAI, out of credit', openai(429, 'You exceeded your current quota.', { code: 'insufficient_quota' })],
  ['Codex, out of its plan', openai(429, 'The usage limit has been reached', { type: 'usage_limit_reached' })],
  ['Codex, not in its plan', openai(400, 'Not included in your plan.', { code: 'usage_not_included' })],
  ['Codex, a body that the SDK does not show', Object.assign(new Error('400 status code (no body)'), { status: 400 })],
  [
    'OpenAI, a long text',
    openai(400, 'string too long. Expected a maximum length of 10485760', { code: 'string_above_max_length' }),
  ],
  ['OpenAI, a wrong key', openai(401, 'Incorrect API key provided.', { code: 'invalid_api_key' })],
  ['OpenAI, an abort', new Error('Request was aborted.')],
  [
    'Anthropic, out of its limit of money',
    anthropic(429, 'rate_limit_error', 'Spend limit reached.', { errorCode: 'enforced_spend_limit_reached' }),
  ],
  ['Anthropic, in bytes', anthropic(413, 'request_too_large', 'Request exceeds the maximum size')],
  [
    'Anthropic, a large image',
    anthropic(400, 'invalid_request_error', 'image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes'),
  ],
  [
    'Bedrock, wrong roles',
    bedrock('ValidationException', 400, 'A conversation must alternate between user and assistant roles.'),
  ],
  ['Bedrock, an abort', Object.assign(new Error('Request aborted'), { name: 'AbortError' })],
  ['Gemini, a wrong key', gemini(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.')],
  ['Genkit, a blocked reply', genkit('FAILED_PRECONDITION', 400, 'Generation blocked.')],
  [
    'AI SDK, a missing result',
    Object.assign(new Error('Tool result is missing for tool call c1.'), { name: 'AI_MissingToolResultsError' }),
  ],
  [
    'LangChain, missing results',
    langchain('INVALID_TOOL_RESULTS', openai(400, "An assistant message with 'tool_calls' must be followed.")),
  ],
];

/** The same wording as SDKs, gateways and streams give it. */
function wrappings(message: string): unknown[] {
  const json = JSON.stringify({ error: { message, type: 'invalid_request_error' } });
  return [
    Object.assign(new Error(message), { status: 400 }),
    { status: 400, error: { error: { message } } },
    { message: 'Provider returned error', code: 400, metadata: { raw: json } },
    { error: { message } }, // an event of a stream that began with 200
  ];
}

onAllShapes(({ adapter }) => {
  it('the property: each error of each provider is told apart: an overflow, what may pass, and what no retry mends', () => {
    const classify = ([from, error]: readonly [string, unknown, ...unknown[]]) => [from, adapter.classifyError(error)];
    expect(overflows.map(classify)).toEqual(
      overflows.map(([from, , limit, requested]) => [
        from,
        { kind: 'overflow', ...(limit !== undefined && { limit }), ...(requested !== undefined && { requested }) },
      ]),
    );
    expect(passing.map(classify)).toEqual(passing.map(([from]) => [from, { kind: 'retryable' }]));
    expect(fatal.map(classify)).toEqual(fatal.map(([from]) => [from, { kind: 'fatal' }]));
  });

  it('B159: an overflow behind a gateway that says only that the provider failed is no reason to try again', () => {
    const raw = 'Input exceeds the maximum allowed input length of 262144 tokens';
    for (const error of [...wrappings(raw), openai(400, 'Provider returned error', { metadata: { raw } })])
      expect(adapter.classifyError(error)).toEqual({ kind: 'overflow', limit: 262144 });
  });

  it('B160: llama.cpp names the request before the limit', () => {
    const message = 'request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it';
    for (const error of wrappings(message))
      expect(adapter.classifyError(error)).toEqual({ kind: 'overflow', limit: 65536, requested: 66202 });
  });

  it('B162: an overflow need not speak of a context', () => {
    for (const error of wrappings('Input is too long for requested model.'))
      expect(adapter.classifyError(error)).toEqual({ kind: 'overflow' });
  });

  it('B163: an overflow is seen in JSON inside the JSON of a gateway', () => {
    const inner = JSON.stringify({ message: 'prompt is too long: 250000 tokens > 200000 maximum' });
    const outer = JSON.stringify({ error_code: 'BAD_REQUEST', message: `{"external_model_message":${inner}}` });
    for (const error of [...wrappings(outer), openai(400, outer), aiSdk(400, outer), genkit('INVALID_ARGUMENT', 400, outer)])
      expect(adapter.classifyError(error)).toEqual({ kind: 'overflow', limit: 200000, requested: 250000 });
  });

  it('B164: a quota and a throttled request are no overflow', () => {
    for (const message of [
      'Too many tokens per day, please wait before trying again.',
      'Too many tokens, please wait before trying again.',
    ])
      for (const error of [
        Object.assign(new Error(message), { status: 429 }),
        { name: 'ThrottlingException', message },
        { error: { message } },
      ])
        expect(adapter.classifyError(error)).toMatchObject({ kind: 'retryable' });
  });
});

it('Genkit has one word for all that it does not know: what is behind it counts', () => {
  const { classifyError } = genkitModel();
  expect(classifyError(genkit('UNKNOWN', 500, `400 ${maximum}`))).toEqual({ kind: 'overflow', limit: 128000, requested: 200010 });
  expect(classifyError(genkit('UNKNOWN', 500, 'Request was aborted.'))).toEqual({ kind: 'fatal' });
  expect(classifyError(genkit('UNKNOWN', 500, '529 Overloaded'))).toEqual({ kind: 'retryable' });
});

it('a reply that the full window ended says so, and is no summary', async () => {
  const text = goodSummary;
  const kits = providerKits;
  const why = 'model_context_window_exceeded';
  const replies = [
    kits.anthropic.adapter.readReply({ content: [block({ type: 'text', text })], stop_reason: why }),
    kits.bedrock.adapter.readReply({ output: { message: { role: 'assistant', content: [{ text }] } }, stopReason: why }),
    kits['ai-sdk'].adapter.readReply({
      content: [{ type: 'text', text }],
      finishReason: { unified: 'other', raw: why },
      usage: {},
    }),
    kits.langchain.adapter.readReply(new standInClasses.AIMessage({ content: text, response_metadata: { stop_reason: why } })),
  ];
  for (const { finish } of await Promise.all(replies)) expect(finish).toBe('overflow');
});

import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { geminiContents } from '../../src/adapters/google-genai.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { readModelCall } from '../../src/fetch/model-call.ts';

const body = '{"model":"m"}';
const isCall = (endpoint: RegExp | undefined, url: string | URL): boolean =>
  readModelCall(endpoint ?? /never/, url, { method: 'POST', body }) !== undefined;

const paths = {
  'openai-chat': {
    endpoint: openaiChat().endpoint,
    calls: [
      'https://api.openai.com/v1/chat/completions',
      'https://me.openai.azure.com/openai/deployments/gpt-5/chat/completions?api-version=2026-01-01',
      'https://openrouter.ai/api/v1/chat/completions',
      'http://localhost:11434/v1/chat/completions/',
      'https://gateway.ai.cloudflare.com/v1/a/b/openai/chat/completions#x',
      '/api/chat/completions',
    ],
    others: [
      'https://api.openai.com/v1/chat/completions/chatcmpl_1',
      'https://api.openai.com/v1/chat/completions/chatcmpl_1/messages',
      'https://api.openai.com/v1/completions',
      'https://api.openai.com/v1/embeddings',
      'https://api.openai.com/v1/responses',
      'https://api.openai.com/v1/search?q=/chat/completions',
      'https://[broken/chat/completions',
    ],
  },
  'openai-responses': {
    endpoint: openaiResponses().endpoint,
    calls: [
      'https://api.openai.com/v1/responses',
      'https://api.openai.com/v1/responses?beta=true',
      'https://me.openai.azure.com/openai/v1/responses?api-version=preview',
      'https://chatgpt.com/backend-api/codex/responses',
    ],
    others: [
      'https://api.openai.com/v1/responses/compact',
      'https://api.openai.com/v1/responses/input_tokens',
      'https://api.openai.com/v1/responses/resp_1',
      'https://api.openai.com/v1/responses/resp_1/cancel',
      'https://api.openai.com/v1/chat/completions',
    ],
  },
  'openai-codex': {
    endpoint: openaiCodex().endpoint,
    calls: ['https://chatgpt.com/backend-api/codex/responses'],
    others: ['https://chatgpt.com/backend-api/codex/responses/compact', 'https://chatgpt.com/backend-api/codex/models'],
  },
  'google-genai': {
    endpoint: geminiContents().endpoint,
    calls: [
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent?key=k',
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse',
      'https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/gemini-3-pro:generateContent',
    ],
    others: [
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:countTokens',
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:batchGenerateContent',
      'https://generativelanguage.googleapis.com/v1beta/models/embed:batchEmbedContents',
      'https://generativelanguage.googleapis.com/v1beta/cachedContents',
    ],
  },
  anthropic: {
    endpoint: anthropicMessages().endpoint,
    calls: [
      'https://api.anthropic.com/v1/messages',
      'https://api.anthropic.com/v1/messages?beta=true',
      'https://me.services.ai.azure.com/anthropic/v1/messages',
      'https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/anthropic/models/claude-opus-5@20260101:rawPredict',
      'https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/anthropic/models/claude-opus-5:streamRawPredict',
    ],
    others: [
      'https://api.anthropic.com/v1/messages/count_tokens',
      'https://api.anthropic.com/v1/messages/batches',
      'https://api.anthropic.com/v1/messages/batches/b/cancel',
      'https://api.anthropic.com/v1/complete',
      'https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/anthropic/models/count-tokens:rawPredict',
      'https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/mistral/models/m:rawPredict',
    ],
  },
};

describe('which calls are calls of the model', () => {
  it.each(Object.entries(paths))('%s', (_name, { endpoint, calls, others }) => {
    expect(calls.filter((url) => !isCall(endpoint, url))).toEqual([]);
    expect(others.filter((url) => isCall(endpoint, url))).toEqual([]);
    for (const url of calls.filter((url) => url.startsWith('http'))) expect(isCall(endpoint, new URL(url))).toBe(true);
  });

  it('only a POST of an object in a text is one', () => {
    const url = 'https://api.openai.com/v1/chat/completions';
    const read = (init: RequestInit | undefined) => readModelCall(/completions$/, url, init);
    expect(read({ method: 'post', body })).toEqual({ url, init: { method: 'post', body }, request: { model: 'm' } });
    const others = [undefined, {}, { body }, { method: 'GET' }, { method: 'PATCH', body }, { method: 'POST' }];
    for (const init of others) expect(read(init)).toBeUndefined();
    for (const odd of ['', 'null', '3', '[]', '{"a":', '"text"']) expect(read({ method: 'POST', body: odd })).toBeUndefined();
    for (const odd of [new Blob([body]), new TextEncoder().encode(body), new URLSearchParams({ a: 'b' }), new FormData()])
      expect(read({ method: 'POST', body: odd })).toBeUndefined();
    expect(readModelCall(/completions$/, new Request(url, { method: 'POST', body }), { method: 'POST', body })).toBeUndefined();
  });
});

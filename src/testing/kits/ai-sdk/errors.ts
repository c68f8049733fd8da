import type { ErrorScript } from '../../provider-kit.ts';

/** Errors as the AI SDK throws them: an `APICallError` with the body of the reply, by whichever provider. */
export function createAiSdkError(script: ErrorScript): Error {
  switch (script) {
    case 'overflow':
      return refusal(400, 'Your input exceeds the context window of this model. Please adjust your input and try again.', {
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      });
    case 'rate-limit':
      return refusal(429, 'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.', {
        type: 'tokens',
        code: 'rate_limit_exceeded',
      });
    case 'overloaded':
      return refusal(529, 'Overloaded', { type: 'overloaded_error' });
    case 'connection':
      return apiCallError('Cannot connect to API: read ECONNRESET', {
        isRetryable: true,
        cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
      });
    case 'invalid':
      return refusal(400, 'No tool output found for function call call_1.', { type: 'invalid_request_error', code: null });
    case 'unauthorized':
      return refusal(401, 'Incorrect API key provided.', { type: 'invalid_request_error', code: 'invalid_api_key' });
  }
}

function refusal(statusCode: number, message: string, fields: object): Error {
  const data = { error: { message, ...fields } };
  return apiCallError(message, {
    statusCode,
    responseHeaders: { 'content-type': 'application/json' },
    responseBody: JSON.stringify(data),
    isRetryable: statusCode === 429 || statusCode >= 500,
    data,
  });
}

function apiCallError(message: string, fields: object): Error {
  const url = 'https://api.example.com/v1/responses';
  return Object.assign(new Error(message), { name: 'AI_APICallError', url, requestBodyValues: {}, ...fields });
}

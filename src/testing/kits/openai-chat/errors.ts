import type { ErrorScript } from '../../provider-kit.ts';

export function createError(script: ErrorScript): Error {
  const error = (status: number | undefined, message: string, fields: object = {}) =>
    Object.assign(new Error(message), { status, headers: new Headers(), ...fields });
  switch (script) {
    case 'overflow':
      return error(400, "400 This model's maximum context length is 128000 tokens. Please reduce the length of the messages.", {
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
        param: 'messages',
      });
    case 'rate-limit':
      return error(429, '429 Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.', {
        code: 'rate_limit_exceeded',
        type: 'tokens',
        headers: new Headers({ 'retry-after': '7' }),
      });
    case 'overloaded':
      return error(503, '503 The engine is currently overloaded, please try again later.');
    case 'connection':
      return error(undefined, 'Connection error.', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
    case 'invalid':
      return error(400, "400 Invalid value: 'robot'.", { type: 'invalid_request_error', param: 'messages[0].role' });
    case 'unauthorized':
      return error(401, '401 Incorrect API key provided.', { code: 'invalid_api_key' });
  }
}

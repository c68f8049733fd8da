import type { ErrorScript } from '../../provider-kit.ts';

/** As the package for OpenAI throws them: the client's own errors, with a code and an address in their message, or wrapped. */
export function createError(script: ErrorScript): Error {
  const error = (status: number | undefined, message: string, fields: object = {}): Error =>
    Object.assign(new Error(message), { status, headers: new Headers(), ...fields });
  const advised = (status: number, message: string, code: string, fields: object = {}): Error =>
    error(status, `${message}\n\nTroubleshooting URL: https://docs.langchain.com/oss/javascript/langchain/errors/${code}/\n`, {
      lc_error_code: code,
      ...fields,
    });
  switch (script) {
    case 'overflow': {
      const cause = error(400, '400 Input tokens exceed the configured limit of 272000 tokens.', {
        code: 'context_length_exceeded',
      });
      return Object.assign(new Error(cause.message), { name: 'ContextOverflowError', cause });
    }
    case 'rate-limit':
      return advised(
        429,
        '429 Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.',
        'MODEL_RATE_LIMIT',
        { code: 'rate_limit_exceeded', type: 'tokens' },
      );
    case 'overloaded':
      return error(503, '503 The engine is currently overloaded, please try again later.');
    case 'connection':
      return error(undefined, 'Connection error.', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
    case 'invalid':
      return advised(
        400,
        "400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        'INVALID_TOOL_RESULTS',
        { type: 'invalid_request_error', param: 'messages' },
      );
    case 'unauthorized':
      return advised(401, '401 Incorrect API key provided.', 'MODEL_AUTHENTICATION', { code: 'invalid_api_key' });
  }
}

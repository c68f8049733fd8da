import type { ErrorScript } from '../../provider-kit.ts';

/** Errors of the Responses API, as the `openai` SDK throws them: with a status and the fields of the error beside a message of its own. */
export function createOpenAiError(script: ErrorScript): Error {
  switch (script) {
    case 'overflow':
      return refusal(400, 'Your input exceeds the context window of this model. Please adjust your input and try again.', {
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
        param: 'input',
      });
    case 'rate-limit':
      return refusal(429, 'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.', {
        code: 'rate_limit_exceeded',
        type: 'tokens',
      });
    case 'overloaded':
      return refusal(503, 'The engine is currently overloaded, please try again later.', { type: 'server_error' });
    case 'connection':
      return Object.assign(new Error('Connection error.'), {
        status: undefined,
        cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
      });
    case 'invalid':
      return refusal(400, 'No tool output found for function call call_1.', {
        code: null,
        type: 'invalid_request_error',
        param: 'input',
      });
    case 'unauthorized':
      return refusal(401, 'Incorrect API key provided.', { code: 'invalid_api_key', type: 'invalid_request_error' });
  }
}

function refusal(status: number, message: string, fields: object): Error {
  return Object.assign(new Error(`${status} ${message}`), {
    status,
    headers: new Headers(),
    error: { message, ...fields },
    ...fields,
  });
}

import type { ErrorScript } from '../../provider-kit.ts';

/** As the plugin for OpenAI's wire throws them: what it has no word for is `UNKNOWN`. */
export function createError(script: ErrorScript): Error {
  const error = (status: string, code: number, message: string) =>
    Object.assign(new Error(`${status}: ${message}`), { name: 'GenkitError', status, code, originalMessage: message });
  switch (script) {
    case 'overflow':
      return error('INVALID_ARGUMENT', 400, "400 This model's maximum context length is 128000 tokens.");
    case 'rate-limit':
      return error('RESOURCE_EXHAUSTED', 429, '429 Rate limit reached on tokens per min (TPM): Limit 30000, Requested 2000.');
    case 'overloaded':
      return error('UNAVAILABLE', 503, '503 The engine is currently overloaded, please try again later.');
    case 'connection':
      return error('UNKNOWN', 500, 'Connection error.');
    case 'invalid':
      return error('INVALID_ARGUMENT', 400, "400 Invalid value: 'robot'.");
    case 'unauthorized':
      return error('UNAUTHENTICATED', 401, '401 Incorrect API key provided.');
  }
}

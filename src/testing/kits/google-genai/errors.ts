import type { ErrorScript } from '../../provider-kit.ts';

/** Errors as the SDK throws them: an `ApiError` whose message is the body of the answer, as JSON. */
export function createGeminiError(script: ErrorScript): Error {
  switch (script) {
    case 'overflow':
      return refusal(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
      );
    case 'rate-limit':
      return refusal(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota. Quota exceeded for metric: generate_content_paid_tier_input_token_count, limit: 1000000.',
        [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '42s' }],
      );
    case 'overloaded':
      return refusal(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.');
    case 'connection':
      return Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
      });
    case 'invalid':
      return refusal(
        400,
        'INVALID_ARGUMENT',
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    case 'unauthorized':
      return refusal(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
      ]);
  }
}

function refusal(status: number, word: string, message: string, details: readonly object[] = []): Error {
  const error = { code: status, message, status: word, ...(details.length > 0 && { details }) };
  return Object.assign(new Error(JSON.stringify({ error })), { name: 'ApiError', status });
}

import type { ErrorScript } from '../../provider-kit.ts';

export function createError(script: ErrorScript): Error {
  const error = (name: string, status: number | undefined, type: string, message: string) =>
    Object.assign(new Error(message), {
      name,
      status,
      type,
      headers: new Headers(),
      error: { type: 'error', error: { type, message } },
    });
  switch (script) {
    case 'overflow':
      return error('BadRequestError', 400, 'invalid_request_error', 'prompt is too long: 200049 tokens > 200000 maximum');
    case 'rate-limit':
      return error(
        'RateLimitError',
        429,
        'rate_limit_error',
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
      );
    case 'overloaded':
      return error('InternalServerError', 529, 'overloaded_error', 'Overloaded');
    case 'connection':
      return Object.assign(new Error('Connection error.'), { name: 'APIConnectionError', status: undefined });
    case 'invalid':
      return error('BadRequestError', 400, 'invalid_request_error', 'messages.0.role: Input should be user or assistant');
    case 'unauthorized':
      return error('AuthenticationError', 401, 'authentication_error', 'invalid x-api-key');
  }
}

import type { ErrorScript } from '../../provider-kit.ts';

export function createError(script: ErrorScript): Error {
  const error = (name: string, httpStatusCode: number, fault: 'client' | 'server', message: string) =>
    Object.assign(new Error(message), { name, $fault: fault, $metadata: { httpStatusCode, attempts: 1, totalRetryDelay: 0 } });
  switch (script) {
    case 'overflow':
      return error(
        'ValidationException',
        400,
        'client',
        'The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum',
      );
    case 'rate-limit':
      return error('ThrottlingException', 429, 'client', 'Too many tokens, please wait before trying again.');
    case 'overloaded':
      return error('ServiceUnavailableException', 503, 'server', 'Bedrock is unable to process your request.');
    case 'connection':
      return Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:443'), {
        code: 'ECONNREFUSED',
        $metadata: { attempts: 3, totalRetryDelay: 100 },
      });
    case 'invalid':
      return error(
        'ValidationException',
        400,
        'client',
        'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
      );
    case 'unauthorized':
      return error('UnrecognizedClientException', 403, 'client', 'The security token included in the request is invalid.');
  }
}

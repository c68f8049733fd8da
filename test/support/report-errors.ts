type Fields = Record<string, unknown>;

/** The errors of each SDK, as it throws them. */
export const thrownBy: {
  openai(status: number | undefined, message: string, fields?: Fields): Error;
  anthropic(status: number | undefined, type: string, message: string, fields?: Fields): Error;
  bedrock(name: string, status: number | undefined, message: string, fields?: Fields): Error;
  gemini(status: number, word: string, message: string, details?: readonly object[]): Error;
  genkit(word: string, code: number, message: string): Error;
  aiSdk(status: number, message: string, fields?: Fields): Error;
  aiSdkAfterRetries(last: Error): Error;
  langchain(code: string, cause: Error): Error;
} = {
  openai: (status, message, fields = {}) => {
    const error = { message, type: 'invalid_request_error', param: null, code: null, ...fields };
    const text = status === undefined ? message : `${status} ${message}`;
    return Object.assign(new Error(text), { status, headers: new Headers(), error, ...error, message: text });
  },
  anthropic: (status, type, message, fields = {}) => {
    const error = { type: 'error', error: { type, message, ...fields }, request_id: 'req_1' };
    const text = `${status === undefined ? '' : `${status} `}${JSON.stringify(error)}`;
    return Object.assign(new Error(text), { name: 'BadRequestError', status, type, apiMessage: message, error, ...fields });
  },
  bedrock: (name, httpStatusCode, message, fields = {}) =>
    Object.assign(new Error(message), { name, $fault: 'client', $metadata: { httpStatusCode, attempts: 1 }, ...fields }),
  gemini: (status, word, message, details = []) =>
    Object.assign(new Error(JSON.stringify({ error: { code: status, message, status: word, details } })), {
      name: 'ApiError',
      status,
    }),
  genkit: (word, code, message) =>
    Object.assign(new Error(`${word}: ${message}`), { name: 'GenkitError', status: word, code, originalMessage: message }),
  aiSdk: (statusCode, message, fields = {}) => {
    const data = { error: { message, ...fields } };
    return Object.assign(new Error(message), {
      name: 'AI_APICallError',
      url: 'https://api.example.com/v1',
      requestBodyValues: {},
      statusCode,
      responseHeaders: {},
      responseBody: JSON.stringify(data),
      isRetryable: statusCode === 429 || statusCode >= 500,
      data,
    });
  },
  aiSdkAfterRetries: (last) =>
    Object.assign(new Error(`Failed after 3 attempts. Last error: ${last.message}`), {
      name: 'AI_RetryError',
      reason: 'maxRetriesExceeded',
      errors: [last, last, last],
      lastError: last,
    }),
  langchain: (code, cause) =>
    Object.assign(new Error(`${cause.message}\n\nTroubleshooting URL: https://docs.langchain.com/errors/${code}/\n`), {
      ...cause,
      lc_error_code: code,
      ...(code === 'CONTEXT_OVERFLOW' && { name: 'ContextOverflowError', cause }),
    }),
};

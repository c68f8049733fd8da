import { expect, it } from 'vitest';
import { onBothShapes } from '../support/report-shapes.ts';

// The property, a table of positive and negative wordings in many wrappings, is tested in test/adapters/error-class.test.ts.

/** The same wording as SDKs, gateways and streams give it. */
function wrappings(message: string): unknown[] {
  const json = JSON.stringify({ error: { message, type: 'invalid_request_error' } });
  return [
    Object.assign(new Error(message), { status: 400 }),
    { status: 400, error: { error: { message } } },
    { message: 'Provider returned error', code: 400, metadata: { raw: json } },
    { error: { message } }, // an event of a stream that began with 200
  ];
}

onBothShapes(({ adapter }) => {
  it('B160: llama.cpp names the request before the limit', () => {
    const message = 'request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it';
    for (const error of wrappings(message))
      expect(adapter.classifyError(error)).toEqual({ kind: 'overflow', limit: 65536, requested: 66202 });
  });

  it('B162: an overflow need not speak of a context', () => {
    for (const error of wrappings('Input is too long for requested model.'))
      expect(adapter.classifyError(error)).toEqual({ kind: 'overflow' });
  });

  it('B164: a quota and a throttled request are no overflow', () => {
    for (const message of [
      'Too many tokens per day, please wait before trying again.',
      'Too many tokens, please wait before trying again.',
    ])
      for (const error of [
        Object.assign(new Error(message), { status: 429 }),
        { name: 'ThrottlingException', message },
        { error: { message } },
      ])
        expect(adapter.classifyError(error)).toMatchObject({ kind: 'retryable' });
  });
});

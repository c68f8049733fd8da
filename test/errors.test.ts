import { describe, expect, it } from 'vitest';
import { CompactionError, describeFailure, isCompactionError } from '../src/errors.ts';

const where = { provider: 'openai-chat', model: 'gpt-5', inputTokens: 900, inputBudget: 1000, overflow: false };

describe('CompactionError', () => {
  it('has a code, a message, and the numbers that go with it', () => {
    const cause = new Error('down');
    const error = new CompactionError('summarizer-failed', 'It failed.', {
      cause,
      provider: 'anthropic',
      model: 'm',
      inputTokens: 1,
      inputBudget: 2,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'CompactionError',
      code: 'summarizer-failed',
      message: 'It failed.',
      provider: 'anthropic',
      model: 'm',
      inputTokens: 1,
      inputBudget: 2,
    });
    expect(error.cause).toBe(cause);
    expect(error.stack).toContain('errors.test');
  });

  it('has no cause where none is given, and keeps one that is undefined', () => {
    expect('cause' in new CompactionError('stale', 'It changed.')).toBe(false);
    expect('cause' in new CompactionError('stale', 'It changed.', { cause: undefined })).toBe(true);
  });
});

describe('isCompactionError', () => {
  it('knows its own, also from another copy of the package', () => {
    expect(isCompactionError(new CompactionError('stale', 'It changed.'))).toBe(true);
    expect(isCompactionError(Object.assign(new Error('It changed.'), { name: 'CompactionError', code: 'stale' }))).toBe(true);
  });

  it.each([
    null,
    undefined,
    'CompactionError',
    {},
    { name: 'CompactionError', code: 'stale' },
    new Error('It changed.'),
    new DOMException('', 'AbortError'),
  ])('refuses %s', (value) => {
    expect(isCompactionError(value)).toBe(false);
  });
});

describe('describeFailure', () => {
  it('adds the numbers to an error of an adapter, which knows its provider alone', () => {
    const error = new CompactionError('invalid-request', 'Expected x.', { provider: 'openai-chat', cause: 'c' });
    expect(describeFailure(error, where)).toMatchObject({
      code: 'invalid-request',
      model: 'gpt-5',
      inputBudget: 1000,
      cause: 'c',
    });
  });

  it('says where a compaction failed, once', () => {
    const error = describeFailure(new CompactionError('empty-summary', 'Blank.'), where);
    expect(error).toMatchObject({
      code: 'empty-summary',
      message: 'Blank. (openai-chat, gpt-5, input_tokens=900, budget=1000)',
      provider: 'openai-chat',
    });
    expect(describeFailure(error, where)).toBe(error);
    expect(describeFailure(new CompactionError('empty-summary', 'Blank.'), { ...where, model: undefined }).message).toContain(
      'unknown model',
    );
  });

  it('keeps the cause of an error', () => {
    const cause = { status: 500 };
    expect(describeFailure(new CompactionError('commit-failed', 'No.', { cause }), where).cause).toBe(cause);
    expect('cause' in describeFailure(new CompactionError('stale', 'No.'), where)).toBe(false);
  });

  it.each([new Error('the key sk-123 is wrong'), 'a text', undefined, null, { status: 400 }])(
    'has whatever else was thrown as its cause, never in its message: %s',
    (thrown) => {
      const error = describeFailure(thrown, where);
      expect(error).toMatchObject({ code: 'summarizer-failed', inputTokens: 900, inputBudget: 1000 });
      expect(error.cause).toBe(thrown);
      expect(error.message).not.toContain('sk-123');
      const overflow = describeFailure(thrown, { ...where, overflow: true });
      expect(overflow.code).toBe('summarizer-overflow');
      expect(overflow.cause).toBe(thrown);
    },
  );
});

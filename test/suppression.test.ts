import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompactionError, type CompactionErrorCode } from '../src/errors.ts';
import { classifyFailure, explainSuppression, isSuppressed, type SuppressedUntil, strictest } from '../src/suppression.ts';
import { afterFailure, afterModelSwitch, afterSuccess, initialTrigger } from '../src/trigger.ts';
import { createLoop, lifecycleOf, noticesOf, type WorldOptions } from './support/harness.ts';
import { httpError, type Step, says, smallBudget, throws, toolTurn } from './support/scripted-model.ts';

const failed = (cause: unknown, code: CompactionErrorCode = 'summarizer-failed') => new CompactionError(code, 'No.', { cause });

describe('V66: what a failed compaction waits for', () => {
  it.each<[unknown, SuppressedUntil | undefined]>([
    [httpError(401, 'Incorrect key'), 'answer'],
    [httpError(402, 'Payment required'), 'answer'],
    [httpError(403, 'Forbidden'), 'answer'],
    [new Error('status 401: Unauthorized'), 'answer'],
    [httpError(429, 'You have hit your spending limit.'), 'answer'],
    [httpError(400, 'Your credit balance is too low to access the API.'), 'answer'],
    [new Error('You are out of credits'), 'answer'],
    [new Error('Usage balance exhausted'), 'answer'],
    [new Error('The usage limit reached its end: usage limit reached'), 'answer'],
    [Object.assign(httpError(429, 'Quota'), { code: 'insufficient_quota' }), 'answer'],
    [Object.assign(new Error('wrapped'), { cause: new Error('spending-limit') }), 'answer'],
    [httpError(400, 'Invalid value'), 'input'],
    [httpError(404, 'No such model'), 'input'],
    [httpError(422, 'Unprocessable'), 'input'],
    [Object.assign(new Error('Bad'), { error: { type: 'invalid_request_error' } }), 'input'],
    [httpError(500, 'invalid_request, said a proxy'), undefined],
    [httpError(429, 'Too many requests'), undefined],
    [new Error('socket hang up'), undefined],
    ['a text', undefined],
    [undefined, undefined],
  ])('%s', (cause, until) => {
    expect(classifyFailure(failed(cause))).toBe(until);
  });

  it('an overflow waits for new input; what the model or the host did may pass', () => {
    expect(classifyFailure(failed(httpError(400, 'prompt is too long'), 'summarizer-overflow'))).toBe('input');
    for (const code of ['empty-summary', 'deadline', 'commit-failed', 'not-smaller', 'truncated-summary'] as const)
      expect(classifyFailure(failed(httpError(401, 'no'), code))).toBeUndefined();
  });

  it('is never downgraded, and forgotten by a success', () => {
    const classes = fc.array(fc.constantFrom('input' as const, 'answer' as const, undefined), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(classes, (untils) => {
        const mark = { count: 1, hash: 'x' };
        let state = initialTrigger();
        for (const until of untils) state = afterFailure(state, mark, { said: '1', surroundings: 's', until });
        expect(state.failures).toBe(untils.length);
        expect(state.failure?.until).toBe(untils.reduce<SuppressedUntil | undefined>(strictest, undefined));
        expect(afterSuccess(state, mark, 10)).toMatchObject({ failures: 0, failure: undefined });
        expect(afterModelSwitch({ ...state, inDoubt: 'id' })).toMatchObject({ failures: 0, inDoubt: 'id' });
        expect(afterModelSwitch(state).failure).toBeUndefined();
      }),
    );
  });
});

describe('V67: what ends it', () => {
  const then = { said: '1', model: 'a', surroundings: 's' };
  const more = { ...then, said: '2' };
  const other = { said: '1', model: 'b', surroundings: 't' };
  const around = { ...then, surroundings: 't' };

  it.each([
    // class, failures, now, an answer was seen, suppressed
    [undefined, 1, then, false, false],
    [undefined, 3, then, true, true],
    [undefined, 3, around, true, true],
    [undefined, 3, other, true, true],
    [undefined, 3, more, false, false],
    ['input', 1, then, true, true],
    ['input', 1, more, false, false],
    ['input', 1, around, false, false],
    ['input', 1, other, false, false],
    ['input', 3, around, false, true],
    ['answer', 1, then, true, true],
    ['answer', 1, more, false, true],
    ['answer', 1, around, true, true],
    ['answer', 1, more, true, false],
    ['answer', 1, other, false, false],
  ] as const)('until %s, %i failed, now %o, answered %s: suppressed %s', (until, failures, now, answered, expected) => {
    expect(isSuppressed({ failures, failure: { ...then, until } }, now, answered)).toBe(expected);
  });

  it('is told in words that say what is waited for', () => {
    expect(explainSuppression(1, { ...then, until: 'answer' })).toContain('it has answered');
    expect(explainSuppression(1, { ...then, until: 'input' })).toContain('says something new');
    expect(explainSuppression(3, then)).toContain('Three compactions');
    expect(explainSuppression(2, then)).toBeUndefined();
  });
});

describe('a loop whose compaction fails', () => {
  const user = (content: string) => ({ role: 'user', content });
  const assistant = (content: string) => ({ role: 'assistant', content });
  const world = (error: unknown, options: WorldOptions = {}) =>
    createLoop({
      ...smallBudget,
      contextWindow: 50_000,
      summary: { retries: 0, overflowRetries: 0 },
      steps: [throws(error)],
      ...options,
    });
  let call = 0;
  const turn = () => toolTurn(`turn_${call++}`, 't'.repeat(400));

  it('for a reason that stays tries again when the user says something new, and not before', async () => {
    const { loop, events } = world(httpError(400, 'Invalid value'));
    await loop.send();
    expect(noticesOf(events)).toEqual(['suppressed']);
    for (let repeat = 0; repeat < 5; repeat++) {
      loop.append(turn());
      await loop.send();
    }
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
    loop.append([assistant('Read.'), user('Go on.')]);
    await loop.send();
    expect(lifecycleOf(events).slice(2)).toEqual(['started', 'applied']);
    expect(loop.snapshot().trigger.failure).toBeUndefined();
  });

  it.each([
    ['another model', { params: { model: 'other' } }],
    ['other instructions', { system: 'Be quick.' }],
  ])('for a reason that stays tries again with %s', async (_name, update) => {
    const { loop, events } = world(httpError(400, 'Invalid value'));
    await loop.send();
    loop.update(update);
    loop.append(turn());
    await loop.send();
    expect(lifecycleOf(events).slice(2)).toEqual(['started', 'applied']);
  });

  it('is not tried with each request of a host that dates its instructions', async () => {
    const fail: Step = throws(httpError(400, 'Invalid value'));
    const { loop, events } = world(undefined, { steps: Array(10).fill(fail) });
    for (let repeat = 0; repeat < 10; repeat++) {
      loop.update({ system: `It is 12:0${repeat}.` });
      loop.append(turn());
      await loop.send();
    }
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(3);
  });

  it('for want of credit waits for new input and an answer of the provider', async () => {
    const { loop, events } = world(httpError(402, 'Out of credits'), { turn: () => says('Fine.') });
    await loop.send();
    loop.append([user('And now?')]);
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
    await loop.appendReply(await loop.send());
    await loop.send();
    expect(lifecycleOf(events).slice(2)).toEqual(['started', 'applied']);
  });

  it('for want of credit tries again with another model, and after a compaction by hand', async () => {
    const first = world(httpError(401, 'no'));
    await first.loop.send();
    first.loop.update({ params: { model: 'other' } });
    first.loop.append(turn());
    await first.loop.send();
    expect(lifecycleOf(first.events).slice(2)).toEqual(['started', 'applied']);

    const second = world(httpError(401, 'no'));
    await second.loop.send();
    await second.loop.compact();
    expect(second.loop.snapshot().trigger).toMatchObject({ failures: 0 });
    second.loop.append([...turn(), ...toolTurn('big', 'u'.repeat(12_000))]);
    await second.loop.send();
    expect(lifecycleOf(second.events).slice(2)).toEqual(['started', 'applied']);
  });

  it('for a reason that may pass tries again after the next turn', async () => {
    const { loop, events } = world(httpError(500, 'no'));
    await loop.send();
    expect(noticesOf(events)).toEqual([]);
    loop.append(turn());
    await loop.send();
    expect(lifecycleOf(events).slice(2)).toEqual(['started', 'applied']);
  });

  it('stays as it is in another process', async () => {
    const { loop } = world(httpError(402, 'no'));
    await loop.send();
    loop.append(turn());
    const resumed = createLoop({
      ...smallBudget,
      contextWindow: 50_000,
      request: loop.request,
      state: { snapshot: loop.snapshot() },
    });
    await resumed.loop.send();
    expect(lifecycleOf(resumed.events)).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { movedMarks } from '../../src/session/stored-state.ts';

it.each([
  ['set', {}, { attempt: { count: 1, hash: 'a' } }, ['attempt']],
  ['at another place', { attempt: { count: 1, hash: 'a' } }, { attempt: { count: 2, hash: 'b' } }, ['attempt']],
  [
    'at the same place of another conversation',
    { reportedAt: { count: 1, hash: 'a' } },
    { reportedAt: { count: 1, hash: 'b' } },
    ['reportedAt'],
  ],
  ['as it was', { attempt: { count: 1, hash: 'a' } }, { attempt: { count: 1, hash: 'a' } }, undefined],
])('a place that is %s is told as such', (_name, before, after, moved) => {
  expect(movedMarks(before, after)).toEqual(moved);
});

import { describe, expect, it } from 'vitest';
import { type Entry, fitSections, type Pool } from '../../../src/summarize/extractive/fit-sections.ts';
import { section } from './short-messages.ts';

const entry = (text: string, rank: number, more: Partial<Entry> = {}): Entry => ({ text, rank, at: 0, ...more });
const write = (pools: Pool[], maxTokens: number, more = {}) =>
  fitSections(pools, {
    maxTokens,
    countTokens: (text) => text.length,
    newLength: Number.POSITIVE_INFINITY,
    omittedPaths: 0,
    ...more,
  });
const frame = write([], 100_000).length;
const numbered = (name: string, rank = 1) =>
  Array.from({ length: 40 }, (_, index) => entry(`${name}${String(index).padStart(2, '0')}`, rank + index));

describe('fitSections', () => {
  it('writes entries in their own order, not in that of their ranks', () => {
    const summary = write(
      [{ section: 'Goal', share: 1, contest: 'a', entries: [entry('one', 1), entry('two', 3), entry('three', 2)] }],
      1_000,
    );
    expect(section(summary, 'Goal')).toEqual(['one', 'two', 'three']);
  });

  it('gives each pool its share by rank before anything is contested', () => {
    const summary = write(
      [
        { section: 'Goal', share: 0.5, contest: 'a', entries: numbered('g') },
        { section: 'Discoveries', share: 0.5, contest: 'b', entries: numbered('d') },
      ],
      frame + 60,
    );
    expect(section(summary, 'Goal')).toEqual(['g35', 'g36', 'g37', 'g38', 'g39']);
    expect(section(summary, 'Discoveries')).toEqual(['d35', 'd36', 'd37', 'd38', 'd39']);
  });

  it('gives what is left over to the better rank of one contest', () => {
    const summary = write(
      [
        { section: 'Goal', share: 0, contest: 'a', entries: numbered('g', 1) },
        { section: 'Discoveries', share: 0, contest: 'a', entries: numbered('d', 100) },
      ],
      frame + 24,
    );
    expect(section(summary, 'Goal')).toEqual(['(none)']);
    expect(section(summary, 'Discoveries')).toEqual(['d36', 'd37', 'd38', 'd39']);
  });

  it('adds new entries only up to a length, carried ones beyond it', () => {
    const entries = [...numbered('o', 1).map((one) => ({ ...one, at: -1 })), ...numbered('n', 100)];
    const lines = section(write([{ section: 'Goal', share: 1, contest: 'a', entries }], 10_000, { newLength: 9 }), 'Goal');
    expect(lines.filter((line) => line.startsWith('n'))).toHaveLength(3);
    expect(lines.filter((line) => line.startsWith('o'))).toHaveLength(40);
  });

  it('keeps room for other lines where all written paths would not fit', () => {
    const paths = numbered('path').map((one) => ({ ...one, must: 'path' as const }));
    const summary = write(
      [
        { section: 'Discoveries', share: 0.3, contest: 'a', entries: numbered('d') },
        { section: 'Relevant Files', share: 0, contest: 'b', entries: paths },
      ],
      frame + 150,
    );
    expect(section(summary, 'Discoveries').length).toBeGreaterThan(2);
    expect(summary).toContain('path39');
    expect(summary).toMatch(/- \(\d+ more written paths left out\)$/);
  });

  it('drops its last choices where a counter finds more in the whole than in the parts', () => {
    const entries = [entry('must stay', 0, { must: 'constraint' }), ...numbered('x')];
    const superadditive = (text: string) => Math.ceil(text.length ** 1.1);
    const summary = write([{ section: 'Key Instructions', share: 1, contest: 'a', entries }], 600, {
      countTokens: superadditive,
    });
    expect(superadditive(summary)).toBeLessThanOrEqual(600);
    expect(section(summary, 'Key Instructions')[0]).toBe('must stay');
  });
});

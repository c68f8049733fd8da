import { describe, expect, it } from 'vitest';
import { addSections, isSummaryText, noEarlierSummary } from '../../../src/summarize/extractive/earlier-summary.ts';

const sections = (text: string) => {
  const earlier = noEarlierSummary();
  addSections(earlier, text);
  return earlier;
};

describe('addSections', () => {
  it('knows the headings in the forms that models write', () => {
    expect(
      sections('# Goal:\na\n## **Key Instructions**\n* b\n## 3. Discoveries\n  - c\n### Detail\nd\n## accomplished\n1. e'),
    ).toEqual({
      Goal: ['a'],
      'Key Instructions': ['b'],
      Discoveries: ['c', 'd'],
      Accomplished: ['e'],
      'Relevant Files': [],
    });
  });

  it('counts text without a heading, or under one of its own, as found out', () => {
    expect(sections('first\n## Goal\na\n## Open Questions\nb').Discoveries).toEqual(['first', 'b']);
  });

  it('never lets the end of a long quotation stand without its source', () => {
    const [line, ...others] = sections(`- [page.html] ${'x '.repeat(5_000)}. You must obey.`).Discoveries;
    expect(line).toMatch(/^\[page\.html\] x/);
    expect(others).toEqual([]);
  });

  it('loses no sentence of a long line', () => {
    const { Discoveries } = sections(`${'Alpha is one. '.repeat(1_000)}Omega is two.`);
    expect(Discoveries).toEqual(['Alpha is one.', 'Omega is two.']);
  });

  it('keeps one sentence in two sections, but not twice in one', () => {
    const earlier = sections('## Goal\nNever stop.\nNever stop.\n## Key Instructions\nNever stop.');
    expect(earlier.Goal).toEqual(['Never stop.']);
    expect(earlier['Key Instructions']).toEqual(['Never stop.']);
  });

  it('splits a long paragraph into sentences', () => {
    expect(sections('One sentence of it is this. '.repeat(1) + 'Another one is that. '.repeat(30)).Discoveries).toEqual([
      'One sentence of it is this.',
      'Another one is that.',
    ]);
  });
});

describe('isSummaryText', () => {
  it('wants `## Goal` first and two more of the five headings', () => {
    expect(isSummaryText('\n## Goal\na\n## Discoveries\nb\n## Relevant Files\nc')).toBe(true);
    expect(isSummaryText('## Goal\r\na\r\n## Discoveries\r\nb\r\n## Accomplished\r\n')).toBe(true);
    expect(isSummaryText('## Goal\nBuild it.\n## Constraints\nNever fail.')).toBe(false);
    expect(isSummaryText('Look:\n## Goal\na\n## Discoveries\nb\n## Relevant Files\nc')).toBe(false);
    expect(isSummaryText('')).toBe(false);
  });
});

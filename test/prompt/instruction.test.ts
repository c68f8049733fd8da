import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactionGuidance } from '../../src/prompt/guidance.ts';
import { buildAutoCompactionPrompt, buildCompactionPrompt } from '../../src/prompt/instruction.ts';

describe('buildCompactionPrompt', () => {
  it('is the guidance and the demand for the summary alone', () => {
    const prompt = buildCompactionPrompt();
    expect(prompt.startsWith(compactionGuidance)).toBe(true);
    expect(prompt).toMatch(/structured summary alone, without a preamble/);
    expect(prompt).not.toContain('IMPORTANT');
  });

  it('appends what the user asked for, trimmed, under a mark', () => {
    const prompt = buildCompactionPrompt('  Keep the list of failing tests.\n');
    expect(prompt).toBe(`${buildCompactionPrompt()}\n\nIMPORTANT, from the user: Keep the list of failing tests.`);
  });

  it.each([undefined, '', ' ', '\n\t '])('adds nothing for blank guidance: %j', (guidance) => {
    expect(buildCompactionPrompt(guidance)).toBe(buildCompactionPrompt());
  });

  it('keeps any other guidance word for word', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (guidance) => {
        fc.pre(guidance.trim() !== '');
        expect(buildCompactionPrompt(guidance).endsWith(`from the user: ${guidance.trim()}`)).toBe(true);
      }),
    );
  });
});

describe('buildAutoCompactionPrompt', () => {
  const prompt = buildAutoCompactionPrompt();

  it('is the guidance and the rules of a checkpoint', () => {
    expect(prompt.startsWith(compactionGuidance)).toBe(true);
    expect(prompt).toContain('context compaction request');
    expect(prompt).toMatch(/checkpoint in the middle of the work/);
  });

  it('says that the newest message of the user is kept, and not to be repeated', () => {
    expect(prompt).toMatch(/newest message of the user will be kept word for word/);
    expect(prompt).toMatch(/do not repeat it/);
  });

  it('asks for the progress of the work and the results of tools, and for nothing else', () => {
    expect(prompt).toMatch(/how far the work on it has come/);
    expect(prompt).toMatch(/each meaningful tool result/);
    expect(prompt).toMatch(/Reply with the summary alone\.$/);
  });

  it('is the same each time, and another one than the manual prompt', () => {
    expect(buildAutoCompactionPrompt()).toBe(prompt);
    expect(buildCompactionPrompt()).not.toBe(prompt);
    expect(buildCompactionPrompt()).not.toMatch(/newest message/);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countMessages, emptyBreakdown, scaleBreakdown, stringifyForCounting, sumBreakdown } from '../../src/budget/breakdown.ts';
import { countBytesByThree } from '../../src/budget/token-counter.ts';
import type { Message, Part } from '../../src/message.ts';

const measure = { count: countBytesByThree, family: 'generic' as const };

describe('breakdown', () => {
  it('K12: scaled to a reported total, the categories sum to it', () => {
    const categories = fc.record({
      system: fc.nat(100_000),
      tools: fc.nat(100_000),
      user: fc.nat(100_000),
      assistant: fc.nat(100_000),
      tool: fc.nat(100_000),
      media: fc.nat(100_000),
      opaque: fc.nat(100_000),
    });
    fc.assert(
      fc.property(categories, fc.nat(1_000_000), (breakdown, total) => {
        const scaled = scaleBreakdown(breakdown, total);
        expect(sumBreakdown(scaled)).toBe(total);
        for (const tokens of Object.values(scaled)) expect(Number.isInteger(tokens)).toBe(true);
      }),
    );
    expect(scaleBreakdown({ ...emptyBreakdown(), system: 100, tools: 50, user: 50 }, 400)).toMatchObject({
      system: 200,
      tools: 100,
      user: 100,
    });
  });

  it('prices ciphertext far below its length as text, and counts what else is in an opaque part', () => {
    const opaque = (value: unknown): number =>
      countMessages([{ role: 'assistant', parts: [{ type: 'native', value }] }], measure).opaque;
    const ciphertext = 'Qm9vbQ+/'.repeat(1000);
    expect(opaque({ type: 'redacted_thinking', data: ciphertext })).toBeLessThan(ciphertext.length / 4);
    expect(opaque({ type: 'redacted_thinking', data: ciphertext })).toBeGreaterThan(ciphertext.length / 8);
    expect(opaque({ note: 'plain words '.repeat(100) })).toBeGreaterThan(300);
    expect(opaque(new Uint8Array(4000))).toBeGreaterThan(900);
  });

  it('never throws, whatever a part holds', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const parts: Part[] = [
      { type: 'native', value: cycle },
      { type: 'native', value: undefined },
      { type: 'toolCall', id: 'c', name: 'n', input: cycle },
      { type: 'toolCall', id: 'c', name: 'n', input: 10n },
    ];
    const message: Message = { role: 'assistant', parts };
    expect(sumBreakdown(countMessages([message], measure))).toBeGreaterThan(0);
    expect(stringifyForCounting(undefined)).toBe('');
  });
});

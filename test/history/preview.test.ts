import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, previewMessage } from '../../src/history/preview.ts';
import type { Message, Part } from '../../src/message.ts';
import { countTokens } from '../support/scripted-model.ts';

const text = (value: string): Part => ({ type: 'text', text: value });
const measure = (message: Message): number => countTokens(JSON.stringify(message));
const preview = (message: Message, budget: number): Message => previewMessage(message, budget, { measure, count: countTokens });

describe('previewMessage', () => {
  it('V25: gives a message that fits back as it is', () => {
    const message: Message = { role: 'user', parts: [text('Hello.')] };
    expect(preview(message, 100)).toBe(message);
  });

  it('V25: keeps the beginning of the text, and drops media, reasoning and what is opaque', () => {
    const message: Message = {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm.' },
        text('word '.repeat(1000)),
        { type: 'media', kind: 'image', value: {} },
        { type: 'native', value: { signature: 'x' } },
      ],
    };
    const { parts } = preview(message, 100);
    expect(parts).toHaveLength(1);
    const [part] = parts;
    expect(part?.type === 'text' && part.text).toMatch(/^(word )+.*\n\[The rest was left out\.\]$/);
    expect(countTokens(part?.type === 'text' ? part.text : '')).toBeLessThanOrEqual(96);
  });

  it('V25: long arguments become an empty object; id, name and role stay', () => {
    const call = (size: number): Message => ({
      role: 'assistant',
      parts: [{ type: 'toolCall', id: 'c1', name: 'write', input: { text: 'x'.repeat(size) } }],
    });
    expect(preview(call(300_000), 100)).toEqual({
      role: 'assistant',
      parts: [{ type: 'toolCall', id: 'c1', name: 'write', input: {} }],
    });
    const long = call(300);
    expect(preview(long, 90).parts).toEqual(long.parts); // 4 bytes for each token of the budget
  });

  it('keeps arguments that cannot be written as JSON', () => {
    const input: Record<string, unknown> = { large: 1n };
    input.self = input;
    const call: Part = { type: 'toolCall', id: 'c1', name: 'write', input };
    const message: Message = { role: 'assistant', parts: [call, text('word '.repeat(1000))] };
    const short = previewMessage(message, 100, { measure: ({ parts }) => parts.length * 1000, count: countTokens });
    expect(short.parts[0]).toBe(call);
  });

  it('V24: a result of 100,000 characters is bounded, and still answers its call', () => {
    const result: Message = {
      role: 'tool',
      parts: [{ type: 'toolResult', callId: 'c1', name: 'read', content: [text('y'.repeat(100_000)) as never], isError: true }],
    };
    const bounded = preview(result, 200);
    expect(bounded.parts[0]).toMatchObject({ type: 'toolResult', callId: 'c1', name: 'read', isError: true });
    expect(measure(bounded)).toBeLessThan(260);
  });

  it('shares one budget among all texts of a message', () => {
    const message: Message = { role: 'user', parts: Array.from({ length: 20 }, () => text('z'.repeat(400))) };
    expect(measure(preview(message, 200))).toBeLessThan(400);
  });
});

describe('cutText', () => {
  it('the property: never more than so many tokens, never half a character, always a beginning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 2000 }), fc.nat(300), (value, tokens) => {
        const cut = cutText(value, tokens, countTokens);
        expect(countTokens(cut)).toBeLessThanOrEqual(Math.max(tokens, 0));
        expect(value.startsWith(cut.replace(/\n\[The rest was left out\.\]$/, ''))).toBe(true);
        if (value.isWellFormed()) expect(cut.isWellFormed()).toBe(true);
        if (countTokens(value) <= tokens) expect(cut).toBe(value);
      }),
    );
  });

  it('counts a text of ten million characters only where it is read', () => {
    let counted = 0;
    cutText('a'.repeat(10_000_000), 1000, (value) => {
      counted += value.length;
      return countTokens(value);
    });
    expect(counted).toBeLessThan(50_000);
  });
});

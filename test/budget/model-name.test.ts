import { describe, expect, it } from 'vitest';
import { isClaude47OrLater, makerOf } from '../../src/budget/model-name.ts';

describe('makerOf', () => {
  it('knows the maker inside the names of gateways and clouds', () => {
    expect(makerOf('us.anthropic.claude-opus-4-7-v1:0')).toBe('anthropic');
    expect(makerOf('OpenRouter/Google/Gemini-2.5-Pro')).toBe('google');
    expect(makerOf('ft:gpt-4o-mini-2024-07-18:company::id')).toBe('openai');
    expect(makerOf('computer-use-preview')).toBe('openai');
  });

  it('does not guess', () => {
    for (const name of [undefined, '', 'mistral-large', 'ollama/phi4', 'polo1', 'magnum-opusculum']) {
      expect(makerOf(name)).toBeUndefined();
    }
  });

  it('looks at the beginning of an endless name only', () => {
    expect(makerOf('a'.repeat(5_000_000).concat('claude'))).toBeUndefined();
  });
});

describe('isClaude47OrLater', () => {
  it('reads the version, never a date', () => {
    for (const name of ['claude-2.1', 'claude-3-opus-20240229', 'claude-sonnet-4-20250514', 'claude-opus-4-6', 'sonnet-4.5']) {
      expect(isClaude47OrLater(name), name).toBe(false);
    }
    for (const name of ['claude-opus-4-7', 'claude-opus-4.8', 'claude-opus-4-10', 'claude-sonnet-5', 'claude-fable-5-20260301']) {
      expect(isClaude47OrLater(name), name).toBe(true);
    }
  });

  it('takes a name without a version for the newest', () => {
    for (const name of [undefined, 'claude-opus-latest', 'claude']) expect(isClaude47OrLater(name)).toBe(true);
    expect(isClaude47OrLater('claude-'.repeat(200_000))).toBe(true);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenRatio } from '../../src/budget/token-ratio.ts';

describe('tokenRatio', () => {
  it.each([
    ['claude-3-haiku-20240307', 1.15],
    ['claude-3-5-sonnet-20241022', 1.15],
    ['claude-3-7-sonnet-latest', 1.15],
    ['claude-sonnet-4-20250514', 1.15],
    ['claude-sonnet-4@20250514', 1.15],
    ['claude-opus-4-1-20250805', 1.15],
    ['claude-haiku-4-5', 1.15],
    ['anthropic/claude-opus-4.6', 1.15],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 1.15],
    ['anthropic.claude-v2:1', 1.15],
    ['anthropic/claude-3.7-sonnet:thinking', 1.15],
    ['claude-opus-4-7', 1.5],
    ['claude-opus-4-8-20260401', 1.5],
    ['us.anthropic.claude-opus-4-7-20260101-v1:0', 1.5],
    ['anthropic/claude-opus-4.7', 1.5],
    ['claude-sonnet-5', 1.5],
    ['claude-fable-5', 1.5],
    ['claude-opus-latest', 1.5],
    ['opus', 1.5],
    ['gemini-2.5-pro', 1.2],
    ['models/gemini-3-flash-preview', 1.2],
    ['google/gemma-3-27b-it', 1.2],
    ['meta-llama/llama-3.3-70b-instruct', 1],
    ['us.meta.llama3-3-70b-instruct-v1:0', 1],
    ['ollama/qwen3:8b', 1.1],
    ['openrouter/qwen/qwen3-coder', 1.1],
    ['deepseek-r1-distill-qwen-32b', 1.1],
    ['deepseek-r1-distill-llama-70b', 1],
    ['deepseek-chat', 1.03],
    ['gpt-5.2', 1],
    ['azure/gpt-4o', 1],
    ['o3', 1],
    ['openai/o4-mini', 1],
    ['openai/gpt-oss-120b', 1],
  ])('knows %s by its name, whatever the adapter', (model, ratio) => {
    for (const family of ['openai', 'anthropic', 'google', 'generic'] as const) expect(tokenRatio(family, model)).toBe(ratio);
  });

  it('takes the family where the name does not tell or is missing', () => {
    for (const model of [undefined, '', 'my-deployment', 'ollama/phi4', 'mistral-large-2411', 'polo1']) {
      expect(tokenRatio('openai', model)).toBe(1);
      expect(tokenRatio('anthropic', model)).toBe(1.5);
      expect(tokenRatio('google', model)).toBe(1.2);
      expect(tokenRatio('generic', model)).toBe(1.1);
    }
  });

  it('is a usable factor for any name', () => {
    fc.assert(
      fc.property(fc.constantFrom('openai', 'anthropic', 'google', 'generic'), fc.string(), (family, model) => {
        const ratio = tokenRatio(family, model);
        return ratio >= 1 && ratio <= 1.5;
      }),
    );
    expect(tokenRatio('generic', 'claude-'.repeat(200_000))).toBe(1.5);
  });
});

import type { BetaOutputConfig } from '@anthropic-ai/sdk/resources/beta/messages';
import { ThinkingLevel } from '@google/genai';
import type { ReasoningEffort } from 'openai/resources/shared';
import { describe, expect, it } from 'vitest';
import { aiSdkModel } from '../../src/adapters/ai-sdk.ts';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { bedrockConverse } from '../../src/adapters/bedrock.ts';
import { genkitModel } from '../../src/adapters/genkit.ts';
import { geminiContents } from '../../src/adapters/google-genai.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { langchainKit } from '../../src/testing/kits/langchain.ts';

const user = { role: 'user', content: 'Go.' };
const manual = { maxTokens: 1000, effort: 'low', verbosity: 'low' };

describe('V7: how the model is to work on a summary', () => {
  it('is named by what each SDK knows, lowest first', () => {
    const openai: Record<NonNullable<ReasoningEffort>, true> = {
      none: true,
      minimal: true,
      low: true,
      medium: true,
      high: true,
      xhigh: true,
      max: true,
    };
    const claude: Record<NonNullable<BetaOutputConfig['effort']>, true> = {
      low: true,
      medium: true,
      high: true,
      xhigh: true,
      max: true,
    };
    for (const { efforts } of [openaiChat(), openaiResponses(), openaiCodex()]) expect(efforts).toEqual(Object.keys(openai));
    for (const { efforts } of [anthropicMessages(), bedrockConverse()]) expect(efforts).toEqual(Object.keys(claude));
    const levels = Object.values(ThinkingLevel).filter((level) => level !== ThinkingLevel.THINKING_LEVEL_UNSPECIFIED);
    expect(geminiContents().efforts).toEqual(levels.map((level) => level.toLowerCase()));
    for (const { efforts } of [genkitModel(), aiSdkModel(), langchainKit.adapter]) expect(efforts).toBeUndefined();
  });

  it('is asked for in the words of Chat Completions', () => {
    const parent = { model: 'gpt-5', messages: [user], reasoning_effort: 'high' };
    const { request, changed } = openaiChat().forkForSummary(parent, 'Sum up.', manual);
    expect(request).toMatchObject({ reasoning_effort: 'low', verbosity: 'low' });
    expect(changed).toEqual(['reasoning_effort', 'verbosity']);
    expect(
      openaiChat().forkForSummary({ ...parent, reasoning_effort: 'low', verbosity: 'low' }, 'Sum up.', manual).changed,
    ).toEqual([]);
  });

  it('takes the place of a budget of thinking tokens where a compatible server has one', () => {
    const parent = { model: 'm', messages: [user], max_tokens: 10, reasoning: { max_tokens: 500, exclude: true } };
    const { request, changed } = openaiChat().forkForSummary(parent, 'Sum up.', { maxTokens: 1000, effort: 'low' });
    expect(request).toMatchObject({ reasoning: { effort: 'low', exclude: true }, max_tokens: 1000 });
    expect(request.reasoning).not.toHaveProperty('max_tokens');
    expect(changed).toEqual(['reasoning.effort']);
    expect(openaiChat().forkForSummary(request, 'Sum up.', { maxTokens: 1000, effort: 'low' }).changed).toEqual([]);
  });

  it.each([openaiResponses(), openaiCodex()])('is asked for in the words of $name', ({ forkForSummary }) => {
    const parent = { model: 'gpt-5', input: [user], reasoning: { effort: 'high', summary: 'auto' } };
    const { request, changed } = forkForSummary(parent, 'Sum up.', manual);
    expect(request).toMatchObject({ reasoning: { effort: 'low', summary: 'auto' }, text: { verbosity: 'low' } });
    expect(changed).toEqual(['reasoning.effort', 'text.verbosity']);
    const same = { ...parent, reasoning: { effort: 'low' }, text: { verbosity: 'low' } };
    const fork = forkForSummary(same, 'Sum up.', manual);
    expect(fork.changed).toEqual([]);
    expect(fork.request.reasoning).toBe(same.reasoning);
  });

  it('is asked for in the words of Anthropic, which has no verbosity', () => {
    const parent = { model: 'claude', max_tokens: 10, messages: [user], output_config: { effort: 'high', task_budget: {} } };
    const { request, changed } = anthropicMessages().forkForSummary(parent, 'Sum up.', manual);
    expect(request.output_config).toEqual({ effort: 'low', task_budget: {} });
    expect(changed).toEqual(['output_config.effort']);
  });

  it('is asked for in the words of Bedrock', () => {
    const parent = { modelId: 'claude', messages: [{ role: 'user', content: [{ text: 'Go.' }] }] };
    const { request, changed } = bedrockConverse().forkForSummary(parent, 'Sum up.', manual);
    expect(request).toMatchObject({ outputConfig: { effort: 'low' } });
    expect(changed).toEqual(['outputConfig.effort']);
  });

  it.each([
    ['the SDK', { config: { thinkingConfig: { thinkingBudget: 900, includeThoughts: true } } }, 'config.thinkingConfig'],
    [
      'REST',
      { generationConfig: { thinking_config: { thinking_budget: 900, includeThoughts: true } } },
      'generationConfig.thinking_config',
    ],
  ])('is asked for in the words of Gemini, in place of a budget: %s', (_, settings, path) => {
    const parent = { contents: [{ role: 'user', parts: [{ text: 'Go.' }] }], ...settings };
    const { request, changed } = geminiContents().forkForSummary(parent, 'Sum up.', manual);
    expect(request).toHaveProperty(path, { thinkingLevel: 'LOW', includeThoughts: true });
    expect(changed).toEqual(['thinkingConfig.thinkingLevel']);
    expect(geminiContents().forkForSummary(request, 'Sum up.', manual).changed).toEqual([]);
  });
});

describe('letReasoningDrop', () => {
  const { letReasoningDrop } = anthropicMessages();
  const request = (thinking?: object) => ({ model: 'claude', max_tokens: 10, messages: [user], ...(thinking && { thinking }) });

  it('asks Anthropic to drop thinking that no longer fits, where the model thinks', () => {
    const parent = request({ type: 'adaptive', block_binding: { later: 1 } });
    const dropping = letReasoningDrop?.(parent as never);
    expect(dropping).toMatchObject({
      thinking: { type: 'adaptive', block_binding: { later: 1, prefix_mismatch_behavior: 'drop_block' } },
    });
    expect(letReasoningDrop?.(dropping as never)).toBe(dropping);
    for (const thinking of [undefined, { type: 'disabled' }, { type: 'between_tools' }]) {
      const other = request(thinking);
      expect(letReasoningDrop?.(other as never)).toBe(other);
    }
  });

  it('is nothing that other providers have', () => {
    for (const adapter of [openaiChat(), openaiResponses(), bedrockConverse(), geminiContents(), genkitModel(), aiSdkModel()])
      expect(adapter.letReasoningDrop).toBeUndefined();
  });
});

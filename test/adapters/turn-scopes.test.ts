import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta/messages';
import { describe, expect, it } from 'vitest';
import { type AiSdkMessage, aiSdkModel } from '../../src/adapters/ai-sdk.ts';
import { type AnthropicMessage, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { createCompactor } from '../../src/compactor.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const betas = ['mid-conversation-system-clear-at-2026-08-21'];
const say = (role: 'user' | 'assistant', content: string): BetaMessageParam => ({ role, content });
const passing: BetaMessageParam = { role: 'system', content: 'This time in French.', clear_at: 'next_user_message' };
const standing: BetaMessageParam = { role: 'system', content: 'This time in French.' };
const [question, answer, more] = [say('user', 'How?'), say('assistant', 'So.'), say('user', 'And now?')];
const summary = say('user', '<compacted_context>');

describe('a system message for one turn, in a request that is rebuilt', () => {
  const adapter = anthropicMessages();
  const rebuild = (messages: readonly AnthropicMessage[], items: readonly AnthropicMessage[], fields: object = { betas }) =>
    adapter.withItems({ model: 'claude', max_tokens: 10, messages, ...fields }, items).messages;

  it('V33: keeps its marker, as the very same object, where the route knows it', () => {
    expect(rebuild([question, answer, more, passing], [summary, passing])[1]).toBe(passing);
    // In a header, where nothing here sees it: the request has such messages all the same.
    expect(rebuild([question, answer, more, passing], [summary, passing], {})[1]).toBe(passing);
  });

  it('V33: loses the marker, and keeps the text, where the route does not know it', () => {
    for (const fields of [{ betas: [] }, { betas: ['context-management-2025-06-27'] }])
      expect(rebuild([question, answer, more, passing], [summary, passing], fields)).toEqual([summary, standing]);
    // It came from elsewhere, and nothing says that this route would take it.
    expect(rebuild([question], [summary, passing], {})).toEqual([summary, standing]);
    expect(rebuild([question], [summary, { ...standing, clear_at: 'never' } as BetaMessageParam], {})).toEqual([
      summary,
      standing,
    ]);
  });

  it('V33: is the very same in a summary request, whose prefix stays byte for byte', () => {
    const messages = [question, passing, answer, more];
    for (const fields of [{}, { betas }, { betas: [] }]) {
      const parent = { model: 'claude', max_tokens: 10, messages, ...fields };
      const { request, changed } = adapter.forkForSummary(parent, 'Sum up.', { maxTokens: 100 });
      expect(changed).toEqual([]);
      expect(JSON.stringify(request.messages.slice(0, 4))).toBe(JSON.stringify(messages));
      for (const [index, message] of messages.entries()) expect(request.messages[index]).toBe(message);
    }
  });

  it('does not speak again where its turn was over, and what ended it is gone', () => {
    const before = [question, passing, answer, more];
    expect(rebuild(before, [summary, passing])).toEqual([summary]);
    const results: AnthropicMessage = { role: 'user', content: [{ type: 'tool_result' }] };
    expect(rebuild([question, passing, answer, results], [summary, passing])).toEqual([summary]);
    expect(rebuild(before, [summary, standing])).toEqual([summary, standing]);
  });

  it('does not speak again between a replacement and what ended its turn', () => {
    expect(rebuild([question, passing, answer, more], [summary, passing, more])).toEqual([summary, more]);
  });

  it('is still shown where a host has the very same object behind every message of the user', () => {
    expect(rebuild([question, passing, answer, more, passing], [summary, passing])).toEqual([summary, passing]);
  });

  it('stays in the list, hidden as before, where what ended its turn is still there', () => {
    const before = [say('user', 'First.'), say('assistant', 'Yes.'), question, passing, answer, more];
    expect(rebuild(before, [summary, say('assistant', 'Yes.'), question, passing, answer, more])[3]).toBe(passing);
  });

  it('stays as it is in a conversation that only grows, whatever the route', () => {
    const before = [question, passing, answer];
    for (const fields of [{}, { betas: [] }, { betas }]) expect(rebuild(before, [...before, more], fields)[1]).toBe(passing);
    const open = [question, passing];
    expect(rebuild(open, [...open, answer], { betas: [] })[1]).toBe(passing);
  });

  it('is asked about word for word, and gone with its turn behind the replacement', async () => {
    const model = scriptedModel(anthropicKit);
    const compactor = createCompactor({
      adapter,
      contextWindow: 300_000,
      budget: { threshold: 100, countTokens: (text) => Math.ceil(text.length / 4) },
      send: model.send,
    });
    const messages = [say('user', 'The log says: nothing. '.repeat(99)), passing, answer, more];
    const request = { ...anthropicKit.request(messages), betas };
    const rebuilt = await compactor.prepare(request);
    expect(model.summaries[0]?.request.messages.slice(0, 4)).toEqual(messages);
    expect(rebuilt).not.toBe(request);
    expect(JSON.stringify(rebuilt.messages)).not.toContain('French');
  });
});

describe('a system message for one turn, in a prompt of the AI SDK', () => {
  const text = (role: string, said: string): AiSdkMessage => ({ role, content: [{ type: 'text', text: said }] });
  const marked: AiSdkMessage = {
    role: 'system',
    content: 'This time in French.',
    providerOptions: { anthropic: { clearAt: 'next_user_message' } },
  };
  const prompt = [text('user', 'How?'), marked, text('assistant', 'So.'), text('user', 'And now?')];
  const rebuild = (provider: string, items: readonly AiSdkMessage[]) =>
    aiSdkModel().withItems({ prompt, model: { provider, modelId: 'm' } }, items).prompt;

  it('goes with what ended its turn where the provider knows the marker, and stays elsewhere', () => {
    const replaced = [text('user', '<compacted_context>'), marked];
    expect(rebuild('anthropic.messages', replaced)).toEqual(replaced.slice(0, 1));
    expect(rebuild('openai.responses', replaced)).toEqual(replaced);
    expect(rebuild('anthropic.messages', prompt.slice())[1]).toBe(marked);
  });
});

import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import { askModel } from '../../../src/frameworks/langchain/ask-model.ts';
import { capModel } from '../../../src/frameworks/langchain/cap-model.ts';

/** What goes over the wire for a summary of at most 900 tokens. */
async function ask(fields: object): Promise<Record<string, unknown>> {
  const bodies: Record<string, unknown>[] = [];
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(JSON.parse(String(init?.body)));
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }];
    return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices });
  };
  const model = new ChatOpenAI({ model: 'gpt-4.1', apiKey: 'test', maxRetries: 0, configuration: { fetch }, ...fields });
  const request = { model, messages: [new HumanMessage('Summarize.')], tools: [], modelSettings: { maxTokens: 900 } };
  await askModel(request, new AbortController().signal);
  expect(model.maxTokens).toBe('maxTokens' in fields ? fields.maxTokens : undefined);
  return bodies[0] ?? {};
}

describe('the private call of a model', () => {
  it.each([{}, { maxTokens: 250 }, { maxTokens: -1 }, { modelKwargs: { max_completion_tokens: 9 } }])(
    'has the cap of the summary, whatever the model has: %j',
    async (fields) => {
      const body = await ask(fields);
      expect(body.max_tokens).toBe(900);
      expect(body).not.toHaveProperty('max_completion_tokens');
    },
  );

  it('asks for one answer and has no stop words', async () => {
    const body = await ask({ n: 2, stop: ['Goal'], modelKwargs: { n: 2, user: 'me' } });
    expect(body).toMatchObject({ user: 'me' });
    expect(body).not.toHaveProperty('n');
    expect(body).not.toHaveProperty('stop');
  });

  it('leaves a model without such fields as it is, and room for thinking', () => {
    const model = { invoke: () => undefined };
    expect(capModel(model, 900)).toBe(model);
    const claude = { bound: { maxTokens: 5, thinking: { type: 'enabled', budget_tokens: 1024 } }, config: {} };
    expect(capModel(claude, 900)).toMatchObject({ bound: { maxTokens: 1924 }, config: {} });
    expect(capModel({ _defaultConfig: { model: 'm', n: 2 } }, 900)).toEqual({
      _defaultConfig: { model: 'm', maxTokens: 900, maxOutputTokens: 900 },
    });
    expect(claude.bound.maxTokens).toBe(5);
  });
});

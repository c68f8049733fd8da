import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { genkitModel } from '../src/adapters/genkit.ts';
import { geminiContents } from '../src/adapters/google-genai.ts';
import { createCompactor } from '../src/compactor.ts';
import { isCompactionError } from '../src/errors.ts';
import { createLoop, createWrapper, isCompacted, lifecycleOf, noticesOf } from './support/harness.ts';
import { goodSummary, longConversation, summarizes } from './support/scripted-model.ts';

const headings = ['Goal', 'Next Steps'];
const whole = `${goodSummary}\n\n### next steps: none\nShip.`;

describe('headings that a summary must have', () => {
  it('are asked for once more where some are missing, with the prefix of the parent', async () => {
    const { create, events, model } = createWrapper({ summary: { headings }, steps: [summarizes(), summarizes(whole)] });
    const request = longConversation();
    expect(isCompacted(await create.compactor.prepare(request))).toBe(true);
    expect(noticesOf(events)).toEqual(['summary-corrected']);
    const [first, second] = model.summaries.map(({ request: { messages } }) => messages);
    expect(second?.slice(0, -1)).toEqual(request.messages);
    expect(second?.at(-1)?.content).toBe(
      `${first?.at(-1)?.content}\n\nThe summary must have each of these headings, on a line of its own:\n## Goal\n## Next Steps`,
    );
    expect(JSON.stringify(second)).not.toContain('Half of it.');
  });

  it('that are missing again change nothing', async () => {
    const { create, events, model } = createWrapper({ summary: { headings }, steps: [summarizes(), summarizes()] });
    const request = longConversation();
    expect(await create.compactor.prepare(request)).toBe(request);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: missing-headings']);
    expect(model.summaries).toHaveLength(2);
  });

  it('tell who reads the text as it comes that another attempt begins', async () => {
    const texts: string[] = [];
    const { loop } = createLoop({ summary: { headings }, steps: [summarizes(), summarizes(whole)] });
    await loop.compact({ onText: (text) => void texts.push(text), onRestart: () => void texts.push('|') });
    expect(texts.join('')).toBe(`${goodSummary}|${whole}`);
  });

  it('are found at any level, in any case, whatever follows them', async () => {
    const { create, model } = createWrapper({ summary: { headings: ['goal ', 'ACCOMPLISHED'] } });
    expect(isCompacted(await create.compactor.prepare(longConversation()))).toBe(true);
    expect(model.summaries).toHaveLength(1);
  });
});

describe('headings as models and hosts write them', () => {
  it.each(['## **Goal**', '## 1. Goal', '# 2) __Goal__', '###GOAL'])('are found in %j', async (line) => {
    const { create, model } = createWrapper({ summary: { headings: ['Goal'] }, steps: [summarizes(`${line}\nShip it.`)] });
    expect(isCompacted(await create.compactor.prepare(longConversation()))).toBe(true);
    expect(model.summaries).toHaveLength(1);
  });

  it('may be given with their marks', async () => {
    const { create, model } = createWrapper({
      summary: { headings: ['## Goal', '# Next'] },
      steps: [summarizes(), summarizes('# Goal\n# Next')],
    });
    expect(isCompacted(await create.compactor.prepare(longConversation()))).toBe(true);
    expect(model.summaries[1]?.request.messages.at(-1)?.content).toMatch(/\n## Goal\n## Next$/);
  });
});

describe('a summary that the user asks for', () => {
  it('V7: is asked for with what the user said, also where the host has a prompt of its own; blank words add nothing', async () => {
    const askedWith = async (replacePrompt: string | undefined, instructions: string): Promise<string> => {
      const { loop, model } = createLoop({ summary: { replacePrompt } });
      await loop.compact({ instructions });
      return String(model.summaries[0]?.request.messages.at(-1)?.content);
    };
    expect(await askedWith('Be brief.', ' Keep the port. ')).toBe('Be brief.\n\nIMPORTANT, from the user: Keep the port.');
    expect(await askedWith('Be brief.', ' ')).toBe('Be brief.');
    expect(await askedWith(undefined, 'Keep the port.')).toMatch(/IMPORTANT, from the user: Keep the port\.$/);
  });

  it('has a cap, an effort and a verbosity of its own', async () => {
    const { loop, model } = createLoop();
    await loop.compact({ maxTokens: 123, effort: 'low', verbosity: 'high' });
    expect(model.summaries[0]?.request).toMatchObject({ max_completion_tokens: 123, reasoning_effort: 'low', verbosity: 'high' });
    expect(loop.request).not.toHaveProperty('reasoning_effort');
  });

  const gemini = { ...geminiContents(), name: 'gemini' };
  const talk = {
    model: 'gemini-3-pro',
    contents: [
      { role: 'user', parts: [{ text: 'Hi.' }] },
      { role: 'model', parts: [{ text: 'Hello. '.repeat(100) }] },
    ],
  };
  const sending = () => {
    const sent: { config?: object | undefined }[] = [];
    const compactor = createCompactor({
      adapter: gemini,
      send: async (request: { model: string; contents: object[]; config?: object | undefined }) => {
        sent.push(request);
        return { candidates: [{ content: { role: 'model', parts: [{ text: goodSummary }] }, finishReason: 'STOP' }] };
      },
    });
    return { sent, compactor };
  };

  it('V8: is refused before anything is sent where there is no such effort', async () => {
    const { sent, compactor } = sending();
    const error = await compactor.compact(talk, { effort: 'max' }).catch((reason: unknown) => reason);
    expect(isCompactionError(error) && error.code).toBe('unsupported-effort');
    expect(String(error)).toContain('Failed to resolve compaction reasoning effort for gemini / gemini-3-pro');
    expect(sent).toEqual([]);
  });

  it('V8: takes the next lower effort where that is allowed, and says so', async () => {
    const { sent, compactor } = sending();
    const { notices } = await compactor.compact(talk, { effort: 'max', allowEffortDowngrade: true });
    expect(notices.map(({ code }) => code)).toContain('effort-lowered');
    expect(JSON.stringify(sent[0]?.config).toLowerCase()).toContain('high');
    const unknown = await sending().compactor.compact(talk, { effort: 'huge', allowEffortDowngrade: true }).catch(String);
    expect(unknown).toContain('got "huge"');
  });

  it('says which efforts there are', async () => {
    const send = () => Promise.reject(new Error('Expected nothing to be sent.'));
    const claude = createCompactor({ adapter: anthropicMessages(), send });
    const talk = [
      { role: 'user' as const, content: 'Hi.' },
      { role: 'assistant' as const, content: 'Hello.' },
    ];
    const request = { model: 'claude-opus-4-5', max_tokens: 1000, messages: talk };
    expect(String(await claude.compact(request, { effort: 'minimal' }).catch(String))).toContain('expected low, medium, high');
    const chain = createCompactor({ adapter: genkitModel(), send });
    const chat = {
      messages: talk.map(({ role, content }) => ({
        role: role === 'user' ? ('user' as const) : ('model' as const),
        content: [{ text: content }],
      })),
    };
    expect(String(await chain.compact(chat, { effort: 'low' }).catch(String))).toContain('its shape has no such parameter');
  });
});

describe('what the host and its user say', () => {
  it('is told apart from the built-in prompt, for summarizers that have a prompt of their own', async () => {
    const told: (string | undefined)[] = [];
    const summarizer = async ({ guidance }: { guidance?: string | undefined }) => {
      told.push(guidance);
      return { text: goodSummary };
    };
    for (const replacePrompt of [undefined, 'Only the ports.'])
      for (const instructions of [undefined, ' Keep the paths. ', ' ']) {
        const retain = { tail: {} };
        await createLoop({ summary: { summarizer, replacePrompt }, retain }).loop.compact({ instructions });
      }
    const focus = 'IMPORTANT, from the user: Keep the paths.';
    expect(told).toEqual([undefined, focus, undefined, 'Only the ports.', `Only the ports.\n\n${focus}`, 'Only the ports.']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatMessage, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import type { Message, Part } from '../../src/message.ts';
import { buildReplacement } from '../../src/prompt/replacement.ts';
import { cutBetweenPairs, hierarchicalSummarizer } from '../../src/summarize/hierarchical.ts';
import { httpError, longConversation, says, toolTurn } from '../support/scripted-model.ts';
import { codeOf, instruction, runTask } from '../support/summary-task.ts';

const adapter = openaiChat();
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const promptOf = ({ messages }: ChatRequest): string => String(messages.at(-1)?.content);
/** Nine messages, each with its number. */
const nine = Array.from({ length: 9 }, (_, index) => (index % 2 === 0 ? user(`M${index}.`) : assistant(`M${index}.`)));
const isAbstract = (request: ChatRequest): boolean => !promptOf(request).startsWith(instruction);
const answer = (request: ChatRequest) => says(isAbstract(request) ? 'It began well.\n' : '## Goal\nShip it.');

const run = (messages: ChatMessage[], fields: Partial<Parameters<typeof runTask<ChatRequest, ChatMessage, object>>[1]> = {}) =>
  runTask(hierarchicalSummarizer(), {
    adapter,
    request: longConversation({ messages: [{ role: 'system', content: 'Be exact.' } as ChatMessage, ...messages] }),
    contextWindow: 20_000,
    reply: answer,
    ...fields,
  });

describe('hierarchicalSummarizer', () => {
  it('V45, V47: the oldest third becomes an abstract of at most 150 tokens, all the rest a summary', async () => {
    const { sent, result } = await run(nine);
    expect(sent.map((request) => request.max_completion_tokens)).toEqual([150, 500]);
    const [abstract, detail] = sent.map(promptOf);
    for (let index = 0; index < 9; index++) {
      expect(abstract!.includes(`M${index}.`)).toBe(index < 3);
      expect(detail!.includes(`M${index}.`)).toBe(index >= 3);
    }
    expect(abstract).toContain('one or two sentences');
    expect(result).toEqual({
      text: 'Earlier context (abstract):\nIt began well.\n\nRecent context (summary):\n## Goal\nShip it.',
      changed: ['transcript'],
      omitted: undefined,
    });
  });

  it('V49: fewer than three messages make one request', async () => {
    const { sent, result } = await run(nine.slice(0, 2));
    expect(sent).toHaveLength(1);
    expect(result?.text).toBe('Recent context (summary):\n## Goal\nShip it.');
  });

  it('V49: each band is asked again on its own: an abstract that was too long once, and a summary, are three requests', async () => {
    const long = [...Array.from({ length: 8 }, (_, index) => user(`${index} ${'x'.repeat(2000)}`)), ...nine.slice(0, 2)];
    const { sent, result, notices } = await run(long, {
      reply: (request, attempt) => {
        if (attempt === 1) throw httpError(400, 'prompt is too long: 210000 tokens > 200000 maximum');
        return answer(request);
      },
    });
    expect(sent.map(isAbstract)).toEqual([true, true, false]);
    expect(promptOf(sent[1]!).length).toBeLessThan(promptOf(sent[0]!).length);
    expect(notices.map(({ code }) => code)).toEqual(['summary-shortened']);
    expect(result?.omitted?.items).toBeGreaterThan(0);
  });

  it('the cap of the abstract is an option', async () => {
    const { sent } = await runTask(hierarchicalSummarizer({ abstractTokens: 300 }), {
      adapter,
      request: longConversation({ messages: nine }),
      contextWindow: 20_000,
      reply: answer,
    });
    expect(sent.map((request) => request.max_completion_tokens)).toEqual([300, 500]);
    for (const abstractTokens of [0, 1.5, -1, Number.NaN])
      expect(() => hierarchicalSummarizer({ abstractTokens })).toThrow(expect.objectContaining({ code: 'invalid-options' }));
    expect(() => hierarchicalSummarizer({ abstract: 1 } as object)).toThrow('there is no option `abstract`');
  });

  it('what is streamed is the whole summary, again from its beginning with each attempt', async () => {
    const { texts, result } = await run(nine, {
      reply: (request, attempt) => (attempt === 2 ? says('## Goal\nShi', 'length') : answer(request)),
    });
    const opening = 'Earlier context (abstract):\nIt began well.\n\nRecent context (summary):\n';
    expect(texts).toEqual([opening, '## Goal\nShi', '|', opening, '## Goal\nShip it.']);
    expect(texts.slice(3).join('')).toBe(result?.text);
  });

  it('fails where either band does', async () => {
    const noAbstract = await run(nine, { reply: () => says(' ') });
    expect([codeOf(noAbstract), noAbstract.sent.length]).toEqual(['empty-summary', 1]);
    const noDetail = await run(nine, { reply: (request) => says(isAbstract(request) ? 'It began.' : ' ') });
    expect([codeOf(noDetail), noDetail.sent.length]).toEqual(['empty-summary', 2]);
  });

  it('asks a model of its own for both', async () => {
    const asked: ChatRequest[] = [];
    const summarize = hierarchicalSummarizer({
      model: {
        adapter,
        request: { model: 'small', messages: [] },
        send: async (request: ChatRequest) => {
          asked.push(request);
          return answer(request);
        },
        contextWindow: 8000,
      },
    });
    const { sent } = await runTask(summarize, {
      adapter,
      request: longConversation({ messages: nine }),
      contextWindow: 20_000,
      reply: answer,
    });
    expect([sent.length, asked.map(({ model }) => model)]).toEqual([0, ['small', 'small']]);
  });

  it('B097: an earlier summary is carried over whole: it is in the request for the summary, and in no abstract', async () => {
    const [earlier] = adapter.writeMessage(buildReplacement({ summary: '## Discoveries\nThe port is 8080.' }));
    const { sent } = await run([earlier!, ...nine]);
    const [abstract, detail] = sent.map(promptOf);
    expect(abstract).not.toContain('8080');
    expect(detail).toContain('The port is 8080.');
    for (let index = 0; index < 9; index++) {
      expect(abstract!.includes(`M${index}.`)).toBe(index < 3);
      expect(detail!.includes(`M${index}.`)).toBe(index >= 3);
    }
  });

  it('the abstract ends before a call whose result is in the rest', async () => {
    const { sent } = await run([user('Go.'), user('M1.'), ...toolTurn('c', 'RESULT'), ...nine.slice(0, 5)]);
    const [abstract, detail] = sent.map(promptOf);
    expect(abstract).toContain('M1.');
    expect(abstract).not.toContain('[call] read');
    expect(detail).toContain('[call] read');
    expect(detail).toContain('RESULT');
  });
});

it('the property: a cut parts no call from its result, and is the largest such cut', () => {
  const message = fc.record({
    role: fc.constantFrom('assistant', 'tool') as fc.Arbitrary<Message['role']>,
    parts: fc.array(
      fc.oneof(
        fc.record({
          type: fc.constant('toolCall'),
          id: fc.constantFrom('a', 'b', 'c'),
          name: fc.constant('read'),
          input: fc.constant({}),
        }),
        fc.record({ type: fc.constant('toolResult'), callId: fc.constantFrom('a', 'b', 'c'), content: fc.constant([]) }),
      ) as fc.Arbitrary<Part>,
      { maxLength: 3 },
    ),
  });
  /** Pairs by occurrence: a result answers the nearest call of its id that has none yet. */
  const parts = (messages: readonly Message[], cut: number): boolean => {
    const flat = messages.flatMap((one, index) => one.parts.map((part) => ({ part, index })));
    const answered = new Set<number>();
    for (const [place, { part, index }] of flat.entries()) {
      if (part.type !== 'toolResult') continue;
      const call = flat.findLastIndex(
        (one, at) => at < place && !answered.has(at) && one.part.type === 'toolCall' && one.part.id === part.callId,
      );
      if (call === -1) continue;
      answered.add(call);
      if (flat[call]!.index < cut && index >= cut) return true;
    }
    return false;
  };
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), fc.nat(12), (messages, most) => {
      const limit = Math.min(most, messages.length);
      const cut = cutBetweenPairs(messages, limit);
      expect(parts(messages, cut)).toBe(false);
      for (let larger = cut + 1; larger <= limit; larger++) expect(parts(messages, larger)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatMessage, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { readReplacement } from '../../src/prompt/replacement.ts';
import { chunkedSummarizer } from '../../src/summarize/chunked.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { waitingConversation } from '../../src/testing/conversation.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { freezeDeep } from '../support/freeze.ts';
import { goodSummary, httpError, longConversation, says, toolTurn } from '../support/scripted-model.ts';
import { codeOf, runTask, sizeIn, type TaskOptions, textSent } from '../support/summary-task.ts';

const adapter = openaiChat();
type ChatTask = Partial<TaskOptions<ChatRequest, ChatMessage, ReturnType<typeof says>>>;
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const size = sizeIn(adapter);
const tooLong = () => httpError(400, 'prompt is too long: 210000 tokens > 200000 maximum');

/** So many turns of about 620 tokens, each message with a marker of its own. */
const turns = (count: number): ChatMessage[] =>
  Array.from({ length: count }, (_, turn) => [
    user(`<U${turn}> ${'u'.repeat(300)}`),
    ...toolTurn(`c${turn}`, `<R${turn}> ${'r'.repeat(1800)}`),
    assistant(`<A${turn}> ${'a'.repeat(200)}`),
  ]).flat();
const markersOf = (text: string): string[] => text.match(/<[URA]\d+>/g) ?? [];
const seen = (sent: readonly ChatRequest[]): string[] => sent.flatMap((request) => markersOf(textSent(adapter, request)));

const run = (messages: readonly ChatMessage[], fields: ChatTask = {}) =>
  runTask(chunkedSummarizer(), {
    adapter,
    request: freezeDeep(longConversation({ messages: [{ role: 'system', content: 'Be exact.' } as ChatMessage, ...messages] })),
    contextWindow: 4000,
    reply: (_, attempt) => says(`## Goal\nPart ${attempt}.`),
    ...fields,
  });

describe('where everything fits one request', () => {
  it('it is exactly the default summarizer', async () => {
    const request = freezeDeep(longConversation());
    const fields = { adapter, request, contextWindow: 20_000, reply: () => says(goodSummary) };
    const [chunked, fork] = [await runTask(chunkedSummarizer(), fields), await runTask(forkSummarizer(), fields)];
    expect(chunked).toEqual(fork);
    chunked.sent[0]?.messages.slice(0, -1).forEach((message, index) => void expect(message).toBe(request.messages[index]));
  });
});

describe('a history of ten windows', () => {
  it('ends in one summary, and every message was asked about exactly once', async () => {
    const history = turns(66);
    expect(size(history)).toBeGreaterThan(40_000);
    const { sent, result, notices } = await run(history);
    expect(seen(sent)).toEqual(markersOf(JSON.stringify(history)));
    expect(result).toEqual({
      text: `## Goal\nPart ${sent.length}.`,
      changed: ['summarized in pieces'],
      omitted: undefined,
    });
    expect(sent.length).toBeLessThan(30);
    expect(notices.map(({ code }) => code)).toEqual(sent.map(() => 'summarized-in-pieces'));
    expect(notices[0]?.message).toMatch(/steps 1 to \d+ of 198 are summarized/);
    for (const request of sent) {
      expect(size(request.messages) + 500).toBeLessThan(4000);
      expect(validateOpenAiChat(request)).toEqual([]);
    }
  });

  it('each request has the system text, the summary so far in its wrapper, and a piece of whole turns', async () => {
    const { sent, texts } = await run(turns(12));
    for (const [index, request] of sent.entries()) {
      const [system, second, third] = request.messages;
      expect(system).toEqual({ role: 'system', content: 'Be exact.' });
      expect(request.tools).toHaveLength(1);
      const soFar = adapter.readItem(second!).map(readReplacement)[0];
      expect(soFar?.summary).toBe(index === 0 ? undefined : `## Goal\nPart ${index}.`);
      expect((index === 0 ? second : third)?.content).toMatch(/^<U\d+>/);
    }
    expect(texts).toEqual([`## Goal\nPart ${sent.length}.`]); // of the others nothing is shown
  });

  it('a turn that is longer than a window is parted between its steps', async () => {
    const steps = Array.from({ length: 20 }, (_, step) => toolTurn(`c${step}`, `<R${step}> ${'r'.repeat(1800)}`)).flat();
    const { sent, result } = await run([user('<U0> go'), ...steps]);
    expect(seen(sent)).toEqual(markersOf(JSON.stringify(['<U0>', steps])));
    expect(result?.omitted).toBeUndefined();
    for (const request of sent) expect(validateOpenAiChat(request)).toEqual([]);
  });

  it('a step that is longer than a window is cut, and told', async () => {
    const dump = toolTurn('dump', `<R1> ${'d'.repeat(400_000)}`);
    const { sent, result } = await run([...turns(1), user('<U1> dump it'), ...dump, assistant('<A1> done')]);
    expect(seen(sent)).toEqual(['<U0>', '<R0>', '<A0>', '<U1>', '<R1>', '<A1>']);
    expect(result?.omitted).toMatchObject({ items: 0 });
    expect(result?.omitted?.tokens).toBeGreaterThan(95_000);
  });

  it('a step that cannot be cut is left out, and told', async () => {
    const ids = Array.from({ length: 600 }, (_, index) => `call_${index}`);
    const calls = {
      role: 'assistant',
      content: null,
      tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })),
    };
    const results = ids.map((id): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'x' }) as ChatMessage);
    const messages = [...turns(1), user('<U1> all'), calls as ChatMessage, ...results];
    const { sent, result, texts } = await run(messages);
    expect(seen(sent)).toEqual(['<U0>', '<R0>', '<A0>', '<U1>']);
    expect(result?.omitted).toMatchObject({ items: 601 });
    expect(texts).toEqual([result?.text]);
  });
});

describe('a window that is smaller than it is said to be', () => {
  /** Refuses what is over its real window. */
  const lying =
    (real: number) =>
    (request: ChatRequest, attempt: number): ReturnType<typeof says> => {
      if (size(request.messages) > real) throw tooLong();
      return says(`## Goal\nPart ${attempt}.`);
    };

  it('halves the pieces, and every message is still asked about exactly once', async () => {
    const history = turns(40);
    const { sent, result, notices } = await run(history, { contextWindow: 8000, reply: lying(4000) });
    const answered = sent.filter((request) => size(request.messages) <= 4000);
    expect(seen(answered)).toEqual(markersOf(JSON.stringify(history)));
    expect(result?.text).toMatch(/^## Goal/);
    expect(sent.length - answered.length).toBe(1); // believed once, the rest is smaller
    expect(notices.filter(({ code }) => code === 'summary-shortened')).toHaveLength(1);
  });

  it('is found by the whole request, too', async () => {
    const history = turns(10);
    const { sent, result } = await run(history, { contextWindow: 20_000, reply: lying(5000) });
    expect(markersOf(textSent(adapter, sent[0]!))).toHaveLength(30);
    expect(seen(sent.slice(1))).toEqual(markersOf(JSON.stringify(history)));
    expect(result).toMatchObject({ changed: ['summarized in pieces'] });
  });

  it('ends with the error of the provider after as many halvings for one piece as there may be', async () => {
    for (const overflowRetries of [0, 1, 3]) {
      const { sent, thrown } = await run(turns(40), { contextWindow: 20_000, overflowRetries, reply: lying(0) });
      expect(sent).toHaveLength(overflowRetries + 1);
      expect(thrown).toMatchObject({ status: 400 });
      const sizes = sent.map((request) => size(request.messages));
      expect([...sizes].sort((left, right) => right - left)).toEqual(sizes);
      expect(new Set(sizes).size).toBe(sizes.length);
    }
  });
});

describe('what fails', () => {
  it('fails the whole, with what it failed of', async () => {
    const { sent, thrown } = await run(turns(12), {
      reply: (_, attempt) => (attempt === 2 ? says(' ') : says(goodSummary)),
    });
    expect(sent).toHaveLength(2);
    expect(thrown).toMatchObject({ code: 'empty-summary' });
  });

  it('asks nothing where the window has no room, or the server holds a history that does not fit', async () => {
    const tiny = await run(turns(3), { contextWindow: 600 });
    expect([codeOf(tiny), tiny.sent]).toEqual(['summarizer-overflow', []]);
    const { adapter: responses, ...kit } = providerKits['openai-responses'];
    const said = responses.writeMessage({ role: 'user', parts: [{ type: 'text', text: 'x'.repeat(9000) }] });
    const held = await runTask(chunkedSummarizer(), {
      adapter: responses,
      request: { ...kit.request(said), previous_response_id: 'r' },
      contextWindow: 2000,
      reply: () => kit.reply({ text: goodSummary }),
    });
    expect([codeOf(held), held.sent]).toEqual(['summarizer-overflow', []]);
  });

  it('an abort comes out with its own reason', async () => {
    const abort = new AbortController();
    const { thrown, sent } = await run(turns(12), {
      signal: abort.signal,
      reply: (_, attempt) => {
        if (attempt === 2) abort.abort('stop');
        return says(goodSummary);
      },
    });
    expect([thrown, sent.length]).toEqual(['stop', 2]);
  });
});

describe('an attempt after one that failed', () => {
  const messages = turns(24);
  const failing = (last: number) => (_: ChatRequest, attempt: number) => {
    if (attempt > last) throw httpError(401, 'no');
    return says(`## Goal\nPart ${attempt}.`);
  };
  const attempt = (summarize: ReturnType<typeof chunkedSummarizer>, fields: ChatTask = {}) =>
    runTask(summarize, {
      adapter,
      request: longConversation({ messages: structuredClone(messages) }),
      contextWindow: 4000,
      reply: (_, number) => says(`## Goal\nAgain ${number}.`),
      ...fields,
    });

  it('goes on behind what was finished, also for a clone that has grown', async () => {
    const summarize = chunkedSummarizer();
    const first = await attempt(summarize, { reply: failing(3) });
    const grown = longConversation({ messages: [...structuredClone(messages), user('<U99> more')] });
    const second = await attempt(summarize, { request: grown });
    expect(seen([...first.sent.slice(0, 3), ...second.sent])).toEqual(markersOf(JSON.stringify(grown)));
    expect(adapter.readItem(second.sent[0]!.messages[0]!).map(readReplacement)[0]?.summary).toBe('## Goal\nPart 3.');
    expect(second.result?.text).toMatch(/Again/);
  });

  it('begins anew for another conversation, another instruction, and after a success', async () => {
    const summarize = chunkedSummarizer();
    await attempt(summarize, { reply: failing(3) });
    const edited = structuredClone(messages);
    edited[0] = user('<U0> something else');
    const other = await attempt(summarize, { request: longConversation({ messages: edited }) });
    expect(seen(other.sent)).toEqual(markersOf(JSON.stringify(edited)));
    const asked = await attempt(summarize, { instruction: 'Summarize in German.' });
    expect(seen(asked.sent)).toEqual(markersOf(JSON.stringify(messages)));
    const whole = await attempt(summarize);
    expect(seen(whole.sent).length).toBeLessThan(messages.length);
    expect(seen((await attempt(summarize)).sent)).toEqual(markersOf(JSON.stringify(messages)));
  });
});

describe('the property: any conversation in any window ends in few legal requests that fit, or a typed error says why', () => {
  for (const each of Object.values(providerKits))
    it(each.name, async () => {
      // Each kit is sound in itself; a list of them has no common type.
      const kit = each as ProviderKit<object, object, unknown>;
      let parted = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.nat(1_000_000),
          fc.integer({ min: 400, max: 10_000 }),
          fc.nat(3),
          async (seed, contextWindow, lies) => {
            const request = kit.request(waitingConversation(kit, chooseFrom(seed)));
            const items = kit.adapter.items(request);
            const run = await runTask(chunkedSummarizer(), {
              adapter: kit.adapter,
              request,
              contextWindow,
              maxTokens: 100,
              reply: (_, attempt) => {
                if (attempt <= lies) throw kit.error('overflow');
                return kit.reply({ text: goodSummary });
              },
            });
            if (run.thrown) expect(codeOf(run) ?? kit.adapter.classifyError(run.thrown).kind).toMatch(/overflow/);
            else expect(run.result).toMatchObject({ text: goodSummary });
            expect(run.sent.length).toBeLessThanOrEqual(2 * items.length + 4);
            if (run.sent.length > lies + 1) parted++;
            for (const sent of run.sent) {
              expect(kit.validate(sent)).toEqual([]);
              // Halves of pairs that had to be written anew are not counted before.
              expect(sizeIn(kit.adapter)(kit.adapter.items(sent))).toBeLessThan(contextWindow + 500);
            }
          },
        ),
        { numRuns: 80 },
      );
      expect(parted).toBeGreaterThan(0);
    });
});

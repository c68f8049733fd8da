import { openAICompatible } from '@genkit-ai/compat-oai';
import { type Genkit, genkit, z } from 'genkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CompactionEvent } from '../../src/events.ts';
import { genkitMiddleware } from '../../src/frameworks/genkit.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { type ChatBody, isSummaryBody, sendWords, type Words } from '../support/genkit-openai-server.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { sendJson, startServer, type TestServer } from '../support/http-server.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

const model = 'local/some-model';
const prompt = 'Read the log. Why did a request fail?';

let server: TestServer;
let ai: Genkit;
let events: CompactionEvent[];
let pages: number[];
let turns: Words[];
let summaries: (Words | { status: number; error: object })[];
let tool: ReturnType<typeof defineReader>;

const defineReader = () =>
  ai.defineTool(
    {
      name: 'read',
      description: 'Reads a page.',
      inputSchema: z.object({ page: z.number() }),
      outputSchema: z.object({ lines: z.string() }),
    },
    async ({ page }) => {
      pages.push(page);
      return { lines: `page ${page}: ${'nothing happened. '.repeat(700)}` };
    },
  );

beforeAll(async () => {
  server = await startServer((sent, response) => {
    const body = sent as ChatBody; // the client sent it
    const words = isSummaryBody(body)
      ? (summaries.shift() ?? { text: goodSummary })
      : (turns.shift() ?? { text: 'The certificate expired.' });
    if ('status' in words) sendJson(response, words.status, { error: words.error });
    else sendWords(response, body, words);
  });
  ai = genkit({ plugins: [openAICompatible({ name: 'local', apiKey: 'test', baseURL: `${server.url}/v1`, maxRetries: 0 })] });
  tool = defineReader();
});
afterAll(() => server.close());
beforeEach(() => {
  server.bodies.length = 0;
  events = [];
  pages = [];
  summaries = [];
  turns = Array.from({ length: 7 }, (_, page) => ({
    text: 'Next.',
    calls: [{ id: `call_${page}`, name: 'read', input: { page } }],
  }));
});

const compact = () =>
  genkitMiddleware({
    contextWindow: 20_000,
    budget: { threshold: 6000, countTokens },
    onEvent: (event) => void events.push(event),
  });
const bodies = () => server.bodies as ChatBody[]; // what the client sent
const sent = () => ({ summaries: bodies().filter(isSummaryBody), turns: bodies().filter((body) => !isSummaryBody(body)) });

describe('the plugin for OpenAI-compatible servers', () => {
  it.each([false, true])('takes what the middleware makes of its requests, streamed: %s', async (isStreamed) => {
    summaries = [
      {
        text: 'I will look.',
        calls: [
          { id: 'call_x', name: 'read', input: { page: 99 } },
          { id: 'call_y', name: 'read', input: {} },
        ],
      },
    ];
    const options = { model, system: 'Be exact.', prompt, tools: [tool], maxTurns: 20, use: [compact()] };
    let streamed = '';
    if (isStreamed) {
      const { stream, response } = ai.generateStream(options);
      for await (const chunk of stream) streamed += chunk.text;
      expect((await response).text).toBe('The certificate expired.');
      expect(streamed).toContain('The certificate expired.');
      expect(streamed).not.toContain('Ship it.');
      expect(streamed).not.toContain('I will look.');
    } else expect((await ai.generate(options)).text).toBe('The certificate expired.');

    for (const body of bodies()) expect(validateOpenAiChat(body)).toEqual([]);
    expect(bodies().every(({ stream }) => Boolean(stream) === isStreamed)).toBe(true);
    expect(pages).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(noticesOf(events)).toEqual([]);
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied', 'started', 'applied']);
    // The denied attempt of the first summary was one more request.
    expect(sent().summaries).toHaveLength(4);
  });

  it('is asked for a summary with the bytes of the request before it', async () => {
    await ai.generate({ model, system: 'Be exact.', prompt, tools: [tool], maxTurns: 20, use: [compact()] });
    const all = bodies();
    let asked = 0;
    for (const [index, body] of all.entries()) {
      const parent = all[index - 1];
      if (!isSummaryBody(body) || !parent) continue;
      asked++;
      expect(JSON.stringify(body.tools)).toBe(JSON.stringify(parent.tools));
      expect(JSON.stringify(body.messages.slice(0, parent.messages.length))).toBe(JSON.stringify(parent.messages));
      // The parent's answer, its result and the instruction.
      expect(body.messages.slice(parent.messages.length).map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    }
    expect(asked).toBe(3);
  });

  it('sends a replacement as one message of the user, its words as they were', async () => {
    await ai.generate({ model, system: 'Be exact.', prompt, tools: [tool], maxTurns: 20, use: [compact()] });
    const rebuilt = sent().turns.filter(({ messages }) => JSON.stringify(messages).includes('<compacted_context>'));
    expect(rebuilt.length).toBeGreaterThan(3);
    for (const { messages } of rebuilt) {
      expect(messages.map(({ role }) => role).slice(0, 2)).toEqual(['system', 'user']);
      expect(messages[2]?.role ?? 'assistant').toBe('assistant');
      expect(messages[1]?.content).toMatch(
        /^<compacted_context>[\s\S]*Ship it\.[\s\S]*\n\nRead the log\. Why did a request fail\?\n<\/last_user_message>$/,
      );
    }
  });

  it('keeps several texts of the user apart, and images in their place', async () => {
    const image = { media: { url: 'data:image/png;base64,aGVsbG8=', contentType: 'image/png' } };
    for (const parts of [
      [{ text: 'First.' }, { text: 'Second.' }],
      [{ text: 'See.' }, image],
    ]) {
      turns = [0, 1].map((page) => ({ calls: [{ id: `call_${page}`, name: 'read', input: { page } }] }));
      server.bodies.length = 0;
      await ai.generate({ model, prompt: parts, tools: [tool], maxTurns: 20, use: [compact()] });
      const { messages } = sent().turns.at(-1) ?? { messages: [] };
      expect(validateOpenAiChat(bodies().at(-1))).toEqual([]);
      if (parts[1] === image) {
        const [message] = messages;
        expect(message?.content).toEqual([
          { type: 'text', text: expect.stringMatching(/^<compacted_context>[\s\S]*See\.$/) },
          expect.objectContaining({ type: 'image_url' }),
          { type: 'text', text: '\n</last_user_message>' },
        ]);
      } else {
        expect(messages.map(({ content }) => content)).toEqual([
          expect.stringMatching(/^<compacted_context>[\s\S]*First\.$/),
          'Second.\n</last_user_message>',
        ]);
      }
    }
  });

  it('goes on with the whole history where the server refuses the summary request', async () => {
    summaries = [
      { status: 400, error: { message: "This model's maximum context length is 8192 tokens.", code: 'context_length_exceeded' } },
      { status: 401, error: { message: 'Incorrect API key provided.' } },
    ];
    const { text } = await ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compact()] });
    expect(text).toBe('The certificate expired.');
    const failed = events.flatMap((event) => (event.type === 'auto_compaction_failed' ? [event.error.code] : []));
    expect(failed[0]).toBe('summarizer-failed'); // asked again with less, and refused for good
    for (const body of bodies()) expect(validateOpenAiChat(body)).toEqual([]);
  });

  it('takes a cap and a choice in the words of the server, where the caller uses them', async () => {
    await ai.generate({
      model,
      prompt,
      tools: [tool],
      maxTurns: 20,
      use: [compact()],
      config: { max_completion_tokens: 9, tool_choice: 'auto' },
    });
    const [summary] = sent().summaries;
    expect(summary).toMatchObject({ tool_choice: 'none', max_completion_tokens: expect.any(Number) });
    expect(summary).not.toMatchObject({ max_completion_tokens: 9 });
  });
});

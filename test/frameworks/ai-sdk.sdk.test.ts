import type { ServerResponse } from 'node:http';
import { generateText, stepCountIs, streamText, type ToolSet, tool, wrapLanguageModel } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { CompactionEvent } from '../../src/events.ts';
import { aiSdkMiddleware } from '../../src/frameworks/ai-sdk.ts';
import { type AiSdkWire, aiSdkWires, type Body } from '../support/ai-sdk-wires.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { sendJson, startServer, type TestServer } from '../support/http-server.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

const pages = 8;
const question = 'Read all the pages. Why did a request fail?';
const isSummaryRequest = (wire: AiSdkWire, body: Body): boolean =>
  JSON.stringify(wire.messages(body).at(-1)).includes('context compaction request');

let wire: AiSdkWire;
let turns: number;
/** What happens in place of a summary. */
let hang: ((response: ServerResponse) => void) | undefined;
let server: TestServer;
let events: CompactionEvent[];
let ran: number[];

beforeAll(async () => {
  server = await startServer((received, response) => {
    const body = received as Body;
    if (!isSummaryRequest(wire, body))
      wire.answer(body, response, ++turns > pages ? { text: 'The certificate expired.' } : { call: turns });
    else if (hang) hang(response);
    else wire.answer(body, response, { text: goodSummary });
  });
});
afterAll(() => server.close());
beforeEach(() => {
  server.bodies.length = 0;
  turns = 0;
  hang = undefined;
  events = [];
  ran = [];
});

const tools: ToolSet = {
  read_page: tool({
    description: 'Reads a page of the log.',
    inputSchema: z.object({ page: z.number() }),
    execute: async ({ page }) => {
      ran.push(page);
      return { page, lines: `page ${page}: nothing happened. `.repeat(120) };
    },
  }),
};

const options = {
  contextWindow: 12_000,
  budget: { threshold: 4000, countTokens },
  onEvent: (event: CompactionEvent) => void events.push(event),
};

function bodies(): { summaries: Body[]; turns: Body[] } {
  const all = server.bodies as Body[]; // what the server was sent
  return {
    summaries: all.filter((body) => isSummaryRequest(wire, body)),
    turns: all.filter((body) => !isSummaryRequest(wire, body)),
  };
}

/** What every run must have come to. */
function expectCompacted(): void {
  const lifecycle = lifecycleOf(events);
  expect(lifecycle.length).toBeGreaterThan(0);
  expect(lifecycle.filter((_, index) => index % 2 === 1)).toEqual(lifecycle.slice(lifecycle.length / 2).map(() => 'applied'));
  for (const event of events) if (event.type === 'auto_compaction_applied') expect(event).toMatchObject({ prefix: 'kept' });
  expect(noticesOf(events)).toEqual([]);
  for (const body of server.bodies) expect(wire.validate(body)).toEqual([]);
  expect(ran).toEqual(Array.from({ length: pages }, (_, index) => index + 1));
  const { summaries, turns } = bodies();
  expect(summaries).toHaveLength(lifecycle.length / 2);
  expect(turns).toHaveLength(pages + 1);
  for (const body of turns) expect(countTokens(JSON.stringify(wire.messages(body)))).toBeLessThan(5000);
  expect(JSON.stringify(turns.at(-1))).toContain('<compacted_context>');
  expect(JSON.stringify(turns.at(-1)).split(question)).toHaveLength(2);
}

/** The prompt cache knows a summary request: it goes on from the request before it. */
function expectSamePrefix(): void {
  let before: Body = {};
  for (const body of server.bodies as Body[]) {
    if (isSummaryRequest(wire, body)) {
      const known = wire.messages(before);
      expect(wire.messages(body).slice(0, known.length)).toEqual(known);
      for (const key of ['tools', 'system', 'model', 'stream']) expect(body[key]).toEqual(before[key]);
    } else before = body;
  }
}

describe.each(aiSdkWires)('$name', (candidate) => {
  beforeEach(() => {
    wire = candidate;
  });

  it('generateText: compacts in the middle of its loop, and shows nothing of it', async () => {
    const model = wrapLanguageModel({ model: wire.model(server.url), middleware: aiSdkMiddleware(options) });
    const steps: string[] = [];
    const result = await generateText({
      model,
      tools,
      system: 'You find the cause of failures.',
      prompt: question,
      stopWhen: stepCountIs(pages + 5),
      onStepFinish: (step) => void steps.push(step.text),
    });
    expect(result.text).toBe('The certificate expired.');
    expectCompacted();
    expect(steps).toEqual([...Array(pages).fill(''), 'The certificate expired.']);
    expect(result.response.messages).toHaveLength(2 * pages + 1);
    expect(JSON.stringify(result.response.messages)).not.toContain('compacted_context');
    expectSamePrefix();
  });

  it('streamText: neither chunks nor steps tell of the summary', async () => {
    const model = wrapLanguageModel({ model: wire.model(server.url), middleware: aiSdkMiddleware(options) });
    const chunks: string[] = [];
    const steps: string[] = [];
    const result = streamText({
      model,
      tools,
      system: 'You find the cause of failures.',
      prompt: question,
      stopWhen: stepCountIs(pages + 5),
      onChunk: ({ chunk }) => void chunks.push(JSON.stringify(chunk)),
      onStepFinish: (step) => void steps.push(step.text),
    });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe('The certificate expired.');
    expectCompacted();
    expect(steps).toEqual([...Array(pages).fill(''), 'The certificate expired.']);
    expect(chunks.join('')).not.toContain('Accomplished');
    expect(await result.finishReason).toBe('stop');
    expectSamePrefix();
  });

  it('an abort of the call closes the connection of the summary', async () => {
    const controller = new AbortController();
    const closed = new Promise<void>((resolve) => {
      hang = (response) => {
        response.on('close', resolve);
        controller.abort();
      };
    });
    const model = wrapLanguageModel({ model: wire.model(server.url), middleware: aiSdkMiddleware(options) });
    const running = generateText({
      model,
      tools,
      prompt: question,
      stopWhen: stepCountIs(pages + 5),
      abortSignal: controller.signal,
    });
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await closed;
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
    expect(server.bodies).toHaveLength(ran.length + 1);
  });

  it('a summary that the provider refuses costs nothing but itself', async () => {
    hang = (response) => sendJson(response, 400, { type: 'error', error: { type: 'invalid_request_error', message: 'No.' } });
    const model = wrapLanguageModel({ model: wire.model(server.url), middleware: aiSdkMiddleware(options) });
    const result = streamText({ model, tools, prompt: question, stopWhen: stepCountIs(pages + 5) });
    expect(await result.text).toBe('The certificate expired.');
    expect(lifecycleOf(events).slice(0, 2)).toEqual(['started', 'failed: summarizer-failed']);
    expect(ran).toHaveLength(pages);
    for (const body of server.bodies) expect(wire.validate(body)).toEqual([]);
  });

  it('knows what the provider counted, of results and of streams', async () => {
    for (const run of [generateText, streamText]) {
      turns = pages; // the next reply is an answer
      const middleware = aiSdkMiddleware(options);
      const inner = wire.model(server.url);
      const prompts: Parameters<typeof inner.doGenerate>[0][] = [];
      const model = wrapLanguageModel({
        model: inner,
        middleware: [
          {
            specificationVersion: 'v3',
            transformParams: async ({ params }) => {
              prompts.push(params);
              return params;
            },
          },
          middleware,
        ],
      });
      await (await run({ model, prompt: 'Hello' })).text;
      const { provider, modelId } = inner;
      const estimate = middleware.compactor.estimate({ ...prompts[0]!, model: { provider, modelId } });
      expect(estimate).toMatchObject({
        tokens: Math.ceil(JSON.stringify(server.bodies.at(-1)).length / 4),
        sources: { tokens: 'usage' },
      });
    }
  });
});

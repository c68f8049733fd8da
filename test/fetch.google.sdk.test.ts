import { type Content, type FunctionDeclaration, GoogleGenAI, Type } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { geminiContents } from '../src/adapters/google-genai.ts';
import { compactingFetch } from '../src/fetch.ts';
import { validateGemini } from '../src/testing/wire/google-genai.ts';
import { lifecycleOf, noticesOf } from './support/harness.ts';
import { bodyOf, isSummaryRequest } from './support/provider-server.ts';
import { inputTokensOf, sendGeminiReply } from './support/reply-formats.ts';
import { pageOf, pages, smallWindow, startWorkingModel, type WorkingModel } from './support/working-model.ts';

const secret = 'AIza-very-secret';
const name = 'gemini-3-pro';
const read: FunctionDeclaration = {
  name: 'read',
  description: 'Reads a page.',
  parameters: { type: Type.OBJECT, properties: { page: { type: Type.NUMBER } } },
};

let model: WorkingModel;
beforeAll(async () => {
  model = await startWorkingModel(sendGeminiReply, (path) => /:(stream)?[gG]enerateContent/.test(path));
});
afterAll(() => model.close());
beforeEach(() => model.reset());

const fetchWith = () => compactingFetch({ adapter: geminiContents(), ...smallWindow, onEvent: model.onEvent });
const clientWith = (fetch = fetchWith()) => new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: model.url, fetch } });

function expectCompactions(): void {
  const ends = lifecycleOf(model.events);
  expect(ends.length).toBeGreaterThanOrEqual(4);
  expect(ends).toEqual(ends.map((_, index) => (index % 2 === 0 ? 'started' : 'applied')));
  expect(noticesOf(model.events)).toEqual([]);
  expect(model.turns()).toHaveLength(pages + 1);
  expect([...model.summaries(), ...model.turns()].flatMap((body) => validateGemini(body))).toEqual([]);
}

/** A host's own loop: its contents grow without end. */
async function work(generate: (contents: Content[]) => Promise<Content>, task: string): Promise<string> {
  const contents: Content[] = [{ role: 'user', parts: [{ text: `Task ${task}` }] }];
  for (;;) {
    const reply = await generate(contents);
    contents.push(reply);
    const calls = (reply.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return (reply.parts ?? []).map(({ text }) => text).join('');
    const answers = calls.map(({ id, args }) => ({
      functionResponse: { ...(id && { id }), name: 'read', response: { output: pageOf(args ?? {}) } },
    }));
    contents.push({ role: 'user', parts: answers });
  }
}

describe('the Google client over a compacting fetch', () => {
  const config = { systemInstruction: 'Be exact.', tools: [{ functionDeclarations: [read] }] };

  it('keeps a tool loop over generateContent inside its window', async () => {
    const fetch = fetchWith();
    const client = clientWith(fetch);
    const generate = async (contents: Content[]): Promise<Content> => {
      const { candidates } = await client.models.generateContent({ model: name, contents, config });
      return candidates?.[0]?.content ?? {};
    };
    expect(await work(generate, 'alpha')).toBe('Task alpha is done.');
    expectCompactions();
    const last = model.turns().at(-1)!;
    await expect.poll(() => fetch.compactor.estimate(last).sources.tokens).toBe('usage');
    expect(fetch.compactor.estimate(last).tokens).toBe(inputTokensOf(last));
  });

  it('keeps a tool loop over generateContentStream inside its window', async () => {
    const client = clientWith();
    const generate = async (contents: Content[]): Promise<Content> => {
      const parts = [];
      for await (const { candidates } of await client.models.generateContentStream({ model: name, contents, config }))
        parts.push(...(candidates?.[0]?.content?.parts ?? []));
      return { role: 'model', parts };
    };
    expect(await work(generate, 'beta')).toBe('Task beta is done.');
    expectCompactions();
    expect(model.received.every(({ path }) => path.endsWith(':streamGenerateContent?alt=sse'))).toBe(true);
  });

  it('reads a stream that comes as one array, and sends the summary to the same address with the same key', async () => {
    const fetch = fetchWith();
    const url = `${model.url}/v1beta/models/${name}:streamGenerateContent?key=${secret}`;
    const headers = { 'x-goog-api-key': secret };
    const generate = async (contents: Content[]): Promise<Content> => {
      const request = { contents, tools: config.tools };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
      const chunks: { candidates: { content: Content }[] }[] = await response.json();
      return { role: 'model', parts: chunks.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []) };
    };
    expect(await work(generate, 'gamma')).toBe('Task gamma is done.');
    expectCompactions();
    const summary = model.received.find((call) => isSummaryRequest(bodyOf(call)))!;
    expect(`${model.url}${summary.path}`).toBe(url);
    expect(summary.headers['x-goog-api-key']).toBe(secret);
    expect(JSON.stringify(model.events)).not.toContain(secret);
  });

  it('counting and embedding pass through byte for byte', async () => {
    const client = clientWith();
    const contents = [{ role: 'user', parts: [{ text: 'x'.repeat(30_000) }] }];
    await client.models.countTokens({ model: name, contents });
    await client.models.embedContent({ model: 'embed', contents });
    expect(model.received.map(({ path }) => path.replace(/.*:/, ''))).toEqual(['countTokens', 'batchEmbedContents']);
    expect(bodyOf(model.received[0]!).contents).toEqual(contents);
    expect(model.events).toEqual([]);
  });
});

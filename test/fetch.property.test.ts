import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactingFetch } from '../src/fetch.ts';
import { type Choose, chooseFromList, sometimes } from '../src/testing/choose.ts';
import { waitingConversation } from '../src/testing/conversation.ts';
import { anthropicKit } from '../src/testing/kits/anthropic.ts';
import { googleGenaiKit } from '../src/testing/kits/google-genai.ts';
import { openaiChatKit } from '../src/testing/kits/openai-chat.ts';
import { openaiCodexKit } from '../src/testing/kits/openai-codex.ts';
import { openaiResponsesKit } from '../src/testing/kits/openai-responses.ts';
import type { ProviderKit, ReplyScript } from '../src/testing/provider-kit.ts';
import { type ScriptedModelOptions, scriptedModel } from '../src/testing/scripted-model.ts';
import { withAutoCompaction } from '../src/wrap.ts';

const paths = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'openai-codex': '/backend-api/codex/responses',
  anthropic: '/v1/messages',
  'google-genai': '/v1beta/models/gemini:generateContent',
};

const budget = { threshold: 100, countTokens: (text: string) => Math.ceil(text.length / 4) };

/** What the model says, the same for both faces. */
function chooseScript(choose: Choose): ScriptedModelOptions<object> {
  const usage = { inputTokens: 50 + choose(5000), outputTokens: 5 };
  const calls = [{ id: 'call_denied', name: 'read', input: { path: 'a.ts' } }];
  const summaries: ReplyScript[][] = [
    [],
    [{ reasoning: 'Hm.', calls }],
    [{ text: ' ' }],
    [{ text: 'Too sh', ending: 'length' }],
    [{ text: 'x', ending: 'cut' }],
  ];
  const streamed = sometimes(choose, 2);
  return {
    streamed,
    summaries: summaries[choose(summaries.length)],
    turns: streamed ? [] : [{ text: 'Fine.', usage }], // the wrapper leaves streams alone
  };
}

/** A reply as it comes over the wire, in pieces of any size. */
async function encode(reply: object, choose: Choose): Promise<Response> {
  if (!(Symbol.asyncIterator in reply)) return Response.json(reply);
  let text = '';
  for await (const event of reply as AsyncIterable<object>) text += `data: ${JSON.stringify(event)}\n\n`;
  const bytes = new TextEncoder().encode(text);
  const size = 1 + choose(300);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let start = 0; start < bytes.length; start += size) controller.enqueue(bytes.slice(start, start + size));
      controller.close();
    },
  });
  return new Response(body as BodyInit, { headers: { 'content-type': 'text/event-stream' } });
}

/** The provider never gives an id twice: each face has its own. */
const withoutIds = (text: string): string => text.replace(/"id":"(rs|fc|msg)_\d+"/g, '"id":"$1"');

async function compareFaces<Request extends object, Item, Reply extends object>(
  kit: ProviderKit<Request, Item, Reply>,
  path: string,
  numbers: readonly number[],
): Promise<void> {
  const choose = chooseFromList(numbers);
  const script = chooseScript(choose);
  const history = waitingConversation(kit, choose);
  const tail = (['assistant', 'user'] as const).flatMap((role) =>
    kit.adapter.writeMessage({ role, parts: [{ type: 'text', text: `Go on. ${'And on. '.repeat(choose(100))}` }] }),
  );
  const first = JSON.stringify(kit.request(history));
  const bodies = [first, ...(sometimes(choose, 2) ? [first] : []), JSON.stringify(kit.request([...history, ...tail]))];
  const shared = { adapter: kit.adapter, contextWindow: 1_000_000, budget, summary: { retries: 0 } };
  const sent: Record<'wrapper' | 'fetch', string[]> = { wrapper: [], fetch: [] };

  const wrapped = scriptedModel(kit, script);
  const create = withAutoCompaction<Request, Item, Reply, Request, Reply>((request, context) => {
    sent.wrapper.push(JSON.stringify(request));
    return wrapped.send(request, context);
  }, shared);
  const behind = scriptedModel(kit, script);
  const fetch = compactingFetch({
    ...shared,
    fetch: async (_url, init) => {
      const text = String(init?.body);
      sent.fetch.push(text);
      const request = JSON.parse(text);
      // Also where the model called tools meanwhile.
      const purpose = text.includes('context compaction request') ? 'summary' : 'turn';
      return encode(await behind.send(request, { purpose, signal: new AbortController().signal, attempt: 1 }), choose);
    },
  });

  for (const body of bodies) {
    await create(JSON.parse(body));
    await (await fetch(`https://provider.test${path}`, { method: 'POST', body })).text();
    await new Promise((resolve) => setTimeout(resolve, 0)); // usage was read
  }
  expect(sent.fetch.map(withoutIds)).toEqual(sent.wrapper.map(withoutIds));
  if (kit.validate(JSON.parse(first)).length === 0)
    expect([...behind.summaries, ...behind.turns].flatMap(({ violations }) => violations)).toEqual([]);
}

describe('the fetch sends byte for byte what the wrapper sends', () => {
  const numbers = fc.array(fc.nat(1_000_000), { maxLength: 300, size: 'max' });
  const compare = <Request extends object, Item, Reply extends object>(
    name: keyof typeof paths,
    kit: ProviderKit<Request, Item, Reply>,
  ) =>
    it(name, () =>
      fc.assert(
        fc.asyncProperty(numbers, (list) => compareFaces(kit, paths[name], list)),
        { numRuns: 200 },
      ),
    );
  compare('openai-chat', openaiChatKit);
  compare('openai-responses', openaiResponsesKit);
  compare('openai-codex', openaiCodexKit);
  compare('anthropic', anthropicKit);
  compare('google-genai', googleGenaiKit);
});

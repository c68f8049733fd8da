import { setTimeout as delay } from 'node:timers/promises';
import { type Message, readReplacement, textOf } from 'context-compactor';
import { extractSummary } from 'context-compactor/extractive';
import { openaiChat } from 'context-compactor/openai-chat';
import type OpenAI from 'openai';

type Chunk = OpenAI.ChatCompletionChunk;
type Delta = OpenAI.ChatCompletionChunk.Choice['delta'];

/** What the model says next. */
interface Line {
  text: string;
  /** The page of the log that it wants to see. */
  page?: number | undefined;
  slowly: boolean;
}

/** Milliseconds between two pieces, where the user asks for time to press a key. */
const slowPace = 2_000;
const mostPages = 12;
const countTokens = (text: string): number => Math.ceil(text.length / 4);

/**
 * A `fetch` for the `openai` client that stands in for a provider. The model reads as many pages of the log as it is told to (“Read 3
 * pages”), says what it was asked now and before, and writes extractive summaries. Told to “answer slowly” or
 * “summarize slowly” it does.
 *
 * @param pace milliseconds between two pieces of a reply.
 */
export function createOfflineFetch(pace: number): typeof fetch {
  const adapter = openaiChat();
  let pagesRead = 0;
  let pagesNow = 0;

  function nextLine(messages: readonly Message[], maxTokens: number | undefined): Line {
    const said = messages.filter(({ role }) => role === 'user').map(textSaid);
    const instruction = said.at(-1) ?? '';
    if (instruction.startsWith('This is a context compaction request.')) {
      const text = extractSummary(messages.slice(0, -1), { maxTokens: Math.min(700, maxTokens ?? 700), countTokens });
      return { text, slowly: said.slice(-2).some((words) => /summarize slowly/i.test(words)) };
    }
    const slowly = /answer slowly/i.test(instruction);
    if (pagesNow < pagesWanted(instruction)) {
      pagesNow++;
      pagesRead++;
      return { text: `Reading page ${pagesRead}. `, page: pagesRead, slowly };
    }
    const text = answer(instruction, said.at(-2), pagesNow);
    pagesNow = 0;
    return { text, slowly };
  }

  return async (_input, init) => {
    const body: OpenAI.ChatCompletionCreateParamsStreaming = JSON.parse(String(init?.body));
    const messages = body.messages.flatMap((message) => adapter.readItem(message));
    const line = nextLine(messages, body.max_completion_tokens ?? undefined);
    const chunks = writeChunks(line, countTokens(JSON.stringify([body.messages, body.tools])));
    return new Response(stream(chunks, line.slowly ? slowPace : pace, init?.signal ?? undefined), {
      headers: { 'content-type': 'text/event-stream' },
    });
  };
}

/** The user's own words, also where a summary stands before them. */
function textSaid(message: Message): string {
  const replacement = readReplacement(message);
  return textOf(replacement?.lastUserMessage ? { role: 'user', parts: replacement.lastUserMessage } : message);
}

function pagesWanted(text: string): number {
  const pages = /(\d+) pages?/i.exec(text)?.[1];
  return Math.min(mostPages, Number(pages ?? 0));
}

function answer(asked: string, before: string | undefined, pages: number): string {
  const shorten = (text: string): string => (text.length > 70 ? `${text.slice(0, 70)}…` : text).replaceAll('\n', ' ');
  const work = `I have read ${pages} more pages of the log, and all requests in them took a few milliseconds each.`;
  return [
    `You asked: “${shorten(asked)}”.`,
    before === undefined ? 'It is the first thing that you said.' : `Before that you said: “${shorten(before)}”.`,
    ...(pages > 0 ? [work] : []),
    'I am a script, so this is all I know. Ask me for pages of the log and the window fills up,',
    'until the conversation is compacted; what you said last is kept word for word.',
  ].join(' ');
}

function* writeChunks({ text, page }: Line, promptTokens: number): Generator<Chunk> {
  for (const content of text.match(/(?:\S*\s+){1,4}|\S+/g) ?? []) yield writeChunk({ content }, null);
  if (page === undefined) yield writeChunk({}, 'stop');
  else {
    const call = { name: 'read_log', arguments: JSON.stringify({ page }) };
    yield writeChunk({ tool_calls: [{ index: 0, id: crypto.randomUUID(), type: 'function', function: call }] }, 'tool_calls');
  }
  const completion = countTokens(text);
  const usage = { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: promptTokens + completion };
  yield { ...writeChunk({}, null), choices: [], usage };
}

function writeChunk(delta: Delta, finish: 'stop' | 'tool_calls' | null): Chunk {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: 'offline', object: 'chat.completion.chunk', created: 0, model: 'offline', choices };
}

function stream(chunks: Generator<Chunk>, pace: number, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = chunks.next();
      if (done) {
        controller.enqueue(encoder.encode('data: [DONE]\n\n'));
        return controller.close();
      }
      await delay(pace, undefined, { signal }); // rejects with the abort
      controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
    },
  });
}

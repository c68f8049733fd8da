import { vi } from 'vitest';
import type { ProviderAdapter, Usage } from '../../src/adapters/adapter.ts';
import { isCompactionError } from '../../src/errors.ts';
import type { Notice } from '../../src/events.ts';
import { isSystem } from '../../src/history/reading.ts';
import { readReplacement } from '../../src/prompt/replacement.ts';
import type { Summarizer, Summary, SummaryTask } from '../../src/summarize/summarizer.ts';
import { countTokens } from './scripted-model.ts';

export const instruction = 'Summarize the conversation.';

/** What a summarizer did with its task. */
export interface TaskRun<Request, Item> {
  sent: Request[];
  usages: Usage[];
  notices: Notice[];
  /** What was streamed; `|` where it became void. */
  texts: string[];
  result?: Summary<Item>;
  thrown?: unknown;
}

export interface TaskOptions<Request, Item, Reply> extends Partial<SummaryTask<Request, Item, Reply>> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  request: Request;
  /** Window of the model in tokens. */
  contextWindow: number;
  reply: (request: Request, attempt: number) => Reply | PromiseLike<Reply>;
}

/** Runs a summarizer on a request, as a compaction would; timers too. Four characters of an item's neutral form are a token. */
export async function runTask<Request, Item, Reply>(
  summarize: Summarizer,
  { contextWindow, reply, ...fields }: TaskOptions<Request, Item, Reply>,
): Promise<TaskRun<Request, Item>> {
  const { adapter, request } = fields;
  const run: TaskRun<Request, Item> = { sent: [], usages: [], notices: [], texts: [] };
  const countItems = sizeIn(adapter);
  const asked = countTokens(fields.instruction ?? instruction);
  const tokens = countItems(adapter.items(request)) + countTokens(JSON.stringify(adapter.context(request).tools ?? ''));
  const signal = fields.signal ?? new AbortController().signal;
  const task: SummaryTask<Request, Item, Reply> = {
    trigger: 'automatic',
    messages: adapter.items(request).flatMap((item) => adapter.readItem(item)),
    instruction,
    maxTokens: 500,
    roomForOutput: contextWindow - tokens - asked - Math.ceil((tokens + asked) * 0.1),
    estimatedTokens: tokens,
    retries: 1,
    overflowRetries: 1,
    countTokens,
    countItems,
    isStanding: (item) => {
      const messages = adapter.readItem(item);
      return isSystem({ messages }) || messages.every((message) => readReplacement(message) !== undefined);
    },
    send: async (sent) => {
      run.sent.push(sent);
      return reply(sent, run.sent.length);
    },
    signal,
    onText: (text) => run.texts.push(text),
    onRestart: () => run.texts.push('|'),
    onUsage: (usage) => run.usages.push(usage),
    onNotice: (notice) => run.notices.push(notice),
    ...fields,
  };
  const summary = summarize(task).then(
    (result) => {
      run.result = result;
    },
    (error: unknown) => {
      run.thrown = error;
    },
  );
  if (vi.isFakeTimers()) await vi.runAllTimersAsync();
  await summary;
  return run;
}

/** The code of what was thrown, where it is the library's own error. */
export function codeOf({ thrown }: TaskRun<unknown, unknown>): string | undefined {
  return isCompactionError(thrown) ? thrown.code : undefined;
}

export function sizeIn<Request, Item, Reply>(adapter: ProviderAdapter<Request, Item, Reply>): (items: readonly Item[]) => number {
  return (items) => items.reduce((sum, item) => sum + countTokens(JSON.stringify(adapter.readItem(item))), 0);
}

/** All of a request as text, as a model reads it. */
export function textSent<Request, Item, Reply>(adapter: ProviderAdapter<Request, Item, Reply>, request: Request): string {
  return JSON.stringify(adapter.items(request).map((item) => adapter.readItem(item)));
}

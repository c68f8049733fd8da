import { expect } from 'vitest';
import type { CompactionEvent } from '../../src/events.ts';
import { textOf } from '../../src/message.ts';
import type { CountingOptions, Send, SendContext, SharedOptions } from '../../src/options.ts';
import { readReplacement } from '../../src/prompt/replacement.ts';
import type { ReportShape } from './report-shapes.ts';

export const goodSummary = '## Goal\nShip it.\n\n## Accomplished\nHalf of it.';

/** Four characters are a token. */
export const countTokens = (text: string): number => Math.ceil(text.length / 4);

/** Input budget 5,904 tokens, compacted from 500 on. */
export const smallBudget: { contextWindow: number; budget: CountingOptions; summary: { retries: number } } = {
  contextWindow: 10_000,
  budget: { threshold: 500, countTokens },
  summary: { retries: 0 },
};

export interface Sent<Request> {
  request: Request;
  context: SendContext;
}

/** A `send` that remembers what it was sent, and refuses what the provider would refuse. */
export interface ReportModel<Request, Reply> {
  readonly send: Send<Request, Reply>;
  readonly turns: Sent<Request>[];
  readonly summaries: Sent<Request>[];
}

export type Answer<Request, Reply> = (request: Request, context: SendContext) => Reply | PromiseLike<Reply>;

/** Plays the steps for summary requests in their order, then good summaries. Turns are answered with "Done.". */
export function reportModel<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
  summaries: readonly Answer<Request, Reply>[] = [],
  turn: Answer<Request, Reply> = () => shape.reply({ text: 'Done.' }),
): ReportModel<Request, Reply> {
  const script = [...summaries];
  const model = {
    turns: [] as Sent<Request>[],
    summaries: [] as Sent<Request>[],
    async send(request: Request, context: SendContext): Promise<Reply> {
      const isSummary = context.purpose === 'summary';
      model[isSummary ? 'summaries' : 'turns'].push({ request, context });
      expect(shape.validate(request)).toEqual([]);
      if (!isSummary) return turn(request, context);
      return (script.shift() ?? (() => shape.reply({ text: goodSummary })))(request, context);
    },
  };
  return model;
}

/** Options for a small window, with a list of what was told. */
export function smallOptions<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
): { options: SharedOptions<Request, Item, Reply, Request, Reply>; events: CompactionEvent[] } {
  const events: CompactionEvent[] = [];
  return { events, options: { adapter: shape.adapter, ...smallBudget, onEvent: (event) => void events.push(event) } };
}

/** Types of the lifecycle events, with the code of a failure or a notice. */
export function told(events: readonly CompactionEvent[]): string[] {
  return events.map((event) => {
    if (event.type === 'notice') return `notice ${event.code}`;
    return event.type === 'auto_compaction_failed' ? `failed ${event.error.code}` : event.type.replace('auto_compaction_', '');
  });
}

/** A conversation of about 1,300 tokens that is due under the small budget. It ends with the results of a tool. */
export function longItems<Request extends object, Item extends object, Reply>({
  user,
  calls,
  results,
  assistant,
}: ReportShape<Request, Item, Reply>): Item[] {
  return [
    user('Read the first file.'),
    ...calls(['call_1']),
    ...results([['call_1', 'a'.repeat(2000)]]),
    assistant('Read it.'),
    user('Read the second file.'),
    ...calls(['call_2', 'call_3']),
    ...results([
      ['call_2', 'b'.repeat(2000)],
      ['call_3', 'c'.repeat(1000)],
    ]),
  ];
}

/** The conversation without its system text, as text with roles: what the model reads. */
export function transcript<Request extends object, Item extends object, Reply>(
  { adapter }: ReportShape<Request, Item, Reply>,
  request: Request,
): string[] {
  return adapter
    .items(request)
    .flatMap((item) => adapter.readItem(item))
    .filter(({ role }) => role !== 'system')
    .map(({ role, parts }) => `${role}: ${JSON.stringify(parts)}`);
}

/** The replacements in a request, unwrapped. */
export function replacementsIn<Request extends object, Item extends object, Reply>(
  { adapter }: ReportShape<Request, Item, Reply>,
  request: Request,
): { summary: string; lastUser: string | undefined }[] {
  return adapter
    .items(request)
    .flatMap((item) => adapter.readItem(item))
    .flatMap((message) => {
      const replacement = readReplacement(message);
      if (!replacement) return [];
      const { summary, lastUserMessage } = replacement;
      return [{ summary, lastUser: lastUserMessage && textOf({ role: 'user', parts: lastUserMessage }) }];
    });
}

/**
 * How often a text is in a value, however it is nested. LangChain's messages also keep what they were made of, and its requests both forms
 * of the system text.
 */
export function occurrences(value: unknown, text: string): number {
  const json = JSON.stringify(value, (key, entry) => (key === 'lc_kwargs' || key === 'systemPrompt' ? undefined : entry));
  return json.split(JSON.stringify(text).slice(1, -1)).length - 1;
}

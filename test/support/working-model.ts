import type { ServerResponse } from 'node:http';
import type { CompactionEvent } from '../../src/events.ts';
import { type Body, bodyOf, isSummaryRequest, type ProviderServer, type Received, startProvider } from './provider-server.ts';
import { countTokens, inputTokensOf, type SendReply, sendJson, type Words } from './reply-formats.ts';
import { goodSummary } from './scripted-model.ts';

/** What a tool gives back: about 1,000 tokens. */
export const pageOf = (input: object): string => `${JSON.stringify(input)} ${'lorem ipsum '.repeat(250)}`;

/** Results of tools in a task. */
export const pages = 8;

/** Input budget 16,000 tokens, compacted from 2,500 on. */
export const smallWindow: { contextWindow: number; budget: { threshold: number; countTokens: typeof countTokens } } = {
  contextWindow: 20_000,
  budget: { threshold: 2500, countTokens },
};

export interface WorkingModel extends ProviderServer {
  events: CompactionEvent[];
  /** For the options: gathers the events. */
  onEvent: (event: CompactionEvent) => void;
  summaries(): Body[];
  turns(): Body[];
  /** Answers in place of the model where it gives back true. */
  intercept: (call: Received, response: ServerResponse) => boolean;
  reset(): void;
}

/**
 * A provider whose model works on tasks: for `Task NAME` in the newest message of the user it calls `read` for eight pages, one after
 * the other, and then says that the task is done. Asked for a summary, it writes one.
 */
export async function startWorkingModel(sendReply: SendReply, isModelCall: (path: string) => boolean): Promise<WorkingModel> {
  const steps = new Map<string, number>();
  /** What requests may go on from. */
  const held = new Map<string, { task: string; tokens: number }>();
  const answer = (call: Received, response: ServerResponse): void => {
    if (model.intercept(call, response)) return;
    if (isModelCall(call.path)) sendReply(response, bodyOf(call), think(bodyOf(call)));
    else sendJson(response, 200, { path: call.path });
  };
  const think = (body: Body): Words => {
    if (isSummaryRequest(body)) return { text: goodSummary };
    const before = held.get(body.previous_response_id);
    const task = /Task (\w+)/.exec(JSON.stringify(body))?.[1] ?? before?.task ?? 'none';
    const page = (steps.get(task) ?? 0) + 1;
    steps.set(task, page);
    const id = `resp_${task}_${page}`;
    const tokens = before?.tokens ?? 0;
    held.set(id, { task, tokens: tokens + inputTokensOf(body) });
    const words = { held: { id, tokens } };
    if (task === 'none' || page > pages) return { ...words, text: `Task ${task} is done.` };
    return { ...words, call: { id: `call_${task}_${page}`, name: 'read', input: { page } } };
  };
  const server = await startProvider(answer);
  const bodies = (): Body[] => server.received.filter(({ path }) => isModelCall(path)).map(bodyOf);
  const model: WorkingModel = {
    ...server,
    events: [],
    onEvent: (event) => void model.events.push(event),
    summaries: () => bodies().filter(isSummaryRequest),
    turns: () => bodies().filter((body) => !isSummaryRequest(body)),
    intercept: () => false,
    reset() {
      server.received.length = 0;
      model.events = [];
      model.intercept = () => false;
      steps.clear();
      held.clear();
    },
  };
  return model;
}

import { type CompactionEvent, contextBudget } from 'context-compactor';
import type { ProviderName } from 'context-compactor/testing';
import type { AgentCall } from './agent.ts';
import type { Provider } from './providers.ts';
import { prefixReuse } from './proxy/figures.ts';
import { startModelServer } from './proxy/model-server.ts';
import { type RecordingProxy, startRecordingProxy } from './proxy/recording-proxy.ts';
import { isCorrect, question } from './question.ts';
import { createScriptedModel } from './script.ts';
import type { Terminal } from './terminal.ts';

/** Figures of one run. All but `steps`, `toolTurns` and `compactions` are counted from the raw bodies that the proxy received. */
export interface DemoRun {
  provider: ProviderName;
  /** The format of the requests, as they were received. */
  wire: ProviderName;
  contextWindow: number;
  inputBudget: number;
  threshold: number;
  steps: number;
  toolTurns: number;
  compactions: number;
  summaryRequests: number;
  /** The largest turn request. */
  peakTokens: number;
  /** The last turn request. */
  finalTokens: number;
  /** The last turn request, had nothing been replaced. */
  tokensWithoutCompaction: number;
  /** Turn requests over the input budget. */
  overBudgetRequests: number;
  /** Requests, of either kind, that the provider would refuse. */
  invalidRequests: number;
  /** For each summary request: how much of the last turn request it repeats as its beginning, 0 to 1. */
  prefixReuse: number[];
  /** The question stands unchanged in every turn request. */
  latestUserMessageVerbatim: boolean;
  answerCorrect: boolean;
}

/** How the provider is reached. */
export interface Access {
  /** In the form that the official client expects. */
  baseURL: string;
  apiKey: string;
  model: string;
}

/** What a right answer must hold; found while the agent works. */
export type Facts = Promise<readonly string[]>;

/** So small that the run must compact several times. In tokens. */
export const contextWindow = 12_288;

/** Runs the agent against the scripted model: the proxy plays the provider. */
export async function runScripted(provider: Provider, facts: Facts, terminal?: Terminal): Promise<DemoRun> {
  const model = await startModelServer(createScriptedModel());
  const proxy = await startRecordingProxy({ upstream: model.url, contextWindow });
  try {
    const access = { baseURL: proxy.url + provider.basePath, apiKey: 'scripted', model: provider.scriptedModel ?? 'scripted' };
    return await runAgent(provider, access, { proxy, facts, terminal });
  } finally {
    await proxy.close();
    await model.close();
  }
}

/** Runs the agent against a real model: the proxy only records. */
export async function runLive(provider: Provider, access: Access, facts: Facts, terminal?: Terminal): Promise<DemoRun> {
  const { origin, pathname } = new URL(access.baseURL);
  const proxy = await startRecordingProxy({ upstream: origin });
  try {
    const baseURL = proxy.url + pathname.replace(/\/$/, '');
    return await runAgent(provider, { ...access, baseURL }, { proxy, facts, terminal });
  } finally {
    await proxy.close();
  }
}

interface Surroundings {
  proxy: RecordingProxy;
  facts: Facts;
  terminal: Terminal | undefined;
}

async function runAgent(provider: Provider, access: Access, { proxy, facts, terminal }: Surroundings): Promise<DemoRun> {
  const { inputBudget, threshold } = contextBudget({ contextWindow });
  const turns = () => proxy.records.filter((record) => record.purpose === 'turn');
  const events: CompactionEvent[] = [];
  const replies: (readonly AgentCall[])[] = [];
  terminal?.begin(provider, { model: access.model, contextWindow, inputBudget, threshold });

  const { answer, sendWhole } = await provider.agent({
    ...access,
    contextWindow,
    onEvent(event) {
      events.push(event);
      terminal?.event(event);
    },
    onReply(calls) {
      replies.push(calls);
      terminal?.step({ number: replies.length, tokens: turns().at(-1)?.tokens ?? 0, inputBudget, threshold, calls });
    },
  });

  const sizes = turns().map((record) => record.tokens);
  const run: DemoRun = {
    provider: provider.name,
    wire: proxy.records[0]?.wire ?? provider.name,
    contextWindow,
    inputBudget,
    threshold,
    steps: replies.length,
    toolTurns: replies.filter((calls) => calls.length > 0).length,
    compactions: events.filter((event) => event.type === 'auto_compaction_applied').length,
    summaryRequests: proxy.records.length - sizes.length,
    peakTokens: Math.max(...sizes),
    finalTokens: sizes.at(-1) ?? 0,
    tokensWithoutCompaction: await proxy.countUnsent(sendWhole),
    overBudgetRequests: sizes.filter((tokens) => tokens > inputBudget).length,
    invalidRequests: proxy.records.filter((record) => record.problems.length > 0).length,
    prefixReuse: prefixReuse(proxy.records),
    latestUserMessageVerbatim: turns().every((record) => record.userTexts.some((texts) => texts.join('').includes(question))),
    answerCorrect: isCorrect(answer, await facts),
  };
  terminal?.end(run, answer);
  return run;
}

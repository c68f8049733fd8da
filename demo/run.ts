import { type CompactionEvent, contextBudget } from 'context-compactor';
import type { AgentOptions, AgentRun } from './agent.ts';
import { runAnthropicAgent } from './agent-anthropic.ts';
import { runOpenAiAgent } from './agent-openai.ts';
import { prefixReuse } from './proxy/figures.ts';
import { startModelServer } from './proxy/model-server.ts';
import { type RecordingProxy, startRecordingProxy } from './proxy/recording-proxy.ts';
import { isCorrect, question } from './question.ts';
import { createScriptedModel } from './script.ts';
import type { Terminal } from './terminal.ts';

/** Figures of one run. All but `steps`, `toolTurns` and `compactions` are counted from the raw bodies that the proxy received. */
export interface DemoRun {
  provider: Provider['name'];
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

export interface Provider {
  name: 'openai-chat' | 'anthropic';
  run(options: AgentOptions): Promise<AgentRun>;
  /** The path that the official client expects in its base URL. */
  basePath: string;
}

export const openai: Provider = { name: 'openai-chat', run: runOpenAiAgent, basePath: '/v1' };
export const anthropic: Provider = { name: 'anthropic', run: runAnthropicAgent, basePath: '' };

/** A real model behind the proxy. */
export interface LiveModel {
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
    const access = { baseURL: proxy.url + provider.basePath, apiKey: 'scripted', model: 'scripted' };
    return await runAgent(provider, access, { proxy, facts, terminal });
  } finally {
    await proxy.close();
    await model.close();
  }
}

/** Runs the agent against a real model: the proxy only records. */
export async function runLive(
  provider: Provider,
  { baseURL, apiKey, model }: LiveModel,
  facts: Facts,
  terminal?: Terminal,
): Promise<DemoRun> {
  const { origin, pathname } = new URL(baseURL);
  const proxy = await startRecordingProxy({ upstream: origin });
  try {
    const access = { baseURL: proxy.url + pathname.replace(/\/$/, ''), apiKey, model };
    return await runAgent(provider, access, { proxy, facts, terminal });
  } finally {
    await proxy.close();
  }
}

interface Surroundings {
  proxy: RecordingProxy;
  facts: Facts;
  terminal: Terminal | undefined;
}

async function runAgent(provider: Provider, access: LiveModel, { proxy, facts, terminal }: Surroundings): Promise<DemoRun> {
  const { inputBudget, threshold } = contextBudget({ contextWindow });
  const turns = () => proxy.records.filter((record) => record.purpose === 'turn');
  const events: CompactionEvent[] = [];
  terminal?.heading(
    `${provider.name}: ${access.model}, window ${contextWindow}, input budget ${inputBudget}, threshold ${threshold}`,
  );

  const run = await provider.run({
    ...access,
    contextWindow,
    onEvent(event) {
      events.push(event);
      terminal?.event(event);
    },
    onStep(action) {
      const sent = turns();
      terminal?.step({ number: sent.length, tokens: sent.at(-1)?.tokens ?? 0, inputBudget, threshold, action });
    },
  });

  const sizes = turns().map((record) => record.tokens);
  const answerCorrect = isCorrect(run.answer, await facts);
  terminal?.answer(run.answer, answerCorrect);
  return {
    provider: provider.name,
    contextWindow,
    inputBudget,
    threshold,
    steps: run.steps,
    toolTurns: run.toolTurns,
    compactions: events.filter((event) => event.type === 'auto_compaction_applied').length,
    summaryRequests: proxy.records.length - sizes.length,
    peakTokens: Math.max(...sizes),
    finalTokens: sizes.at(-1) ?? 0,
    tokensWithoutCompaction: proxy.countReceived(provider.name, JSON.stringify(run.uncompactedRequest)),
    overBudgetRequests: sizes.filter((tokens) => tokens > inputBudget).length,
    invalidRequests: proxy.records.filter((record) => record.problems.length > 0).length,
    prefixReuse: prefixReuse(proxy.records),
    latestUserMessageVerbatim: turns().every((record) => record.userTexts.some((texts) => texts.join('').includes(question))),
    answerCorrect,
  };
}

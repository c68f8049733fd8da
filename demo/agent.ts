import type { CompactionEvent } from 'context-compactor';
import { runTool, type ToolInput, type ToolOutput } from './tools.ts';

export interface AgentOptions {
  /** Where the provider is, in the form its official client expects. */
  baseURL: string;
  apiKey: string;
  model: string;
  /** Tokens. */
  contextWindow: number;
  onEvent: (event: CompactionEvent) => void;
  /** Called after each reply of the model, with what it will do next. */
  onStep: (action: string) => void;
}

export interface AgentRun {
  answer: string;
  /** Replies of the model. */
  steps: number;
  /** Replies that called tools. */
  toolTurns: number;
  /** The last request with the whole history, as it would have been sent without compaction. */
  uncompactedRequest: object;
}

/** No run is longer than this, whatever the model decides. */
export const maxSteps = 60;

/** A call of the model, in neutral form. */
export interface AgentCall {
  id: string;
  name: string;
  input: ToolInput;
}

/** Runs the calls of one turn, one after another. */
export async function runCalls(calls: readonly AgentCall[]): Promise<{ id: string; output: ToolOutput }[]> {
  const outputs: { id: string; output: ToolOutput }[] = [];
  for (const { id, name, input } of calls) outputs.push({ id, output: await runTool(name, input) });
  return outputs;
}

export function describeCalls(calls: readonly AgentCall[]): string {
  const words = calls.map(({ name, input }) =>
    [name, input.text && JSON.stringify(input.text), input.path].filter(Boolean).join(' '),
  );
  return words.join(', ') || 'answer';
}

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
  /** Called after each reply of the model, with what it calls; nothing where it answers. */
  onReply: (calls: readonly AgentCall[]) => void;
}

export interface AgentRun {
  answer: string;
  /** Sends the last request with the whole history, as it would have been sent without compaction. */
  sendWhole: () => PromiseLike<unknown>;
}

/** Runs one agent over one provider, until it answers the question. */
export type Agent = (options: AgentOptions) => Promise<AgentRun>;

/** No run is longer than this, whatever the model decides. */
export const maxSteps = 60;

/** Tokens that the model may write in a turn. */
export const outputCap = 2048;

/** A call of the model, in neutral form. */
export interface AgentCall {
  id: string;
  name: string;
  input: ToolInput;
}

export interface AgentResult {
  call: AgentCall;
  output: ToolOutput;
}

/** What a loop needs of its provider. */
export interface AgentTurns {
  /** Sends the conversation, and adds the reply to it. */
  ask: () => Promise<{ text: string; calls: readonly AgentCall[] }>;
  /** Adds the results of a reply's calls. */
  answer: (results: readonly AgentResult[]) => void;
}

/** The tool loop: asks the model and runs its calls, one after another, until there are none. Gives the answer. */
export async function runToolLoop({ onReply }: AgentOptions, { ask, answer }: AgentTurns): Promise<string> {
  for (let step = 1; step <= maxSteps; step++) {
    const { text, calls } = await ask();
    onReply(calls);
    if (calls.length === 0) return text;
    const results: AgentResult[] = [];
    for (const call of calls) results.push({ call, output: await runTool(call.name, call.input) });
    answer(results);
  }
  throw new Error(`No answer after ${maxSteps} steps.`);
}

/** A call, its input an object or JSON. What is neither reaches the tool as no input at all, and the tool says what it misses. */
export function readCall(id: string, name: string, input: unknown): AgentCall {
  const value = typeof input === 'string' ? parse(input) : input;
  // A tool checks each argument that it reads.
  return { id, name, input: typeof value === 'object' && value !== null ? (value as ToolInput) : {} };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

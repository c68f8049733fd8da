import type { SummaryFork } from '../adapter.ts';
import { type Fields, isNothing, isRecord } from '../fields.ts';
import { capFields } from './read-context.ts';
import type { GenkitRequest } from './shape.ts';

/**
 * Not rendered into the prompt, and wrong in a private request: it must not stop early, nor be written more than once. The plugin for
 * Google takes its own form of a tool choice before Genkit's.
 */
const neutralized = ['stopSequences', 'stop', 'n', 'candidateCount', 'functionCallingConfig'];

/** Output formats that a plugin takes in its config. */
const formats = ['response_format', 'responseMimeType', 'responseSchema', 'responseJsonSchema'];

/**
 * The parent's request and one user message. What is rendered into the prompt stays as it is, but for a forced output format, a forced
 * tool, and documents, which Genkit would write into the newest message of the user: into the instruction.
 */
export function forkRequest<R extends GenkitRequest>(request: R, instruction: string, maxTokens: number): SummaryFork<R> {
  const question = { role: 'user', content: [{ text: instruction.toWellFormed() }] };
  const fork: R = { ...request, messages: [...request.messages, question] };
  const changed: string[] = [];
  // The bound names only some of the request's fields; the copy is ours to change.
  const fields = fork as Fields;
  // The tools stay: they are part of the cached prefix. Not every plugin hears of the choice: attempts are denied.
  if (isNothing(request.tools)) delete fields.toolChoice;
  else fields.toolChoice = 'none';
  if (isForced(request.output)) {
    delete fields.output;
    changed.push('output');
  }
  if (!isNothing(request.docs)) {
    delete fields.docs;
    changed.push('docs');
  }
  // What is no object is the plugin's own affair.
  if (isNothing(request.config) || isRecord(request.config)) fields.config = forkConfig(request.config ?? {}, maxTokens, changed);
  return { request: fork, changed };
}

function isForced(output: unknown): boolean {
  if (!isRecord(output)) return false;
  const { format, schema, contentType } = output;
  return !isNothing(schema) || (!isNothing(format) && format !== 'text') || contentType === 'application/json';
}

function forkConfig(config: object, maxTokens: number, changed: string[]): Fields {
  const fork: Fields = { ...config };
  for (const key of neutralized) delete fork[key];
  const cap = maxTokens + thinkingBudget(fork);
  for (const field of capFields) if (field === 'maxOutputTokens' || !isNothing(fork[field])) fork[field] = cap;
  relaxToolChoice(fork, changed);
  for (const key of formats) {
    if (isNothing(fork[key]) || (isRecord(fork[key]) && fork[key].type === 'text') || fork[key] === 'text/plain') continue;
    delete fork[key];
    changed.push(`config.${key}`);
  }
  // A private request is not stored; metadata belong to a stored one.
  if (fork.store === true) {
    fork.store = false;
    delete fork.metadata;
  }
  return fork;
}

/** Thinking counts against the cap: Gemini's, Claude's, and that of compatible servers. */
function thinkingBudget({ thinkingConfig, thinking, reasoning }: Fields): number {
  const budget = [
    isRecord(thinkingConfig) ? thinkingConfig.thinkingBudget : undefined,
    isRecord(thinking) && thinking.enabled !== false ? (thinking.budgetTokens ?? thinking.budget_tokens) : undefined,
    isRecord(reasoning) ? reasoning.max_tokens : undefined,
  ].find((tokens) => typeof tokens === 'number' && tokens > 0 && Number.isFinite(tokens));
  return typeof budget === 'number' ? budget : 0;
}

/**
 * The choice in the form of OpenAI is free to change. In that of Anthropic it is part of what the cache depends on: only force goes, unless
 * the provider runs tools itself, which cannot be denied.
 */
function relaxToolChoice(config: Fields, changed: string[]): void {
  const { tool_choice: choice, mcp_servers } = config;
  if (!isNothing(mcp_servers)) {
    config.tool_choice = { type: 'none' };
    changed.push('provider-executed tools');
    return;
  }
  if (typeof choice === 'string' || (isRecord(choice) && choice.type === 'function')) config.tool_choice = 'none';
  else if (isRecord(choice) && (choice.type === 'any' || choice.type === 'tool')) {
    config.tool_choice = { type: 'auto' };
    changed.push('config.tool_choice');
  }
}

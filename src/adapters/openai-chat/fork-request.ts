import type { ForkOptions, SummaryFork } from '../adapter.ts';
import { type Fields, isNothing, isRecord, withoutFields } from '../fields.ts';
import type { ChatRequest } from './shape.ts';

/**
 * The parent's request and one user message. What is rendered into the prompt stays as it is, but for a forced output format: the
 * summary is prose.
 */
export function forkRequest<R extends ChatRequest>(
  request: R,
  instruction: string,
  { maxTokens, effort, verbosity }: ForkOptions,
): SummaryFork<R> {
  const fork: R = { ...request, messages: [...request.messages, { role: 'user', content: instruction }] };
  // The bound names only some of the provider's fields; the copy is ours to change.
  const fields = fork as Fields;
  for (const key of ['n', 'stop', 'prediction']) delete fields[key];
  const changed = setEffort(fields, effort);
  setOutputCap(fields, maxTokens + thinkingBudget(fields));
  forbidTools(fields, 'tools', 'tool_choice');
  forbidTools(fields, 'functions', 'function_call');
  dropStorage(fields);
  dropAudio(fields);
  if (isRecord(fields.response_format) && fields.response_format.type !== 'text') {
    delete fields.response_format;
    changed.push('response_format');
  }
  if (verbosity !== undefined && fields.verbosity !== verbosity) {
    fields.verbosity = verbosity;
    changed.push('verbosity');
  }
  return { request: fork, changed };
}

/** On the field that the request uses. Compatible servers take an effort or a budget. */
function setEffort(fields: Fields, effort: string | undefined): string[] {
  if (effort === undefined) return [];
  const { reasoning } = fields;
  if (isRecord(reasoning) && isNothing(fields.reasoning_effort)) {
    if (reasoning.effort === effort) return [];
    fields.reasoning = { ...withoutFields(reasoning, ['max_tokens']), effort };
    return ['reasoning.effort'];
  }
  if (fields.reasoning_effort === effort) return [];
  fields.reasoning_effort = effort;
  return ['reasoning_effort'];
}

/** On the field that the request uses: newer models refuse `max_tokens`, older servers do not know the other. */
function setOutputCap(fields: Fields, cap: number): void {
  const older = !isNothing(fields.max_tokens);
  if (older) fields.max_tokens = cap;
  if (!older || !isNothing(fields.max_completion_tokens)) fields.max_completion_tokens = cap;
}

/** Compatible servers take a budget of thinking tokens, which must be below the output cap. */
function thinkingBudget({ reasoning, thinking }: Fields): number {
  const budget = isRecord(reasoning) ? reasoning.max_tokens : isRecord(thinking) ? thinking.budget_tokens : 0;
  return typeof budget === 'number' && budget > 0 ? budget : 0;
}

/** The tools stay: they are part of the cached prefix. A choice without tools, and an empty list of them, are refused. */
function forbidTools(fields: Fields, tools: string, choice: string): void {
  if (isNothing(fields[tools])) {
    delete fields[tools];
    delete fields[choice];
  } else fields[choice] = 'none';
}

/** A private request is not stored; metadata belong to a stored one. */
function dropStorage(fields: Fields): void {
  if (fields.store !== true) return;
  fields.store = false;
  delete fields.metadata;
}

function dropAudio(fields: Fields): void {
  if (Array.isArray(fields.modalities) && fields.modalities.includes('audio')) fields.modalities = ['text'];
  delete fields.audio;
}

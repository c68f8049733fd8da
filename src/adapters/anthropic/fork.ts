import type { ForkOptions, SummaryFork } from '../adapter.ts';
import { type Fields, isRecord, listOf } from '../fields.ts';
import { setSetting } from '../set-setting.ts';
import { typeOf } from './blocks.ts';
import type { AnthropicMessage, AnthropicRequest } from './shape.ts';

/** The official SDK refuses to wait longer for a reply that is not streamed. */
const mostTokensUnstreamed = 21_333;

/** Tools with a type of their own that the caller runs all the same. Other typed tools run at the provider and cannot be denied. */
const clientToolTypes = /^(custom$|bash_|text_editor_|computer_|memory_|browser_toolset_)/;

/**
 * Not rendered into the prompt, and wrong in a private request: it must not stop early, spend a one-time token, continue a thread of
 * the server, or ask for the provider's own compaction.
 */
const neutralized = ['stop_sequences', 'fallback_credit_token', 'thread', 'compaction'];

/** See `ProviderAdapter.forkForSummary`. */
export function forkForSummary<R extends AnthropicRequest>(
  request: R,
  instruction: string,
  options: ForkOptions,
): SummaryFork<R> {
  const changed: string[] = [];
  const fork = Object.assign<Fields, R>({}, request);
  const fields: Fields = fork;
  for (const key of neutralized) delete fields[key];
  fields.messages = appendInstruction(request.messages, instruction, changed);
  fields.max_tokens = outputCap(request, options.maxTokens);
  relaxOutputFormat(fields, changed);
  setSetting(fields, 'output_config', 'effort', options.effort, changed);
  relaxToolChoice(request, fields, changed);
  return { request: fork, changed };
}

function appendInstruction(messages: readonly AnthropicMessage[], instruction: string, changed: string[]): AnthropicMessage[] {
  const question: AnthropicMessage = { role: 'user', content: instruction.toWellFormed() };
  // A system message stands last or before an assistant, never before a user.
  const end = messages.findLastIndex(({ role }) => role !== 'system') + 1;
  if (end < messages.length && end > 0) {
    changed.push('system-message-last');
    return [...messages.slice(0, end), question, ...messages.slice(end)];
  }
  return [...messages, question];
}

/** Thinking counts against the cap. What the parent was allowed without streaming, the fork is too. */
function outputCap({ thinking, stream, max_tokens }: AnthropicRequest, maxTokens: number): number {
  const budget = thinking?.type === 'enabled' && Number.isFinite(thinking.budget_tokens) ? (thinking.budget_tokens ?? 0) : 0;
  const cap = maxTokens + budget;
  return stream ? cap : Math.min(cap, Math.max(mostTokensUnstreamed, typeof max_tokens === 'number' ? max_tokens : 0));
}

function relaxOutputFormat(fork: Fields, changed: string[]): void {
  if (isRecord(fork.output_format)) {
    delete fork.output_format;
    changed.push('output_format');
  }
  if (!isRecord(fork.output_config) || !isRecord(fork.output_config.format)) return;
  const { format: _format, ...rest } = fork.output_config;
  if (Object.keys(rest).length > 0) fork.output_config = rest;
  else delete fork.output_config;
  changed.push('output_config.format');
}

/** The choice is part of what the cache of the messages depends on: it stays as it is, unless the summary could not be written. */
function relaxToolChoice({ tools, tool_choice, mcp_servers }: AnthropicRequest, fork: Fields, changed: string[]): void {
  const choice = tool_choice?.type;
  if (choice === 'none') return;
  if (choice === 'any' || choice === 'tool') {
    fork.tool_choice = { type: 'auto' };
    changed.push('tool_choice');
  }
  if (!listOf(tools).some(isProviderExecuted) && listOf(mcp_servers).length === 0) return;
  fork.tool_choice = { type: 'none' };
  changed.push('provider-executed tools');
}

function isProviderExecuted(tool: unknown): boolean {
  const type = typeOf(tool);
  return type !== '' && !clientToolTypes.test(type);
}

import type { ForkOptions, SummaryFork } from '../adapter.ts';
import type { Fields } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { setSetting } from '../set-setting.ts';
import { arrangeTurns } from './arrange-turns.ts';
import { blocksOf, isToolResult, memberOf } from './blocks.ts';
import { declareTools, isManagedPrompt } from './declare-tools.ts';
import { inputOf, withInput } from './request-input.ts';
import type { BedrockInput, BedrockMessage, BedrockRequest } from './shape.ts';

/** What an assistant says between results and the instruction, for models that take no text beside results. */
const acknowledgement = 'I have the results.';

/** See `ProviderAdapter.forkForSummary`. */
export function forkRequest<R extends BedrockRequest>(
  request: R,
  instruction: string,
  { maxTokens, effort }: ForkOptions,
): SummaryFork<R> {
  const changed: string[] = [];
  const input = inputOf(request);
  const messages = mendTurns(input.messages ?? [], changed);
  // The bound names only some of the provider's fields; the copy is ours to change.
  const fork = Object.assign<Fields, BedrockInput>({}, input);
  const fields: Fields = fork;
  fields.messages = appendInstruction(messages, instruction, input.modelId, changed);
  const tools = declareTools(input, messages);
  if (tools) {
    fields.toolConfig = tools;
    changed.push('toolConfig');
  }
  relaxToolChoice(fields, changed);
  relaxOutputFormat(fields, changed);
  setSetting(fields, 'outputConfig', 'effort', effort, changed);
  setOutputCap(fields, maxTokens);
  return { request: withInput(request, fork), changed };
}

/** A parent that the provider would refuse for the order of its turns has no cached prefix to lose. */
function mendTurns(messages: readonly BedrockMessage[], changed: string[]): readonly BedrockMessage[] {
  const arranged = arrangeTurns(messages);
  if (isSameList(arranged, messages)) return messages;
  changed.push('order of turns');
  return arranged;
}

/** User and assistant alternate: the instruction joins the last message of the user, behind all that it is about. */
function appendInstruction(
  messages: readonly BedrockMessage[],
  instruction: string,
  modelId: string | undefined,
  changed: string[],
): readonly BedrockMessage[] {
  const block = { text: instruction.toWellFormed() };
  // A system message stands last or before an assistant, never before a user.
  const end = messages.findLastIndex(({ role }) => role !== 'system') + 1;
  const said = messages.slice(0, end);
  const systemLast = messages.slice(end);
  if (systemLast.length > 0) changed.push('system-message-last');
  const last = said.at(-1);
  if (last?.role !== 'user') return [...said, { role: 'user', content: [block] }, ...systemLast];
  if (!takesTextBesideResults(modelId) && blocksOf(last).some(isToolResult))
    return [
      ...said,
      { role: 'assistant', content: [{ text: acknowledgement }] },
      { role: 'user', content: [block] },
      ...systemLast,
    ];
  return [...said.slice(0, -1), { ...last, content: [...blocksOf(last), block] }, ...systemLast];
}

/** `Conversation blocks and tool result blocks cannot be provided in the same turn`, say the models of Meta and Mistral. */
function takesTextBesideResults(modelId: string | undefined): boolean {
  return !/(?:^|[./])(?:meta|mistral)\./.test(modelId ?? '');
}

/** There is no choice that forbids tools, and none is made where the model may choose; a forced call would leave no room for a text. */
function relaxToolChoice(fork: Fields, changed: string[]): void {
  const config = memberOf(fork, 'toolConfig');
  const choice = memberOf(config, 'toolChoice');
  if (!memberOf(choice, 'any') && !memberOf(choice, 'tool')) return;
  fork.toolConfig = { ...config, toolChoice: { auto: {} } };
  changed.push('toolChoice');
}

function relaxOutputFormat(fork: Fields, changed: string[]): void {
  const config = memberOf(fork, 'outputConfig');
  if (!memberOf(config, 'textFormat')) return;
  const { textFormat: _textFormat, ...rest } = config ?? {};
  if (Object.keys(rest).length > 0) fork.outputConfig = rest;
  else delete fork.outputConfig;
  changed.push('outputConfig.textFormat');
}

/** How the model thinks, where it has a budget for that: Claude. `reasoning_config` is the older name. */
export function thinkingByBudget(fields: unknown): Fields | undefined {
  const thinking = memberOf(fields, 'thinking') ?? memberOf(fields, 'reasoning_config');
  return thinking?.type === 'enabled' ? thinking : undefined;
}

/** None of this is rendered into the prompt. */
function setOutputCap(fork: Fields, maxTokens: number): void {
  if (isManagedPrompt(fork.modelId)) return;
  const { stopSequences: _stopSequences, ...rest } = memberOf(fork, 'inferenceConfig') ?? {};
  const fields = fork.additionalModelRequestFields;
  // Nova refuses a cap at its highest effort.
  if (memberOf(fields, 'reasoningConfig')?.maxReasoningEffort === 'high') {
    if (memberOf(fork, 'inferenceConfig')) fork.inferenceConfig = rest;
  } else fork.inferenceConfig = { ...rest, maxTokens: maxTokens + thinkingBudget(fields) };
}

/** Thinking counts against the cap. */
function thinkingBudget(fields: unknown): number {
  const budget = thinkingByBudget(fields)?.budget_tokens;
  return typeof budget === 'number' && Number.isFinite(budget) && budget > 0 ? budget : 0;
}

import type { SummaryFork } from '../adapter.ts';
import { type Fields, fieldsOf, isNothing, isRecord } from '../fields.ts';
import { canForbidTools, capFields } from './model-facts.ts';
import type { LangchainMessage, LangchainRequest } from './shape.ts';

/** Not rendered into the prompt, and wrong in a private request: it must not stop early, nor be written more than once. */
const neutralized = ['stop', 'stopSequences', 'stop_sequences', 'n', 'prediction'];

/** Output formats that packages take among their settings. */
const formats = ['response_format', 'responseSchema', 'responseMimeType', 'outputFormat', 'output_format'];

/**
 * The parent's request and one message of the user. What is rendered into the prompt stays as it is, but for a forced output format and a
 * forced tool: the summary is prose.
 */
export function forkRequest<R extends LangchainRequest>(
  request: R,
  question: readonly LangchainMessage[],
  maxTokens: number,
): SummaryFork<R> {
  const fork: R = { ...request, messages: [...request.messages, ...question] };
  const changed: string[] = [];
  // The bound names only some of the request's fields; the copy is ours to change.
  const fields = fork as Fields;
  // Whoever makes the private call with the model of an agent reads there how long the reply may be.
  if (isRecord(request.modelSettings) || isRecord(request.model))
    fields.modelSettings = forkSettings(fieldsOf(request.modelSettings), maxTokens, changed, isRecord(request.model));
  if (!isNothing(request.responseFormat)) {
    delete fields.responseFormat;
    changed.push('responseFormat');
  }
  if (relaxToolChoice(fields, request)) changed.push('toolChoice');
  return { request: fork, changed };
}

/** The tools stay: they are part of the cached prefix. True where that depends on the choice, and a forced one had to go. */
function relaxToolChoice(fields: Fields, { model, tools, toolChoice }: LangchainRequest): boolean {
  if (isNothing(tools)) {
    delete fields.toolChoice;
    return false;
  }
  if (canForbidTools(model)) {
    fields.toolChoice = 'none';
    return false;
  }
  if (isNothing(toolChoice) || toolChoice === 'auto' || toolChoice === 'none') return false;
  delete fields.toolChoice;
  return true;
}

function forkSettings(settings: Fields, maxTokens: number, changed: string[], hasModel: boolean): Fields {
  const fork: Fields = { ...settings };
  for (const key of neutralized) delete fork[key];
  const caps = capFields.filter((key) => !isNothing(fork[key]));
  if (caps.length === 0 && hasModel) caps.push('maxTokens');
  for (const key of caps) fork[key] = maxTokens;
  for (const key of formats) {
    const format = fork[key];
    if (isNothing(format) || format === 'text/plain' || (isRecord(format) && format.type === 'text')) continue;
    delete fork[key];
    changed.push(`modelSettings.${key}`);
  }
  const { outputConfig } = fork;
  if (isRecord(outputConfig) && !isNothing(outputConfig.format)) {
    const { format: _format, ...rest } = outputConfig;
    fork.outputConfig = rest;
    changed.push('modelSettings.outputConfig');
  }
  return fork;
}

import type { SummaryFork } from '../adapter.ts';
import { type Fields, isNothing, isRecord } from '../fields.ts';
import { includedThinking } from './output-cap.ts';
import { textPart } from './parts.ts';
import { isStrictAboutSystem } from './place-system.ts';
import { optionOf, withoutOptions } from './provider-options.ts';
import type { AiSdkMessage, AiSdkRequest } from './shape.ts';

/**
 * Providers to whose prompt cache `none` is nothing new. To Anthropic's it is, the SDK's Bedrock provider takes all tools and their results
 * out of the prompt for it, and of others nobody knows: there a call of a tool is denied when it comes.
 */
const forbidsFreely = /^(?:openai|azure|google)\b(?!.*anthropic)/i;

/** Tools of providers that the caller runs all the same. */
const clientTools = /^(?:anthropic\.(?:bash|text_editor|computer|memory)_|openai\.(?:local_shell|shell|apply_patch|custom)$)/;

/** Not rendered into the prompt, and wrong in a private request: another cap, a forced tool, a guess at the reply, cut without a word. */
const neutralized: ReadonlySet<string> = new Set(['maxCompletionTokens', 'allowedTools', 'prediction', 'truncation']);

/** The parent's request and one user message. What is rendered into the prompt stays as it is, but for a forced output format. */
export function forkRequest<R extends AiSdkRequest>(request: R, instruction: string, maxTokens: number): SummaryFork<R> {
  const changed: string[] = [];
  const fork: R = {
    ...request,
    prompt: askInPrompt(request, instruction, changed),
    maxOutputTokens: maxTokens + includedThinking(request.providerOptions),
  };
  // The bound names only some of the SDK's fields; the copy is ours to change.
  const fields = fork as Fields;
  for (const key of ['stopSequences', 'includeRawChunks']) delete fields[key];
  relaxFormat(fields, changed);
  if (fields.providerOptions !== undefined)
    fields.providerOptions = withoutOptions(fields.providerOptions, (key) => neutralized.has(key));
  forbidTools(request, fields, changed);
  return { request: fork, changed };
}

function askInPrompt({ prompt, model }: AiSdkRequest, instruction: string, changed: string[]): readonly AiSdkMessage[] {
  const question: AiSdkMessage = { role: 'user', content: [textPart(instruction.toWellFormed())] };
  const end = prompt.findLastIndex(({ role }) => role !== 'system') + 1;
  if (!isStrictAboutSystem(model) || end === prompt.length || end === 0) return [...prompt, question];
  changed.push('system-message-last');
  return [...prompt.slice(0, end), question, ...prompt.slice(end)];
}

function relaxFormat(fields: Fields, changed: string[]): void {
  if (isRecord(fields.responseFormat) && fields.responseFormat.type !== 'text') {
    delete fields.responseFormat;
    changed.push('responseFormat');
  }
  if (optionOf(fields.providerOptions, 'textFormat') === undefined) return;
  fields.providerOptions = withoutOptions(fields.providerOptions, (key) => key === 'textFormat');
  changed.push('providerOptions.textFormat');
}

/** The tools stay: they are part of the cached prefix. */
function forbidTools({ tools, toolChoice, model, providerOptions }: AiSdkRequest, fields: Fields, changed: string[]): void {
  const provider = model?.provider ?? '';
  const servers = !isNothing(optionOf(providerOptions, 'mcpServers'));
  if (isNothing(tools) && !servers) {
    delete fields.tools;
    delete fields.toolChoice;
    return;
  }
  const choice = toolChoice?.type;
  if (choice === 'none') return;
  if (forbidsFreely.test(provider)) {
    fields.toolChoice = { type: 'none' };
    return;
  }
  if (choice === 'required' || choice === 'tool') {
    fields.toolChoice = { type: 'auto' };
    changed.push('toolChoice');
  }
  // What the provider runs itself cannot be denied.
  if (/bedrock/i.test(provider) || !(servers || tools?.some(isProviderExecuted))) return;
  fields.toolChoice = { type: 'none' };
  changed.push('provider-executed tools');
}

function isProviderExecuted(tool: unknown): boolean {
  return isRecord(tool) && tool.type === 'provider' && typeof tool.id === 'string' && !clientTools.test(tool.id);
}

import type { ForkOptions, SummaryFork } from '../adapter.ts';
import { type Fields, fieldsOf, isNothing, listOf, stringOf } from '../fields.ts';
import { fieldOf, nameIn, recordOf, sdkName } from './field-names.ts';
import { isModel } from './function-parts.ts';
import { holdsAnswers } from './join-contents.ts';
import { readContents } from './read-contents.ts';
import { declaresFunctions, generationOf, isCallable, isRestBody, settingsOf, withSettings } from './settings.ts';
import type { GeminiContent, GeminiRequest } from './shape.ts';

/** Not rendered into the prompt, and wrong in a private request: one reply is enough, and it must not stop early. */
const neutralized = new Set(['candidateCount', 'stopSequences']);

/** What forces the form of the output: the summary is prose. */
const formats = new Set(['responseMimeType', 'responseSchema', 'responseJsonSchema', '_responseJsonSchema', 'responseFormat']);

/** See `ProviderAdapter.forkForSummary`. */
export function forkRequest<R extends GeminiRequest>(
  request: R,
  instruction: string,
  { maxTokens, effort }: ForkOptions,
): SummaryFork<R> {
  const isRest = isRestBody(request);
  const settings = { ...settingsOf(request) };
  const generation = isRest ? { ...generationOf(request) } : settings;
  const changed = relaxGeneration(generation);
  if (effort !== undefined) setThinkingLevel(generation, effort, changed);
  generation[nameIn(generation, 'maxOutputTokens')] = maxTokens + thinkingBudget(generation);
  if (isRest) settings[nameIn(settings, 'generationConfig')] = generation;
  delete settings[nameIn(settings, 'continuationToken')]; // the summary continues no other reply
  forbidCalls(settings);
  if (listOf(settings.tools).some(isCallable)) keepFromCalling(settings);
  const contents = appendInstruction(readContents(request), instruction.toWellFormed());
  return { request: { ...withSettings(request, settings), contents }, changed };
}

/** As words of the user: with earlier ones in one content, but never beside the results of tools. */
function appendInstruction(contents: readonly GeminiContent[], text: string): GeminiContent[] {
  const last = contents.at(-1);
  if (!last || isModel(last) || last.role === 'function' || holdsAnswers(last))
    return [...contents, { role: 'user', parts: [{ text }] }];
  return [...contents.slice(0, -1), { ...last, parts: [...(last.parts ?? []), { text }] }];
}

/** What was changed that may be part of the prompt. */
function relaxGeneration(generation: Fields): string[] {
  const changed: string[] = [];
  for (const [key, value] of Object.entries(generation)) {
    const name = sdkName(key);
    const forces = formats.has(name) && value !== undefined && value !== null && value !== 'text/plain';
    if (forces) changed.push(name);
    if (forces || neutralized.has(name)) delete generation[key];
  }
  return relaxModalities(generation) ? [...changed, 'responseModalities'] : changed;
}

/** Neither pictures nor speech. */
function relaxModalities(generation: Fields): boolean {
  const name = nameIn(generation, 'responseModalities');
  if (!listOf(generation[name]).some((modality) => stringOf(modality).toUpperCase() !== 'TEXT')) return false;
  generation[name] = ['TEXT'];
  for (const setting of ['speechConfig', 'imageConfig']) delete generation[nameIn(generation, setting)];
  return true;
}

/** A level and a budget beside it are refused. */
function setThinkingLevel(generation: Fields, effort: string, changed: string[]): void {
  const config = { ...recordOf(generation, 'thinkingConfig') };
  const name = nameIn(config, 'thinkingLevel');
  if (stringOf(config[name]).toLowerCase() === effort) return;
  delete config[nameIn(config, 'thinkingBudget')];
  config[name] = effort.toUpperCase();
  generation[nameIn(generation, 'thinkingConfig')] = config;
  changed.push('thinkingConfig.thinkingLevel');
}

/** Thinking counts against the cap. */
function thinkingBudget(generation: Fields): number {
  const budget = fieldOf(recordOf(generation, 'thinkingConfig') ?? {}, 'thinkingBudget');
  return typeof budget === 'number' && budget > 0 ? budget : 0;
}

/** The functions stay. The setting is refused where there are none, and where they are in a cached content. */
function forbidCalls(settings: Fields): void {
  if (!declaresFunctions(settings) || !isNothing(fieldOf(settings, 'cachedContent'))) return;
  const config = recordOf(settings, 'toolConfig') ?? {};
  settings[nameIn(settings, 'toolConfig')] = { ...config, [nameIn(config, 'functionCallingConfig')]: { mode: 'NONE' } };
}

/** The SDK runs such tools by itself and asks again. Nothing of that is sent, so the cache does not see it. */
function keepFromCalling(settings: Fields): void {
  const { automaticFunctionCalling } = settings;
  settings.automaticFunctionCalling = {
    ...fieldsOf(automaticFunctionCalling),
    disable: true,
  };
}

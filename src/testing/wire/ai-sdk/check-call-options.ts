import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';
import { checkProviderOptions } from './check-provider-options.ts';

const choices: ReadonlySet<unknown> = new Set(['auto', 'none', 'required', 'tool']);

/** What stands around the prompt. */
export function checkCallOptions(options: Fields, report: Report): void {
  const { maxOutputTokens: cap, responseFormat: format } = options;
  if (cap !== undefined && !(Number.isInteger(cap) && Number(cap) > 0))
    report('output-cap', 'maxOutputTokens', `Expected a whole number above 0, got ${describe(cap)}.`);
  if (format !== undefined && !(isRecord(format) && (format.type === 'text' || format.type === 'json')))
    report('response-format', 'responseFormat', `Expected the type text or json, got ${describe(format)}.`);
  checkProviderOptions(options.providerOptions, 'providerOptions', report);
  const names = checkTools(options.tools, report);
  checkChoice(options.toolChoice, names, report);
}

function checkTools(tools: unknown, report: Report): ReadonlySet<unknown> {
  const names = new Set<unknown>();
  if (tools === undefined) return names;
  if (!Array.isArray(tools)) {
    report('tool', 'tools', `Expected an array of tools, got ${describe(tools)}.`);
    return names;
  }
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    if (!isRecord(tool) || typeof tool.name !== 'string' || !isDefined(tool)) {
      report('tool', path, 'Expected a function with a schema, or a tool of a provider with an id and arguments.');
      continue;
    }
    if (names.has(tool.name)) report('tool-name-twice', path, `Expected names that differ, found ${tool.name} again.`);
    names.add(tool.name);
    checkProviderOptions(tool.providerOptions, path, report);
  }
  return names;
}

function isDefined({ type, inputSchema, id, args }: Fields): boolean {
  if (type === 'function') return isRecord(inputSchema);
  return type === 'provider' && typeof id === 'string' && id.includes('.') && isRecord(args);
}

function checkChoice(choice: unknown, names: ReadonlySet<unknown>, report: Report): void {
  if (isAbsent(choice)) return;
  if (!isRecord(choice) || !choices.has(choice.type))
    report('tool-choice', 'toolChoice', `Expected auto, none, required or tool, got ${describe(choice)}.`);
  else if (choice.type === 'tool' && !names.has(choice.toolName))
    report('tool-choice', 'toolChoice', `Expected the name of a tool of the call, got ${describe(choice.toolName)}.`);
}

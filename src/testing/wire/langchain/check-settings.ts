import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

const choices = new Set<unknown>(['auto', 'none', 'required', 'any']);
const caps = ['maxTokens', 'max_tokens', 'maxOutputTokens', 'max_output_tokens', 'maxCompletionTokens', 'max_completion_tokens'];

/** What stands beside the messages. */
export function checkSettings({ tools, toolChoice, modelSettings }: Fields, report: Report): void {
  const names = new Set<unknown>();
  if (!isAbsent(tools) && !Array.isArray(tools)) report('tools-type', 'tools', `Expected an array, got ${describe(tools)}.`);
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) checkTool(tool, `tools[${index}]`, names, report);
  checkChoice(toolChoice, names, report);
  if (!isRecord(modelSettings)) return;
  for (const key of caps) {
    const cap = modelSettings[key];
    if (!isAbsent(cap) && !(Number.isInteger(cap) && Number(cap) > 0))
      report('output-cap', `modelSettings.${key}`, `Expected a whole number above 0, got ${describe(cap)}.`);
  }
}

/** Tools of other shapes are the provider's own. */
function checkTool(tool: unknown, path: string, names: Set<unknown>, report: Report): void {
  const name = nameOf(tool);
  if (!isRecord(tool)) report('tool-type', path, `Expected a tool, got ${describe(tool)}.`);
  else if ('schema' in tool && (typeof name !== 'string' || name === ''))
    report('tool-name', `${path}.name`, `Expected a name, got ${describe(name)}.`);
  else if (name !== undefined && names.has(name))
    report('tool-name-twice', `${path}.name`, `Expected names that differ, got ${describe(name)} twice.`);
  if (name !== undefined) names.add(name);
}

function checkChoice(choice: unknown, names: ReadonlySet<unknown>, report: Report): void {
  if (isAbsent(choice)) return;
  if (names.size === 0) report('choice-without-tools', 'toolChoice', 'Expected tools beside a tool choice.');
  else if (!choices.has(choice) && !names.has(nameOf(choice) ?? choice))
    report(
      'choice-unknown',
      'toolChoice',
      `Expected auto, none, required or a tool of the request, got ${describe(nameOf(choice) ?? choice)}.`,
    );
}

function nameOf(value: unknown): unknown {
  if (!isRecord(value)) return undefined;
  return isRecord(value.function) ? value.function.name : value.name;
}

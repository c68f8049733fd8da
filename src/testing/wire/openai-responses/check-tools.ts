import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

export function checkTools({ tools, tool_choice }: Fields, report: Report): void {
  if (!isAbsent(tools) && !Array.isArray(tools)) report('tools-type', 'tools', `Expected an array, got ${describe(tools)}.`);
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  list.forEach((tool, index) => {
    if (!isRecord(tool) || typeof tool.type !== 'string')
      report('tool-type', `tools[${index}]`, `Expected a tool with a type, got ${describe(tool)}.`);
    else if ((tool.type === 'function' || tool.type === 'custom') && !isFilled(tool.name))
      report('tool-name', `tools[${index}].name`, `Expected a name that is not empty, got ${describe(tool.name)}.`);
  });
  if (isAbsent(tool_choice) || tool_choice === 'auto') return;
  if (list.length === 0)
    report('choice-without-tools', 'tool_choice', `Expected auto where there are no tools, got ${describe(tool_choice)}.`);
  else if (!isKnownChoice(tool_choice, list))
    report(
      'choice-unknown',
      'tool_choice',
      `Expected none, auto, required or a tool of the request, got ${nameOf(tool_choice)}.`,
    );
}

/** Choices of the provider's own tools are known by their type. */
function isKnownChoice(choice: unknown, tools: readonly unknown[]): boolean {
  if (!isRecord(choice)) return choice === 'none' || choice === 'required';
  if (choice.type !== 'function' && choice.type !== 'custom') return typeof choice.type === 'string';
  return tools.some((tool) => isRecord(tool) && tool.type === choice.type && tool.name === choice.name);
}

function nameOf(choice: unknown): string {
  return describe(isRecord(choice) ? (choice.name ?? choice.type) : choice);
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

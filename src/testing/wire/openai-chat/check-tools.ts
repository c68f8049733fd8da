import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

export function checkTools(body: Fields, report: Report): void {
  checkList(body, 'tools', report);
  checkList(body, 'functions', report);
  checkChoice(body, report);
  if (!isAbsent(body.parallel_tool_calls) && isAbsent(body.tools))
    report('parallel-without-tools', 'parallel_tool_calls', 'Expected no parallel_tool_calls where there are no tools.');
  if (!isAbsent(body.function_call) && isAbsent(body.functions))
    report('choice-without-tools', 'function_call', 'Expected no function_call where there are no functions.');
}

function checkList(body: Fields, field: string, report: Report): void {
  const list = body[field];
  if (list === undefined) return;
  if (!Array.isArray(list)) report('tools-type', field, `Expected an array, got ${describe(list)}.`);
  else if (list.length === 0) report('tools-empty', field, 'Expected at least one entry, or no such field.');
  else
    list.forEach((tool: unknown, index) => {
      if (nameOf(tool) === undefined && (field === 'functions' || hasKnownType(tool)))
        report('tool-name', `${field}[${index}]`, 'Expected a name that is not empty.');
    });
}

function checkChoice({ tools, tool_choice }: Fields, report: Report): void {
  if (isAbsent(tool_choice)) return;
  if (isAbsent(tools)) {
    report('choice-without-tools', 'tool_choice', 'Expected no tool_choice where there are no tools.');
    return;
  }
  if (tool_choice === 'none' || tool_choice === 'auto' || tool_choice === 'required') return;
  if (isRecord(tool_choice) && tool_choice.type === 'allowed_tools') return;
  const name = nameOf(tool_choice);
  const names = Array.isArray(tools) ? tools.map(nameOf) : [];
  if (name === undefined || !names.includes(name))
    report(
      'choice-unknown',
      'tool_choice',
      `Expected none, auto, required or a tool of the request, got ${describe(name ?? tool_choice)}.`,
    );
}

/** Tools of other types are the server's own and need no name. */
function hasKnownType(tool: unknown): boolean {
  return !isRecord(tool) || tool.type === 'function' || tool.type === 'custom' || tool.type === undefined;
}

function nameOf(tool: unknown): string | undefined {
  if (!isRecord(tool)) return undefined;
  const body = isRecord(tool.function) ? tool.function : isRecord(tool.custom) ? tool.custom : tool;
  return typeof body.name === 'string' && body.name !== '' ? body.name : undefined;
}

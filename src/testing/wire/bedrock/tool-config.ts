import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';
import type { WireMessage } from './messages.ts';

const legalName = /^[a-zA-Z0-9_-]{1,64}$/;

/** The tools of a request: there wherever a call or a result is, each with a name of its own. */
export function checkToolConfig({ toolConfig }: Fields, messages: readonly WireMessage[], report: Report): void {
  if (isAbsent(toolConfig)) {
    const used = messages.flatMap(({ blocks }) => blocks).find(({ kind }) => kind === 'toolUse' || kind === 'toolResult');
    if (used) report('tool-config-missing', used.path, 'Expected `toolConfig` beside toolUse and toolResult blocks.');
    return;
  }
  const tools = isRecord(toolConfig) ? toolConfig.tools : undefined;
  if (!isRecord(toolConfig) || !Array.isArray(tools) || tools.length === 0) {
    report('tools-empty', 'toolConfig.tools', `Expected at least one tool, got ${describe(tools)}.`);
    return;
  }
  const names = new Set<unknown>();
  for (const [index, tool] of tools.entries()) {
    const path = `toolConfig.tools[${index}]`;
    if (isRecord(tool) && (isRecord(tool.cachePoint) || isRecord(tool.systemTool))) continue;
    const spec = isRecord(tool) && isRecord(tool.toolSpec) ? tool.toolSpec : undefined;
    if (!spec || typeof spec.name !== 'string' || !legalName.test(spec.name))
      report('tool-spec', path, 'Expected a toolSpec with a name of 1 to 64 letters, digits, _ or -.');
    else if (names.has(spec.name)) report('tool-name-repeated', path, `Expected one tool named ${spec.name}.`);
    if (spec && !(isRecord(spec.inputSchema) && isRecord(spec.inputSchema.json)))
      report('tool-schema', `${path}.toolSpec.inputSchema`, 'Expected a JSON schema under `json`.');
    names.add(spec?.name);
  }
  checkChoice(toolConfig.toolChoice, names, report);
}

function checkChoice(choice: unknown, names: ReadonlySet<unknown>, report: Report): void {
  if (isAbsent(choice)) return;
  const known = isRecord(choice) ? ['auto', 'any', 'tool'].filter((key) => isRecord(choice[key])) : [];
  if (!isRecord(choice) || known.length !== 1) {
    report('tool-choice', 'toolConfig.toolChoice', 'Expected auto, any or tool.');
    return;
  }
  if (isRecord(choice.tool) && !names.has(choice.tool.name))
    report(
      'tool-choice-unknown',
      'toolConfig.toolChoice.tool.name',
      `Expected a tool of the request, got ${describe(choice.tool.name)}.`,
    );
}

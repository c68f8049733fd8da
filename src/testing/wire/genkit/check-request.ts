import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

const toolChoices = new Set<unknown>(['auto', 'required', 'none']);
const mostStopSequences = 5;

/** What stands beside the messages. */
export function checkRequest({ tools, toolChoice, config, output, docs }: Fields, report: Report): void {
  const hasTools = Array.isArray(tools) && tools.length > 0;
  if (!isAbsent(tools) && !Array.isArray(tools)) report('tools-type', 'tools', `Expected an array, got ${describe(tools)}.`);
  if (hasTools) checkTools(tools, report);
  if (!isAbsent(toolChoice)) {
    if (!toolChoices.has(toolChoice))
      report('tool-choice', 'toolChoice', `Expected auto, required or none, got ${describe(toolChoice)}.`);
    if (!hasTools) report('tool-choice-without-tools', 'toolChoice', 'Expected tools beside a tool choice.');
  }
  if (isRecord(config)) checkConfig(config, report);
  if (!isAbsent(output)) checkOutput(output, report);
  if (Array.isArray(docs))
    for (const [index, document] of docs.entries())
      if (!isRecord(document) || !Array.isArray(document.content))
        report('document', `docs[${index}]`, 'Expected a document with content.');
}

function checkTools(tools: readonly unknown[], report: Report): void {
  const names = new Set<unknown>();
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    const { name, description, inputSchema }: Fields = isRecord(tool) ? tool : {};
    if (typeof name !== 'string' || name === '') report('tool-field', `${path}.name`, `Expected a name, got ${describe(name)}.`);
    else if (names.has(name))
      report('tool-name-twice', `${path}.name`, `Expected names that differ, got ${describe(name)} twice.`);
    names.add(name);
    if (typeof description !== 'string')
      report('tool-field', `${path}.description`, `Expected a text, got ${describe(description)}.`);
    if (!isAbsent(inputSchema) && !isRecord(inputSchema))
      report('tool-field', `${path}.inputSchema`, `Expected a schema, got ${describe(inputSchema)}.`);
  }
}

function checkConfig({ maxOutputTokens, stopSequences }: Fields, report: Report): void {
  if (!isAbsent(maxOutputTokens) && !(Number.isInteger(maxOutputTokens) && Number(maxOutputTokens) > 0))
    report('output-cap', 'config.maxOutputTokens', `Expected a whole number above 0, got ${describe(maxOutputTokens)}.`);
  if (Array.isArray(stopSequences) && stopSequences.length > mostStopSequences)
    report('stop-sequences', 'config.stopSequences', `Expected at most ${mostStopSequences}, got ${stopSequences.length}.`);
}

function checkOutput(output: unknown, report: Report): void {
  const { format, schema }: Fields = isRecord(output) ? output : {};
  if (!isRecord(output)) report('output-type', 'output', `Expected an object, got ${describe(output)}.`);
  if (!isAbsent(format) && typeof format !== 'string')
    report('output-type', 'output.format', `Expected a text, got ${describe(format)}.`);
  if (!isAbsent(schema) && !isRecord(schema))
    report('output-type', 'output.schema', `Expected a schema, got ${describe(schema)}.`);
}

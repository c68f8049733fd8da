import { checkLevel } from '../check-level.ts';
import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';
import { readContent } from './check-contents.ts';
import { renameFields } from './read-request.ts';

/** Taken in small letters, too. */
const thinkingLevels = ['THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];

/** What stands beside the contents. */
export function checkSettings(settings: Fields, report: Report): void {
  const { maxOutputTokens: cap, cachedContent, systemInstruction: system } = settings;
  if (!isAbsent(cap) && !(Number.isInteger(cap) && Number(cap) > 0))
    report('output-cap', 'maxOutputTokens', `Expected a whole number above 0, got ${describe(cap)}.`);
  if (!isAbsent(cachedContent))
    for (const name of ['systemInstruction', 'tools', 'toolConfig'])
      if (name in settings) report('cached-content', name, 'Expected it in the cached content, not beside it.');
  if (typeof system === 'string' ? system === '' : isRecord(system) && ('parts' in system || 'role' in system))
    checkSystem(system, report);
  checkTools(settings, report);
  checkFormat(settings, report);
  const thinking = isRecord(settings.thinkingConfig) ? renameFields(settings.thinkingConfig) : {};
  if ('thinkingBudget' in thinking && 'thinkingLevel' in thinking)
    report('thinking-twice', 'thinkingConfig', 'Expected a thinking budget or a thinking level, got both.');
  const { thinkingLevel: level } = thinking;
  checkLevel(typeof level === 'string' ? level.toUpperCase() : level, thinkingLevels, 'thinkingConfig.thinkingLevel', report);
}

function checkSystem(system: unknown, report: Report): void {
  if (system === '') report('part-empty', 'systemInstruction', 'Expected a text, got "".');
  else readContent({ ...(isRecord(system) ? system : {}), role: 'user' }, 'systemInstruction', report);
}

function checkTools({ tools, toolConfig }: Fields, report: Report): void {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const declares = list.some((tool) => {
    if (!isRecord(tool)) return false;
    // A tool of the SDK declares its functions when it is asked.
    if (typeof tool.callTool === 'function') return true;
    const { functionDeclarations } = renameFields(tool);
    return Array.isArray(functionDeclarations) && functionDeclarations.length > 0;
  });
  const config = isRecord(toolConfig) ? renameFields(toolConfig) : {};
  if (!('functionCallingConfig' in config)) return;
  if (!declares)
    report('tool-config-without-functions', 'toolConfig', 'Expected functions beside a setting of how they are called.');
  const calling = isRecord(config.functionCallingConfig) ? renameFields(config.functionCallingConfig) : {};
  if ('allowedFunctionNames' in calling && calling.mode !== 'ANY' && calling.mode !== 'VALIDATED')
    report('allowed-functions', 'toolConfig', `Expected names of functions in the mode ANY only, got ${describe(calling.mode)}.`);
}

function checkFormat(settings: Fields, report: Report): void {
  const schema = ['responseSchema', 'responseJsonSchema'].find((name) => name in settings);
  if (schema && isAbsent(settings.responseMimeType))
    report('schema-without-type', schema, 'Expected `responseMimeType` beside a schema.');
}

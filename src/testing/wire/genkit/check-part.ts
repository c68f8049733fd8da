import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

/** Of these a part has one. `data` and `custom` may stand beside it, or alone. */
const kinds = ['text', 'media', 'toolRequest', 'toolResponse', 'reasoning', 'resource'];

/** Where a part may stand. Plugins throw on others, or lose them. */
const rolesOf: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['text', ['system', 'user', 'model']],
  ['toolRequest', ['model']],
  ['toolResponse', ['tool']],
  ['reasoning', ['model']],
  ['media', ['user', 'model']],
  ['resource', ['user', 'model']],
]);

export function checkPart(part: unknown, role: unknown, path: string, report: Report): void {
  if (!isRecord(part)) {
    report('part-type', path, `Expected a part, got ${describe(part)}.`);
    return;
  }
  const [kind, ...others] = kinds.filter((key) => part[key] !== undefined);
  if (others.length > 0)
    report('part-kind', path, `Expected one of ${kinds.join(', ')}, got ${[kind, ...others].join(' and ')}.`);
  if (!isAbsent(part.metadata) && !isRecord(part.metadata))
    report('metadata', `${path}.metadata`, `Expected an object, got ${describe(part.metadata)}.`);
  if (kind === undefined) checkOpaque(part, path, report);
  else checkRole(kind, role, path, report);
  if (kind === 'text') checkText(part, role, `${path}.text`, report);
  else if (kind === 'reasoning') expectText(part.reasoning, `${path}.reasoning`, report, true);
  else if (kind === 'media') expectText(fieldOf(part.media, 'url'), `${path}.media.url`, report);
  else if (kind === 'resource') expectText(fieldOf(part.resource, 'uri'), `${path}.resource.uri`, report);
  else if (kind === 'toolRequest') {
    expectText(fieldOf(part.toolRequest, 'name'), `${path}.toolRequest.name`, report);
    checkRef(part.toolRequest, `${path}.toolRequest.ref`, report);
    if (fieldOf(part.toolRequest, 'input') === undefined)
      report('input-missing', `${path}.toolRequest.input`, 'Expected the input of a call.');
  } else if (kind === 'toolResponse') {
    expectText(fieldOf(part.toolResponse, 'name'), `${path}.toolResponse.name`, report);
    checkRef(part.toolResponse, `${path}.toolResponse.ref`, report);
    if (fieldOf(part.toolResponse, 'output') === undefined && fieldOf(part.toolResponse, 'content') === undefined)
      report('output-missing', `${path}.toolResponse.output`, 'Expected an output, or content.');
  }
}

function checkOpaque(part: Fields, path: string, report: Report): void {
  if (part.custom === undefined ? part.data === undefined : !isRecord(part.custom))
    report('part-kind', path, `Expected one of ${kinds.join(', ')}, data or custom, got ${Object.keys(part).join(', ')}.`);
}

function checkRole(kind: string, role: unknown, path: string, report: Report): void {
  if (!rolesOf.get(kind)?.includes(role))
    report('part-role', path, `Expected no ${kind} in a message of role ${describe(role)}.`);
}

/** The plugin for OpenAI throws on an empty text of the user. Gemini signs empty texts of the model. */
function checkText(part: Fields, role: unknown, path: string, report: Report): void {
  if (typeof part.text !== 'string') report('part-field', path, `Expected a text, got ${describe(part.text)}.`);
  else if (!/\S/.test(part.text) && !(role === 'model' && isRecord(part.metadata)))
    report('blank-text', path, 'Expected text that is not blank.');
}

function checkRef(value: unknown, path: string, report: Report): void {
  const ref = fieldOf(value, 'ref');
  if (ref !== undefined && typeof ref !== 'string') report('part-field', path, `Expected a text, got ${describe(ref)}.`);
}

function expectText(value: unknown, path: string, report: Report, mayBeEmpty = false): void {
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty))
    report('part-field', path, `Expected a text, got ${describe(value)}.`);
}

function fieldOf(value: unknown, key: string): unknown {
  return isRecord(value) ? value[key] : undefined;
}

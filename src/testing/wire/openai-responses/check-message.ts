import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

const inputParts = ['input_text', 'input_image', 'input_file', 'input_audio'];
/** The content parts that each role takes. */
const partTypes: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['user', inputParts],
  ['system', inputParts],
  ['developer', inputParts],
  ['assistant', ['output_text', 'refusal']],
]);

/** Of these fields of a part, one has to be a text. */
const sources: ReadonlyMap<string, readonly string[]> = new Map([
  ['input_text', ['text']],
  ['output_text', ['text']],
  ['refusal', ['refusal']],
  ['input_image', ['image_url', 'file_id']],
  ['input_file', ['file_data', 'file_id', 'file_url']],
]);

export function checkMessage(message: Fields, path: string, report: Report): void {
  const { role, content, phase } = message;
  if (!partTypes.has(role)) {
    report('unknown-role', `${path}.role`, `Expected a known role, got ${describe(role)}.`);
    return;
  }
  if (!isAbsent(phase) && (role !== 'assistant' || (phase !== 'commentary' && phase !== 'final_answer')))
    report('phase', `${path}.phase`, `Expected commentary or final_answer, of the assistant, got ${describe(phase)}.`);
  if (typeof content === 'string') {
    if (!/\S/.test(content)) report('blank-content', `${path}.content`, 'Expected text that is not blank.');
  } else if (!Array.isArray(content))
    report('content-type', `${path}.content`, `Expected a text or an array of content parts, got ${describe(content)}.`);
  // What the model put out may be blank.
  else checkParts(content, role, `${path}.content`, report, role === 'assistant' && typeof message.id === 'string');
}

/** Content parts of a message, or of the result of a tool. */
export function checkParts(parts: readonly unknown[], role: unknown, path: string, report: Report, maybeBlank = false): void {
  if (parts.length === 0) report('content-empty', path, 'Expected at least one content part.');
  parts.forEach((part, index) => {
    checkPart(part, role, `${path}[${index}]`, report, maybeBlank);
  });
}

function checkPart(part: unknown, role: unknown, path: string, report: Report, maybeBlank: boolean): void {
  const type = isRecord(part) ? part.type : undefined;
  if (!isRecord(part) || typeof type !== 'string') {
    report('part-type', path, `Expected a content part with a type, got ${describe(part)}.`);
    return;
  }
  const allowed = partTypes.get(role) ?? [];
  if (!allowed.includes(type)) {
    report('part-not-allowed', path, `Expected ${allowed.join(' or ')} in role ${describe(role)}, got ${describe(type)}.`);
    return;
  }
  if ('parsed' in part) report('unknown-field', `${path}.parsed`, 'Expected no field that an SDK added.');
  const fields = sources.get(type) ?? [];
  const text = fields.map((field) => part[field]).find((value) => typeof value === 'string');
  if (fields.length > 0 && text === undefined)
    report('part-field', path, `Expected ${fields.join(' or ')} to be a text in a part ${describe(type)}.`);
  else if (typeof text === 'string' && !maybeBlank && !/\S/.test(text))
    report('blank-content', path, 'Expected text that is not blank.');
}

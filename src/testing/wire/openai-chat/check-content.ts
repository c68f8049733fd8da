import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

/** The content parts that each role takes. Images, sound and files belong to the user. */
const partTypes: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['system', ['text']],
  ['developer', ['text']],
  ['user', ['text', 'image_url', 'input_audio', 'file']],
  ['assistant', ['text', 'refusal']],
  ['tool', ['text']],
]);

export function checkContent(message: Fields, path: string, report: Report): void {
  const { role, content } = message;
  const at = `${path}.content`;
  const standsWithout = role === 'function' || (role === 'assistant' && saysWithoutContent(message));
  if (isAbsent(content)) {
    if (!standsWithout) report('content-missing', at, `Expected content in a message of role ${describe(role)}.`);
  } else if (typeof content === 'string') checkText(content, role, standsWithout, at, report);
  else if (!Array.isArray(content) || role === 'function')
    report('content-type', at, `Expected a string or an array of content parts, got ${describe(content)}.`);
  else if (content.length === 0) report('content-empty', at, 'Expected at least one content part.');
  else for (const [index, part] of content.entries()) checkPart(part, role, `${at}[${index}]`, report);
}

function saysWithoutContent({ tool_calls, function_call, audio, refusal }: Fields): boolean {
  return (
    Array.isArray(tool_calls) || isRecord(function_call) || isRecord(audio) || (typeof refusal === 'string' && refusal !== '')
  );
}

/** A tool may return nothing. An assistant that calls tools may say nothing, which is not the same as saying white space. */
function checkText(text: string, role: unknown, standsWithout: boolean, path: string, report: Report): void {
  if (/\S/.test(text) || role === 'tool' || role === 'function' || (standsWithout && text === '')) return;
  report('blank-content', path, 'Expected text that is not blank.');
}

function checkPart(part: unknown, role: unknown, path: string, report: Report): void {
  const type = isRecord(part) ? part.type : undefined;
  if (!isRecord(part) || typeof type !== 'string') {
    report('part-type', path, `Expected a content part with a type, got ${describe(part)}.`);
    return;
  }
  const allowed = partTypes.get(role) ?? [];
  if (!allowed.includes(type)) {
    report(
      'part-not-allowed',
      path,
      `Expected ${allowed.join(' or ')} in a message of role ${describe(role)}, got ${describe(type)}.`,
    );
    return;
  }
  const missing = missingField(part, type);
  if (missing) report('part-field', `${path}.${missing}`, 'Expected a string.');
  else if (type === 'text' && !/\S/.test(String(part.text)))
    report('blank-content', `${path}.text`, 'Expected text that is not blank.');
}

function missingField(part: Fields, type: string): string | undefined {
  if (type === 'text' || type === 'refusal') return typeof part[type] === 'string' ? undefined : type;
  const body = isRecord(part[type]) ? part[type] : {};
  const needed = type === 'image_url' ? ['url'] : type === 'input_audio' ? ['data', 'format'] : [];
  const missing = needed.find((field) => typeof body[field] !== 'string' || body[field] === '');
  if (missing) return `${type}.${missing}`;
  return type === 'file' && typeof body.file_data !== 'string' && typeof body.file_id !== 'string' ? 'file.file_data' : undefined;
}

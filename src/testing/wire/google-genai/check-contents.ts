import { describe, isAbsent, isRecord, type Report } from '../report.ts';
import { holds, renameFields, type WireContent, type WirePart } from './read-request.ts';

/** Fields of which a part has one; the others say more of it. */
const data = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

/** The contents with a legal role and parts; what is wrong with the others is reported. Texts and parts alone are one content. */
export function readContents(value: unknown, report: Report): WireContent[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : isAbsent(value) || value === '' ? [] : [value];
  if (list.length === 0) report('contents-empty', 'contents', 'Expected at least one content.');
  const isContents = list.some((entry) => isRecord(entry) && ('parts' in entry || 'role' in entry));
  if (isContents) return list.flatMap((content, index) => readContent(content, `contents[${index}]`, report));
  const parts = list.map((part) => (typeof part === 'string' ? { text: part } : part));
  return list.length === 0 ? [] : readContent({ role: 'user', parts }, 'contents', report);
}

export function readContent(content: unknown, path: string, report: Report): WireContent[] {
  if (!isRecord(content)) {
    report('content-type', path, `Expected a content, got ${describe(content)}.`);
    return [];
  }
  const role = content.role ?? 'user';
  if (role !== 'user' && role !== 'model' && role !== 'function') {
    report('unknown-role', `${path}.role`, `Expected user or model, got ${describe(role)}.`);
    return [];
  }
  const parts = readParts(content.parts, `${path}.parts`, report);
  const kind = role === 'model' ? 'model' : parts.some((part) => holds(part, 'functionResponse')) ? 'results' : 'user';
  return [{ path, role: role === 'model' ? 'model' : 'user', kind, parts }];
}

function readParts(parts: unknown, path: string, report: Report): WirePart[] {
  if (!Array.isArray(parts) || parts.length === 0) {
    report('parts-empty', path, `Expected at least one part, got ${describe(parts)}.`);
    return [];
  }
  return parts.flatMap((part: unknown, index) => {
    const at = `${path}[${index}]`;
    if (!isRecord(part)) {
      report('part-type', at, `Expected a part, got ${describe(part)}.`);
      return [];
    }
    const fields = renameFields(part);
    checkData({ path: at, fields }, report);
    return [{ path: at, fields }];
  });
}

function checkData(part: WirePart, report: Report): void {
  const { path, fields } = part;
  const kinds = data.filter((name) => holds(part, name));
  if (kinds.length > 1) report('part-of-two-kinds', path, `Expected one of ${kinds.join(' and ')}.`);
  // A signature may come with an empty text, or by itself.
  if ('thoughtSignature' in fields) return;
  const isEmpty = Object.entries(fields).every(([key, value]) => key === 'thought' || value === '');
  if (isEmpty) report('part-empty', path, 'Expected a part that says something.');
}

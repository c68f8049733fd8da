import { describe, isAbsent, isRecord, type Report } from '../report.ts';
import { checkPart } from './check-part.ts';

const roles = new Set<unknown>(['system', 'user', 'model', 'tool']);

export function checkMessage(message: unknown, path: string, report: Report): void {
  if (!isRecord(message)) {
    report('message-type', path, `Expected a message, got ${describe(message)}.`);
    return;
  }
  const { role, content, metadata } = message;
  if (!roles.has(role)) report('unknown-role', `${path}.role`, `Expected system, user, model or tool, got ${describe(role)}.`);
  if (!isAbsent(metadata) && !isRecord(metadata))
    report('metadata', `${path}.metadata`, `Expected an object, got ${describe(metadata)}.`);
  if (!Array.isArray(content)) report('content-type', `${path}.content`, `Expected an array, got ${describe(content)}.`);
  else if (content.length === 0) report('content-empty', `${path}.content`, 'Expected at least one part.');
  else for (const [index, part] of content.entries()) checkPart(part, role, `${path}.content[${index}]`, report);
}

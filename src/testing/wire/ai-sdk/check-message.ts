import { describe, isRecord, type Report } from '../report.ts';
import { checkPart } from './check-part.ts';
import { checkProviderOptions } from './check-provider-options.ts';

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** One message and its parts, by themselves. */
export function checkMessage(message: unknown, path: string, report: Report): void {
  const { role, content, providerOptions } = isRecord(message) ? message : {};
  checkProviderOptions(providerOptions, path, report);
  if (!isRecord(message)) report('message', path, `Expected a message, got ${describe(message)}.`);
  else if (typeof role !== 'string' || !roles.has(role))
    report('unknown-role', `${path}.role`, `Expected system, user, assistant or tool, got ${describe(role)}.`);
  else if (role === 'system') {
    if (typeof content !== 'string') report('content', `${path}.content`, `Expected a text, got ${describe(content)}.`);
  } else if (!Array.isArray(content))
    report('content', `${path}.content`, `Expected an array of parts, got ${describe(content)}.`);
  else {
    if (content.length === 0) report('content-empty', `${path}.content`, 'Expected at least one part.');
    for (const [index, part] of content.entries()) checkPart(part, role, `${path}.content[${index}]`, report);
  }
}

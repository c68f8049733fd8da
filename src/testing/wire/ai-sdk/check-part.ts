import { isBytes, isUrl } from '../../../any-realm.ts';
import { describe, type Fields, isRecord, type Report } from '../report.ts';
import { checkOutput } from './check-output.ts';
import { checkProviderOptions } from './check-provider-options.ts';

/** Which parts a message of a role may hold: a provider passes over others, or sends a hole in their place. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'file'],
  assistant: ['text', 'file', 'reasoning', 'tool-call', 'tool-result'],
  tool: ['tool-result', 'tool-approval-response'],
};

export function checkPart(part: unknown, role: string, path: string, report: Report): void {
  if (!isRecord(part) || typeof part.type !== 'string')
    report('part', path, `Expected a part with a type, got ${describe(part)}.`);
  else if (!allowed[role]?.includes(part.type))
    report('part-role', path, `Expected no ${part.type} part in a message of the role ${role}.`);
  else {
    checkProviderOptions(part.providerOptions, path, report);
    checkFields(part, path, report);
  }
}

function checkFields(part: Fields, path: string, report: Report): void {
  const { type } = part;
  if (type === 'text') checkText(part, path, report);
  else if (type === 'reasoning') checkReasoning(part, path, report);
  else if (type === 'file') checkFile(part, path, report);
  else if (type === 'tool-approval-response') checkApproval(part, path, report);
  else {
    checkIds(part, path, report);
    if (type === 'tool-result') checkOutput(part.output, `${path}.output`, report);
    else if (part.input === undefined) report('call-input', path, 'Expected the input of the call.');
  }
}

/** What a provider keeps beside an empty text makes it something. */
function checkText({ text, providerOptions }: Fields, path: string, report: Report): void {
  if (typeof text !== 'string') report('part', path, `Expected a text, got ${describe(text)}.`);
  else if (!/\S/.test(text) && !isRecord(providerOptions))
    report('text-blank', path, 'Expected text that is not only white space.');
}

function checkReasoning({ text, providerOptions: options }: Fields, path: string, report: Report): void {
  if (typeof text !== 'string') report('part', path, `Expected a text, got ${describe(text)}.`);
  if (isRecord(options) && Object.values(options).some((record) => isRecord(record) && record.signature === ''))
    report('signature-empty', path, 'Expected a signature, or none at all.');
}

function checkFile({ data, mediaType }: Fields, path: string, report: Report): void {
  if (typeof mediaType !== 'string' || mediaType === '')
    report('file', path, `Expected a media type, got ${describe(mediaType)}.`);
  if (typeof data !== 'string' && !isBytes(data) && !isUrl(data))
    report('file', path, `Expected bytes, base64 or a URL, got ${describe(data)}.`);
}

function checkIds({ toolCallId, toolName }: Fields, path: string, report: Report): void {
  for (const [name, value] of Object.entries({ toolCallId, toolName }))
    if (typeof value !== 'string' || value === '')
      report('tool-id', `${path}.${name}`, `Expected a text, got ${describe(value)}.`);
}

function checkApproval({ approvalId, approved }: Fields, path: string, report: Report): void {
  if (typeof approvalId !== 'string' || typeof approved !== 'boolean')
    report('approval', path, 'Expected the id of a request, and whether it was approved.');
}

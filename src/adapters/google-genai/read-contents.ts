import { isRecord } from '../fields.ts';
import { invalidField } from '../invalid-request.ts';
import type { GeminiContent, GeminiPart, GeminiRequest } from './shape.ts';

const provider = 'google-genai';

/** Absent: the user's. `function`: what older clients call the turn with the results of tools. */
const roles = new Set<unknown>([undefined, null, '', 'user', 'model', 'function']);

/**
 * The contents as they are sent: the request's own array where it has contents; otherwise the one content that texts and parts make.
 *
 * @throws CompactionError `invalid-request` that names the content.
 */
export function readContents(request: GeminiRequest): readonly GeminiContent[] {
  const contents: unknown = isRecord(request) ? request.contents : request;
  if (!Array.isArray(contents)) {
    if (isContent(contents)) {
      checkContent(contents, 'contents');
      return [contents];
    }
    if (!isPart(contents)) throw invalidField(provider, 'contents', 'a text, a part, a content or an array of them', contents);
    return [{ role: 'user', parts: [writePart(contents)] }];
  }
  if (!contents.some(isContent)) return contents.length === 0 ? [] : [{ role: 'user', parts: contents.map(readPart) }];
  contents.forEach((content: unknown, index) => {
    checkContent(content, `contents[${index}]`);
  });
  // Checked just now, as far as the bound asks for it.
  return contents as readonly GeminiContent[];
}

function readPart(part: unknown, index: number): GeminiPart {
  if (!isPart(part)) throw invalidField(provider, `contents[${index}]`, 'a text, a part or a content', part);
  return writePart(part);
}

function writePart(part: string | GeminiPart): GeminiPart {
  return typeof part === 'string' ? { text: part } : part;
}

function isPart(value: unknown): value is string | GeminiPart {
  return typeof value === 'string' || isRecord(value);
}

function isContent(value: unknown): value is GeminiContent {
  return isRecord(value) && ('parts' in value || 'role' in value);
}

function checkContent(content: unknown, name: string): void {
  if (!isContent(content)) throw invalidField(provider, name, 'a content like the others', content);
  // Whatever JSON gave the caller.
  const { role, parts }: { role?: unknown; parts?: unknown } = content;
  if (!roles.has(role)) throw invalidField(provider, `${name}.role`, 'user or model', role);
  if (!Array.isArray(parts) && parts !== undefined && parts !== null)
    throw invalidField(provider, `${name}.parts`, 'an array', parts);
}

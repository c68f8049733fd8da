import { isPlainObject, isUrl } from '../../any-realm.ts';
import { isRecord, stringOf } from '../fields.ts';
import { isPart, type Part } from './parts.ts';

/** An attachment of the user's: what a tool returned comes in another form, and what was stored as JSON has lost bytes and addresses. */
export function writeFile(value: unknown): Part[] {
  if (!isPart(value)) return [];
  if (value.type === 'file') {
    const data = reviveData(value.data);
    return [data === value.data ? value : { ...value, data }];
  }
  const { type, data, url, mediaType, filename } = value;
  const source = typeof data === 'string' ? data : reviveData(url);
  // An id of the provider's has no form of its own here.
  if (typeof data !== 'string' && !isUrl(source)) return [];
  const kind = type.startsWith('image-') ? 'image/*' : 'application/octet-stream';
  const file = { type: 'file', mediaType: stringOf(mediaType) || kind, data: source };
  return [typeof filename === 'string' ? { ...file, filename } : file];
}

/** Bytes and a URL, of what JSON makes of them. */
function reviveData(data: unknown): unknown {
  if (typeof data === 'string') return /^https?:\/\//i.test(data) && URL.canParse(data) ? new URL(data) : data;
  if (!isRecord(data) || !isPlainObject(data)) return data;
  const bytes = data.type === 'Buffer' && Array.isArray(data.data) ? data.data : Object.values(data);
  return bytes.length > 0 && bytes.every((byte) => Number.isInteger(byte)) ? Uint8Array.from(bytes) : data;
}

import { hashText } from './hash-text.ts';

/**
 * An id that the provider takes. An illegal one is mapped, always to the same, so that a call and its result stay a pair. Where there is
 * none, there stays none: the library gives one to the call and to its result, and would take a mapped one for that of another call.
 */
export function legalToolId(id: string, legal: RegExp): string {
  return id === '' || legal.test(id) ? id : `${id.slice(0, 40).replace(/[^a-zA-Z0-9_-]/g, '_')}_${hashText(id)}`;
}

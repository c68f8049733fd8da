import { hashText } from './hash-text.ts';

/** An id that the provider takes. An illegal one is mapped, always to the same, so that a call and its result stay a pair. */
export function legalToolId(id: string, legal: RegExp): string {
  return legal.test(id) ? id : `${id.slice(0, 40).replace(/[^a-zA-Z0-9_-]/g, '_')}_${hashText(id)}`;
}

import { hashText } from '../hash-text.ts';

const legalId = /^[a-zA-Z0-9_-]{1,64}$/;

/** An id that the provider takes. An illegal one is mapped, always to the same, so that a call and its result stay a pair. */
export function legalToolId(id: string): string {
  if (legalId.test(id)) return id;
  return `${id.slice(0, 40).replace(/[^a-zA-Z0-9_-]/g, '_')}_${hashText(id)}`;
}

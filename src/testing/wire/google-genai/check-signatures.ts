import type { Report } from '../report.ts';
import { fieldsOf, holds, type WireContent } from './read-request.ts';

/** Gemini 3 and later look for the signatures of the current turn. */
const demanding = /(?:^|\/)gemini-(?:[3-9]|\d\d)/;

/** In the current turn, which begins with the newest words of the user, the first call of each content of the model is signed. */
export function checkSignatures(model: string, contents: readonly WireContent[], report: Report): void {
  if (!demanding.test(model)) return;
  const start = contents.findLastIndex(({ kind }) => kind === 'user');
  for (const { kind, parts } of contents.slice(start + 1)) {
    const call = kind === 'model' ? parts.find((part) => holds(part, 'functionCall')) : undefined;
    if (call && !call.fields.thoughtSignature)
      report(
        'call-unsigned',
        call.path,
        `Expected a thought signature on the call of ${String(fieldsOf(call, 'functionCall').name)}.`,
      );
  }
}

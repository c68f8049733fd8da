const escapeCode = String.fromCharCode(27);
const bell = String.fromCharCode(7);
const terminalCodes = new RegExp(`${escapeCode}(?:\\[[0-9;:?]*[ -/]*[@-~]|\\][^${bell}${escapeCode}]*${bell}?)`, 'g');

/** The text on one line: without terminal colours, control characters, runs of blanks and halves of surrogate pairs. */
export function toOneLine(text: string): string {
  const plain = text.includes(escapeCode) ? text.replace(terminalCodes, '') : text;
  return plain
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
}

/** At most `length` code units, cut between code points; `…` marks the cut. Clipping twice changes nothing. */
export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, cutBefore(text, length - 1)).trimEnd()}…`;
}

/** The largest position up to `end` that does not split a surrogate pair. */
export function cutBefore(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}

/** The lines of a text that are not empty, one at a time: no array of a million lines is built. */
export function* linesOf(text: string): Generator<string> {
  for (const match of text.matchAll(/[^\n\r\u2028\u2029]+/g)) yield match[0];
}

/** Equal for sentences that differ in blanks, case and punctuation alone. */
export function sentenceKey(sentence: string): string {
  return sentence.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '') || sentence;
}

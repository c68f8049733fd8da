import { cutBefore } from '../../history/well-formed.ts';

const escapeCode = String.fromCharCode(27);
const bell = String.fromCharCode(7);
const terminalCodes = new RegExp(`${escapeCode}(?:\\[[0-9;:?]*[ -/]*[@-~]|\\][^${bell}${escapeCode}]*${bell}?)`, 'g');

/**
 * No regular expression is given more code units at once: on a few million a greedy one overflows the stack, and one that goes back
 * and forth must not cost more than its piece.
 */
const longestPiece = 2_000;

/** Of a text that is longer than twice so many code units only the beginning and the end are read. */
const longestEnd = 100_000;

/**
 * The beginning of the text, at most 2,000 code units of it, on one line: without terminal colours, control characters, runs of
 * blanks and halves of surrogate pairs.
 */
export function toOneLine(text: string): string {
  const start = text.length <= longestPiece ? text : text.slice(0, cutBefore(text, longestPiece));
  const plain = start.includes(escapeCode) ? start.replace(terminalCodes, '') : start;
  return plain
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
}

/** At most `length` code units, cut between code points; `…` marks the cut. Clipping twice changes nothing. */
export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, cutBefore(text, length - 1)).trimEnd()}…`;
}

/**
 * The lines of a text that are not empty, one at a time: no array of a million lines is built. Of each line at most `longest` code
 * units, by default 2,000.
 */
export function* linesOf(text: string, longest: number = longestPiece): Generator<string> {
  for (const { 0: line } of text.matchAll(/[^\n\r\u2028\u2029]+/g))
    yield line.length <= longest ? line : line.slice(0, cutBefore(line, longest));
}

/** The whole text in pieces of at most 2,000 code units, cut where a sentence or a line ends, else at a blank, where one is near. */
export function* piecesOf(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > longestPiece) {
    const end = start + findCut(text.slice(start, start + longestPiece));
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function findCut(piece: string): number {
  for (const marks of [['\n', '. ', '! ', '? ', '。', '！', '？'], [' ']]) {
    const cut = 1 + Math.max(...marks.map((mark) => piece.lastIndexOf(mark)));
    if (cut > piece.length / 2) return cut;
  }
  return cutBefore(piece, piece.length);
}

/**
 * The first and the last 100,000 code units of a text that is longer than both, cut at a line break where one is near: what a tool
 * prints by the megabyte costs no more than that, and tells most where it begins and where it ends.
 */
export function endsOf(text: string): string {
  if (text.length <= 2 * longestEnd) return text;
  const head = text.slice(0, cutBefore(text, longestEnd));
  const tail = text.slice(cutBefore(text, text.length - longestEnd));
  const headEnd = head.lastIndexOf('\n');
  const tailStart = tail.indexOf('\n');
  const isNear = (distance: number) => distance < longestPiece;
  return `${isNear(head.length - headEnd) ? head.slice(0, headEnd) : head}\n${isNear(tailStart) ? tail.slice(tailStart + 1) : tail}`;
}

/** Equal for sentences that differ in blanks, case and punctuation alone. */
export function sentenceKey(sentence: string): string {
  return sentence.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '') || sentence;
}

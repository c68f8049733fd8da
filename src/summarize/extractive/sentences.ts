import { linesOf, piecesOf, toOneLine } from './line-text.ts';

const marker = /^\s*(?:(?:#{1,6}|[-*+•>]|\d{1,3}[.)]|\[[ xX]\])\s+)*/;
const sentenceEnd = /(?<=[.!?…][)"'`*\]]{0,2})(?<!\b(?:e\.g|i\.e|cf|vs|etc|approx)\.)\s+(?=[^\p{Ll}\s])|(?<=[。！？])/u;

/**
 * The sentences of a text, each on one line: code in fences is left out, and so are list marks, headings' marks and what holds no
 * letter or digit. A sentence of more than 2,000 code units falls into pieces.
 */
export function sentencesOf(text: string): string[] {
  return proseLines(text).flatMap((line) =>
    line
      .split(sentenceEnd)
      .map((sentence) => toOneLine(sentence))
      .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence)),
  );
}

/** Without the mark of a list item, a heading or a quotation. The line is no longer than a piece. */
export function withoutMarker(line: string): string {
  return line.replace(marker, '');
}

function proseLines(text: string): string[] {
  const lines = [...linesOf(text, Number.POSITIVE_INFINITY)];
  // A fence that is never closed hides nothing: what follows it may be a demand.
  let fences = lines.filter(isFence).length;
  fences -= fences % 2;
  let inside = false;
  const prose: string[] = [];
  for (const line of lines) {
    if (fences > 0 && isFence(line)) {
      inside = !inside;
      fences--;
    } else if (!inside) for (const piece of piecesOf(line)) prose.push(withoutMarker(piece));
  }
  return prose;
}

function isFence(line: string): boolean {
  return /^\s{0,8}(?:```|~~~)/.test(line);
}

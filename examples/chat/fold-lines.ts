/** What a reader takes for one character, however many code points it is made of. */
const graphemes = new Intl.Segmenter();
const empty = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]$/u;
const wide =
  /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Yi}\u3001-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
/** Asks for the coloured, wide form of the character before it. */
const emojiSign = '\ufe0f';

/** Text cut where a line ends or is full: the whole lines, and the beginning of the one that is still written. */
export function foldLines(text: string, columns: number): { lines: string[]; rest: string } {
  const lines: string[] = [];
  const whole = text.split('\n');
  const last = whole.pop() ?? '';
  for (const line of whole) lines.push(...cut(line, columns));
  const parts = cut(last, columns);
  const rest = parts.pop() ?? '';
  return { lines: [...lines, ...parts], rest };
}

/** Between words where that is possible, and never within a character. */
function cut(line: string, columns: number): string[] {
  const parts: string[] = [];
  let part = '';
  let width = 0;
  for (const { segment } of graphemes.segment(line)) {
    const added = countColumns(segment);
    if (width + added > columns && part !== '') {
      const space = segment === ' ' ? part.length : part.lastIndexOf(' ');
      parts.push(space > 0 ? part.slice(0, space) : part);
      part = space > 0 ? part.slice(space + 1) : '';
      width = countColumns(part);
      if (segment === ' ') continue;
    }
    part += segment;
    width += added;
  }
  return [...parts, part];
}

/** At most so many, where terminals differ: of what is joined into one character, some draw each. */
function countColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += character === emojiSign ? 1 : empty.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return columns;
}

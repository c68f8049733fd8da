import { summarySections } from '../prompt/guidance.ts';

/** True for a text that has one of the sections of a summary. */
export function hasSection(text: string): boolean {
  return missingHeadings(text, summarySections).length < summarySections.length;
}

/** Headings that a text must have and has not: as Markdown headings of any level, whatever their case and what follows on the line. */
export function missingHeadings(text: string | undefined, headings: readonly string[]): string[] {
  if (text === undefined) return []; // items of the provider's own have no headings to look for
  const titles = titlesIn(text);
  return headings.filter((heading) => !titles.some((title) => title.startsWith(readTitle(heading))));
}

function titlesIn(text: string): string[] {
  return [...text.matchAll(/^#{1,6}[ \t]*(\S.*)$/gm)].map(([, title = '']) => readTitle(title));
}

/** The words of a heading, without the marks, the number and the emphasis that may stand before them. */
function readTitle(heading: string): string {
  return heading
    .trim()
    .replace(/^#{1,6}[ \t]*/, '')
    .replace(/^[*_]{1,3}/, '')
    .replace(/^\d{1,3}[.)][ \t]+/, '')
    .replace(/^[*_]{1,3}/, '')
    .toLowerCase();
}

const path = /(?<![\w@~.-])(?:[\w@~.-]+[/\\])+[\w@.-]+|\b\w[\w-]+\.[a-z]\w{0,4}\b/i;
const identifier = /`[^`]+`|\b[a-z]+[A-Z]\w*|\b[A-Za-z]\w*_\w+|\b[A-Z][A-Z\d]{2,}\b|\b\w+\(\)/;
const longNumber = /\d[\d_,.]*\d|\b[\da-f]*\d[\da-f]{6,}\b/;

/** How much a text names that cannot be guessed again: numbers, paths, identifiers. 0 to 5. */
export function rateSpecificity(text: string): number {
  const number = longNumber.test(text) ? 2 : /\d/.test(text) ? 1 : 0;
  return number + (path.test(text) ? 1.5 : 0) + (identifier.test(text) ? 1.5 : 0);
}

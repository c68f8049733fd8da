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

/** Between words where that is possible. */
function cut(line: string, columns: number): string[] {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(' ', columns);
    parts.push(rest.slice(0, space > 0 ? space : columns));
    rest = rest.slice(space > 0 ? space + 1 : columns);
  }
  return [...parts, rest];
}

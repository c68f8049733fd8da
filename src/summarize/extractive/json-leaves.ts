const longestJson = 200_000;
const mostLeaves = 400;
const deepest = 12;

/** `price: 120` lines for the values in a JSON text; undefined where the text is no JSON object or list, or too long. */
export function jsonLeaves(text: string): string[] | undefined {
  if (text.length > longestJson || !/^\s*[[{]/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const leaves: string[] = [];
  collect(value, '', 0, leaves);
  return leaves;
}

function collect(value: unknown, name: string, depth: number, leaves: string[]): void {
  if (leaves.length >= mostLeaves || depth > deepest) return;
  if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) collect(inner, name === '' ? key : `${name}.${key}`, depth + 1, leaves);
  else if (value !== null && value !== '') leaves.push(`${name}: ${String(value)}`);
}

import { z } from 'zod';

const tagged = z.object({ type: z.string() });

/** The values of a JSON Lines file. */
export function parseLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line));
}

/** The `type` of a recorded event or part. */
export function typeOf(value: unknown): string {
  return tagged.parse(value).type;
}

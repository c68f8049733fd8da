import type { Ending, ReplyScript } from '../provider-kit.ts';

/** How a reply ends where its script does not say. */
export function endingOf({ calls = [], ending = calls.length > 0 ? 'tool-calls' : 'stop' }: ReplyScript): Ending {
  return ending;
}

/** A text in two pieces, neither of them empty. */
export function halvesOf({ text = '' }: ReplyScript): string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter((piece) => piece !== '');
}

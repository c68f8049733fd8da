/** A line of the user. */
export type Command =
  | { name: 'ask'; text: string }
  | { name: 'compact'; focus: string | undefined }
  | { name: 'sessions' | 'help' | 'quit' | 'nothing' }
  | { name: 'unknown'; text: string };

export const commandHelp: readonly string[] = [
  '/compact [focus]  replace the conversation by a summary that pays attention to the focus',
  '/sessions         list the sessions of this folder',
  '/help             show this',
  '/quit             end; the session can be resumed with --session',
  'Esc cancels a compaction, Ctrl+C a turn. What you type meanwhile waits for its turn.',
];

export function readCommand(line: string): Command {
  const text = line.trim();
  if (text === '') return { name: 'nothing' };
  const [, typed, rest = ''] = /^\/([\w-]+)(?:\s+(.*))?$/s.exec(text) ?? [];
  if (typed === undefined) return { name: 'ask', text };
  const word = typed.toLowerCase();
  if (word === 'compact') return { name: word, focus: rest === '' ? undefined : rest };
  if (word === 'sessions' || word === 'help' || word === 'quit') return { name: word };
  return { name: 'unknown', text: `/${typed}` };
}

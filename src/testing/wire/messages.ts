import { describe, type Fields, type Report } from './report.ts';

/** The messages of a request; undefined, and reported, where there are none. */
export function readMessages({ messages }: Fields, report: Report): readonly unknown[] | undefined {
  if (!Array.isArray(messages)) report('messages-type', 'messages', `Expected an array, got ${describe(messages)}.`);
  else if (messages.length === 0) report('messages-empty', 'messages', 'Expected at least one message.');
  else return messages;
  return undefined;
}

/** Who speaks; undefined for whom nobody knows. */
export type Speaker = 'system' | 'user' | 'assistant' | 'tool' | undefined;

/** Who speaks first, who speaks last, and where the system message stands, for shapes whose packages take one, in front. */
export function checkSpeakers(speakers: readonly Speaker[], report: Report): void {
  for (const [index, speaker] of speakers.entries())
    if (speaker === 'system' && index > 0)
      report('system-first', `messages[${index}]`, 'Expected one system message, in the first place.');
  const first = speakers.findIndex((speaker) => speaker !== 'system');
  if (first === -1) report('no-user-message', 'messages', 'Expected at least one message of the user.');
  else if (speakers[first] === 'assistant' || speakers[first] === 'tool')
    report('first-message', `messages[${first}]`, 'Expected the user to speak first.');
  const last = speakers.findLastIndex((speaker) => speaker !== 'system');
  if (speakers[last] === 'assistant')
    report('last-message', `messages[${last}]`, 'Expected the user or a tool to have the last word.');
}

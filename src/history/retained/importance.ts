import { type Message, textOf } from '../../message.ts';

/** Parts of words count: who debugs speaks of an error, too. */
const errorWords = ['error', 'failed', 'failure', 'panic', 'bug', 'broken', 'regression'];
const correctionWords = ['no,', 'wrong', 'actually', 'fix', 'instead', 'should be', "don't"];

/** How much a message matters wherever it stands, from 0 to 3. A result without text is worth nothing by itself. V52, V53 */
export function importanceOf(message: Message): number {
  switch (message.role) {
    case 'user':
      return importanceOfWords(textOf(message).toLowerCase());
    case 'tool':
      return hasResultText(message) ? 2 : 0;
    case 'assistant':
      return message.parts.some(({ type }) => type === 'toolCall') ? 0.5 : 0.1;
    case 'system':
      return 0;
  }
}

function importanceOfWords(text: string): number {
  if (errorWords.some((word) => text.includes(word))) return 3;
  return correctionWords.some((word) => text.includes(word)) ? 2.5 : 1;
}

function hasResultText({ parts }: Message): boolean {
  return parts.some(
    (part) => part.type === 'toolResult' && part.content.some((content) => content.type === 'text' && content.text.trim() !== ''),
  );
}

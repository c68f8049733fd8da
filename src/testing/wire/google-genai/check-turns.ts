import type { Report } from '../report.ts';
import { holds, type WireContent } from './read-request.ts';

/** Who speaks first and who last. Results are turns of their own between those of the model and of the user. */
export function checkTurns(contents: readonly WireContent[], report: Report): void {
  const [first] = contents;
  if (first?.kind === 'model') report('first-turn', first.path, 'Expected the user to speak first, got the model.');
  const last = contents.at(-1);
  if (last?.kind === 'model')
    report('last-turn', last.path, 'Expected the user or a function to have the last word, got the model.');
  contents.forEach((content, index) => {
    const { path, kind, parts } = content;
    // Texts in a row are one turn to the provider, as streamed chats of the SDK send them.
    if (kind === 'results' && contents[index - 1]?.kind === 'results')
      report('results-together', path, 'Expected all results of a turn in one content, got another.');
    const other = parts.find((part) => !holds(part, 'functionResponse'));
    if (kind === 'results' && other)
      report('results-alone', other.path, 'Expected results to stand by themselves, got something beside them.');
    for (const part of parts) {
      if (kind !== 'model' && holds(part, 'functionCall'))
        report('call-role', part.path, 'Expected calls in turns of the model only.');
      if (kind === 'model' && holds(part, 'functionResponse'))
        report('result-role', part.path, 'Expected results in turns of the user only.');
    }
  });
}

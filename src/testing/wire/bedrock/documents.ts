import type { Report } from '../report.ts';
import { readResultContent, type WireBlock, type WireMessage } from './messages.ts';

const mostDocuments = 5;
const longestName = 200;

/** A document has a name of its own, in few characters, and a text beside it. */
export function checkDocuments(messages: readonly WireMessage[], report: Report): void {
  const names = new Set<unknown>();
  for (const { blocks, path } of messages) {
    const documents = blocks.filter(isDocument);
    if (documents.length > mostDocuments)
      report('too-many-documents', path, `Expected at most ${mostDocuments} documents, found ${documents.length}.`);
    if (documents.length > 0 && !blocks.some(({ kind }) => kind === 'text'))
      report('document-without-text', path, 'Expected a text beside a document.');
    for (const document of blocks.flatMap(documentsIn)) {
      checkName(document, report);
      const { name } = document.fields;
      if (names.has(name))
        report('document-name-repeated', document.path, `Expected documents of different names, found ${String(name)} again.`);
      names.add(name);
    }
  }
}

function documentsIn(block: WireBlock): WireBlock[] {
  if (isDocument(block)) return [block];
  if (block.kind !== 'toolResult') return [];
  // What is wrong with the content itself has been said.
  return readResultContent(block.fields.content ?? [], `${block.path}.toolResult.content`, () => {}).filter(isDocument);
}

function isDocument({ kind }: WireBlock): boolean {
  return kind === 'document';
}

function checkName({ fields: { name }, path }: WireBlock, report: Report): void {
  const isLegal =
    typeof name === 'string' &&
    name.length > 0 &&
    name.length <= longestName &&
    /^[a-zA-Z0-9\s()[\]-]+$/.test(name) &&
    !/\s\s/.test(name);
  if (!isLegal)
    report(
      'document-name',
      path,
      `Expected 1 to ${longestName} letters, digits, hyphens, parentheses, square brackets and single white space.`,
    );
}

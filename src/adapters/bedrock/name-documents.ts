import { listOf } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { blocksOf, memberOf } from './blocks.ts';
import type { BedrockMessage } from './shape.ts';

const longestName = 200;

/** Gives a name that no document has yet: the same one, or with a number behind it. */
type NameFreely = (name: string) => string;

/**
 * The messages without two documents of one name, which the provider refuses anywhere in a request, results of tools included: a later
 * one gets a number. The very same objects wherever no name stands twice.
 */
export function nameDocumentsApart(messages: readonly BedrockMessage[]): readonly BedrockMessage[] {
  const nameFreely = createNames();
  return messages.map((message) => {
    const content = blocksOf(message).map((block) => nameInResult(nameDocument(block, nameFreely), nameFreely));
    return isSameList(content, blocksOf(message)) ? message : { ...message, content };
  });
}

function nameInResult<Block>(block: Block, nameFreely: NameFreely): Block {
  const result = memberOf(block, 'toolResult');
  if (!result) return block;
  const content = listOf(result.content).map((inner) => nameDocument(inner, nameFreely));
  return isSameList(content, listOf(result.content)) ? block : { ...block, toolResult: { ...result, content } };
}

function nameDocument<Block>(block: Block, nameFreely: NameFreely): Block {
  const document = memberOf(block, 'document');
  if (typeof document?.name !== 'string') return block;
  const name = nameFreely(document.name);
  return name === document.name ? block : { ...block, document: { ...document, name } };
}

function createNames(): NameFreely {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return (name) => {
    let count = counts.get(name) ?? 1;
    let free = name;
    while (taken.has(free)) free = `${name.slice(0, longestName - 12)} ${++count}`;
    counts.set(name, count);
    taken.add(free);
    return free;
  };
}

import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

/** An item with its type, which messages and references may leave out, and the place where it stands. */
export interface InputItem {
  kind: string;
  item: Fields;
  path: string;
}

/** The items that can be looked at; the others are reported. */
export function readInput(input: readonly unknown[], report: Report): InputItem[] {
  return input.flatMap((item, index) => {
    const path = `input[${index}]`;
    const kind = isRecord(item) ? kindOf(item) : undefined;
    if (isRecord(item) && kind !== undefined) return [{ kind, item, path }];
    report('item-type', path, `Expected an item with a type, a role or an id, got ${describe(item)}.`);
    return [];
  });
}

function kindOf({ type, role, id }: Fields): string | undefined {
  if (typeof type === 'string' && type !== '') return type;
  if (!isAbsent(type)) return undefined;
  if (typeof role === 'string') return 'message';
  return typeof id === 'string' ? 'item_reference' : undefined;
}

import { describe, type Report } from '../report.ts';
import type { InputItem } from './read-input.ts';

/** Where nothing is stored, nothing can be found by its id: items and what is sealed in them must be there. */
export function checkUnstored(items: readonly InputItem[], report: Report): void {
  for (const { kind, item, path } of items) {
    if (kind === 'item_reference')
      report('item-reference', path, `Expected the item itself, got a reference to ${describe(item.id)}.`);
    if (kind === 'reasoning' && typeof item.encrypted_content !== 'string')
      report('reasoning-unsealed', `${path}.encrypted_content`, 'Expected the encrypted content of reasoning.');
  }
}

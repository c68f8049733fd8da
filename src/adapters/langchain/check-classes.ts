import { CompactionError } from '../../errors.ts';
import { fieldsOf } from '../fields.ts';

/** @throws CompactionError `invalid-options` that names the class. */
export function checkClasses(classes: unknown): void {
  for (const name of ['HumanMessage', 'AIMessage', 'ToolMessage', 'SystemMessage'])
    if (typeof fieldsOf(classes)[name] !== 'function')
      throw new CompactionError(
        'invalid-options',
        `Expected \`messageClasses.${name}\` to be the class of that name, as LangChain exports it.`,
      );
}

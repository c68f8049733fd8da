import { fieldsOf, stringOf } from '../fields.ts';

const prefix = 'genkit:';

/**
 * Reads the ids of the calls, or of the results, of one message: their references. Where a model gives none, the name of the tool and the
 * place among those of the same name stand for one.
 */
export function createIdReader(): (half: unknown) => string {
  const places = new Map<string, number>();
  return (half) => {
    const { name, ref } = fieldsOf(half);
    if (typeof ref === 'string' && ref !== '') return ref;
    const place = places.get(stringOf(name)) ?? 0;
    places.set(stringOf(name), place + 1);
    return prefix + JSON.stringify([stringOf(name), place]);
  };
}

/** The name of the tool in the id of a call without a reference; undefined for any other id. */
export function nameInId(id: string): string | undefined {
  if (!id.startsWith(prefix)) return undefined;
  try {
    const [name]: unknown[] = JSON.parse(id.slice(prefix.length));
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}

import { isPlainObject } from '../../any-realm.ts';
import { type Fields, fieldsOf, isRecord } from '../fields.ts';

const described = new WeakMap<object, unknown>();
const deepestOutline = 5;

/**
 * A tool as the provider is told of it: LangChain's own are instances, with a schema of functions. Definitions in a provider's own form
 * are the very same objects.
 */
export function describeTool(tool: unknown): unknown {
  if (!isRecord(tool)) return tool;
  const { name, description, schema } = tool;
  if (isRecord(schema)) return { name, description, schema: describeSchema(schema) };
  return isPlain(tool) ? tool : { name, description };
}

/** Computed once for each schema: zod walks through all of it. */
function describeSchema(schema: Fields): unknown {
  const known = described.get(schema);
  if (known !== undefined) return known;
  const description = toJsonSchema(schema) ?? (isPlain(schema) ? schema : outline(schema, 0));
  described.set(schema, description);
  return description;
}

/** What zod and other libraries know of themselves. */
function toJsonSchema(schema: Fields): unknown {
  const { toJSONSchema: write, '~standard': standard } = schema;
  try {
    if (typeof write === 'function') return write.call(schema);
    const { jsonSchema } = fieldsOf(standard);
    const { input } = fieldsOf(jsonSchema);
    return typeof input === 'function' ? input.call(jsonSchema, { target: 'draft-07' }) : undefined;
  } catch {
    return undefined; // a part of it has no JSON schema
  }
}

/** For the older zod: the names of the fields and what is said of them. */
function outline(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > deepestOutline) return {};
  const { description, shape, _def: definition } = schema;
  const { typeName, values, innerType, type, schema: inner } = fieldsOf(definition);
  const within = [innerType, type, inner].find(isRecord);
  return {
    type: typeName,
    description,
    values,
    ...(isRecord(shape) && {
      properties: Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, outline(field, depth + 1)])),
    }),
    ...(within && { items: outline(within, depth + 1) }),
  };
}

function isPlain(value: object): boolean {
  return isPlainObject(value) && !('_def' in value);
}

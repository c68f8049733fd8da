import { type Fields, isNothing, isRecord } from '../fields.ts';

/** Fields that name what follows: repeated, not continued, where they come more than once. */
const names = new Set(['role', 'id', 'type', 'name', 'index', 'format', 'signature']);
/** Objects inside a delta are a few levels deep; anything deeper is replaced, not merged. */
const deepestMerge = 8;

/** Collects the deltas of a streamed message. */
export interface MessageAssembly {
  add(delta: Fields): void;
  /** The message so far, in the form of a reply object. */
  message(): Fields;
}

export function assembleMessage(): MessageAssembly {
  const fields: Fields = {};
  const lists = new Map<string, ListAssembly>();
  return {
    add(delta) {
      for (const [key, value] of Object.entries(delta)) {
        if (!Array.isArray(value)) mergeField(fields, key, value, 0);
        else {
          const list = lists.get(key) ?? assembleList(key === 'tool_calls');
          lists.set(key, list);
          value.forEach(list.add);
        }
      }
    },
    message() {
      const arrays = [...lists].map(([key, list]): [string, unknown] => [key, list.values()]);
      return { ...fields, ...Object.fromEntries(arrays) };
    },
  };
}

interface ListAssembly {
  add(entry: unknown): void;
  values(): unknown[];
}

/** Entries with the same `index` are pieces of one. Kept by first appearance, so that no index, however large, costs anything. */
function assembleList(isCalls: boolean): ListAssembly {
  const entries: unknown[] = [];
  const open = new Map<unknown, Fields>();
  let latest: Fields | undefined;
  return {
    add(entry) {
      if (!isRecord(entry)) {
        if (!isNothing(entry)) entries.push(entry);
        return;
      }
      let target = typeof entry.index === 'number' ? open.get(entry.index) : isCalls ? latest : undefined;
      if (!target || startsAnother(target, entry, isCalls)) {
        target = {};
        entries.push(target);
        if (typeof entry.index === 'number') open.set(entry.index, target);
      }
      latest = target;
      for (const [key, value] of Object.entries(entry)) mergeField(target, key, value, 1);
    },
    values() {
      return [...entries].sort((left, right) => indexOf(left) - indexOf(right));
    },
  };
}

/** Some servers send whole parallel calls, all with index 0 or without one: a new id with a new name is a new call. */
function startsAnother(target: Fields, entry: Fields, isCalls: boolean): boolean {
  if (differs(target.type, entry.type)) return true;
  const named = isRecord(entry.function) && !isNothing(entry.function.name);
  return (named || !isCalls) && differs(target.id, entry.id);
}

function differs(left: unknown, right: unknown): boolean {
  return !isNothing(left) && !isNothing(right) && left !== right;
}

function indexOf(entry: unknown): number {
  return isRecord(entry) && typeof entry.index === 'number' ? entry.index : 0;
}

function mergeField(target: Fields, key: string, value: unknown, depth: number): void {
  const before = Object.hasOwn(target, key) ? target[key] : undefined;
  if (isNothing(value) && before !== undefined) return;
  if (typeof before === 'string' && typeof value === 'string' && !names.has(key)) set(target, key, before + value);
  else if (isRecord(before) && isRecord(value) && depth < deepestMerge)
    for (const [inner, piece] of Object.entries(value)) mergeField(before, inner, piece, depth + 1);
  else set(target, key, isRecord(value) ? { ...value } : value);
}

/** As JSON does it: `__proto__` is a key like any other. */
function set(target: Fields, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

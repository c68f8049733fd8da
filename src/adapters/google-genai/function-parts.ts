import { type Fields, isRecord, listOf, stringOf } from '../fields.ts';
import { recordOf } from './field-names.ts';
import type { GeminiContent } from './shape.ts';

/** A call of a function of the caller. */
export interface Call {
  /** The provider's id, or one that stands for it. */
  id: string;
  name: string;
  /** The provider gave an id. */
  hasId: boolean;
}

/** What a function returned. */
export interface Answer extends Call {
  /** The part that holds it. */
  part: Fields;
  /** What is in the part: the very same object. */
  response: Fields;
}

/** Stands for the id of a call without one: the name, and how many calls of that name came before it in the content. */
const anonymous = /^without-id:\d+:([\s\S]*)$/;

/** The name of the function, from an id that stands for none. */
export function nameInId(id: string): string | undefined {
  return anonymous.exec(id)?.[1];
}

export function callIn(part: unknown): Fields | undefined {
  return isRecord(part) ? recordOf(part, 'functionCall') : undefined;
}

export function responseIn(part: unknown): Fields | undefined {
  return isRecord(part) ? recordOf(part, 'functionResponse') : undefined;
}

export function isModel({ role }: GeminiContent): boolean {
  return role === 'model';
}

/** The calls in a content of the model, by the part that holds each. */
export function callsIn(content: GeminiContent): Map<unknown, Call> {
  const calls = new Map<unknown, Call>();
  if (!isModel(content)) return calls;
  const identify = createNaming();
  for (const part of listOf(content.parts)) {
    const call = callIn(part);
    if (call) calls.set(part, identify(call));
  }
  return calls;
}

/** The results in a content of the user, in their order. */
export function answersIn(content: GeminiContent): Answer[] {
  if (isModel(content)) return [];
  const identify = createNaming();
  return listOf(content.parts).flatMap((part) => {
    const response = responseIn(part);
    return response && isRecord(part) ? [{ ...identify(response), part, response }] : [];
  });
}

function createNaming(): (fields: Fields) => Call {
  const counts = new Map<string, number>();
  return (fields) => {
    const id = stringOf(fields.id);
    const name = stringOf(fields.name);
    if (id !== '') return { id, name, hasId: true };
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return { id: `without-id:${count}:${name}`, name, hasId: false };
  };
}

import { type Fields, isRecord } from '../../adapters/fields.ts';
import type { ForkSetting } from '../provider-kit.ts';

/** A setting of a request by its path, for instance `config.stopSequences`. */
export function settingAt<Request extends object>(path: string, value: unknown): ForkSetting<Request> {
  const names = path.split('.');
  return {
    name: path,
    // A copy of the request with one field more.
    set: (request) => setIn(Object.assign<Fields, Request>({}, request), names, value) as Request,
    isSet: (request) => JSON.stringify(readIn(request, names)) === JSON.stringify(value),
  };
}

function setIn(fields: Fields, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  const inner = fields[name];
  return { ...fields, [name]: rest.length === 0 ? value : setIn(isRecord(inner) ? inner : {}, rest, value) };
}

function readIn(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
}

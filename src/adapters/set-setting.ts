import { type Fields, fieldsOf } from './fields.ts';

/** Sets one field in a group of settings, and tells where that changed it. Absent values leave it as it is. */
export function setSetting(fields: Fields, group: string, name: string, value: string | undefined, changed: string[]): void {
  const settings = fieldsOf(fields[group]);
  if (value === undefined || settings[name] === value) return;
  fields[group] = { ...settings, [name]: value };
  changed.push(`${group}.${name}`);
}

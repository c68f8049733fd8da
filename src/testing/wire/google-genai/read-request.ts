import { type Fields, isAbsent, isRecord } from '../report.ts';

/** A request of the SDK or the body of a REST call, its fields under the names of the SDK. */
export interface WireRequest {
  contents: unknown;
  model: string;
  /** What stands beside the contents: system text, tools, output parameters. */
  settings: Fields;
}

/** One part, its fields under the names of the SDK. */
export interface WirePart {
  path: string;
  fields: Fields;
}

export type TurnKind = 'user' | 'model' | 'results';

export interface WireContent {
  path: string;
  role: 'user' | 'model';
  /** A content with results is a turn of results. */
  kind: TurnKind;
  parts: readonly WirePart[];
}

export function readRequest(body: Fields): WireRequest {
  const { config, contents, model, ...rest } = renameFields(body);
  const { generationConfig, ...settings } = renameFields(isRecord(config) ? config : rest);
  const generation = isRecord(generationConfig) ? renameFields(generationConfig) : {};
  return { contents, model: typeof model === 'string' ? model : '', settings: { ...settings, ...generation } };
}

/** REST takes each field under two names. */
export function renameFields(fields: Fields): Fields {
  const rename = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => !isAbsent(value))
      .map(([key, value]) => [rename(key), value]),
  );
}

export function holds({ fields }: WirePart, name: string): boolean {
  return name in fields;
}

export function fieldsOf({ fields }: WirePart, name: string): Fields {
  const value = fields[name];
  return isRecord(value) ? value : {};
}

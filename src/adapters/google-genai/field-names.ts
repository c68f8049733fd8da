import { type Fields, isRecord } from '../fields.ts';

const snakeNames = new Map<string, string>();

/** REST takes each field under two names: the SDK writes `functionCall`, people also write `function_call`. */
export function fieldOf(fields: Fields, name: string): unknown {
  return fields[name] ?? fields[snakeName(name)];
}

/** A field that holds an object. */
export function recordOf(fields: Fields, name: string): Fields | undefined {
  const value = fieldOf(fields, name);
  return isRecord(value) ? value : undefined;
}

/** The name under which a field stands; the SDK's where it does not. */
export function nameIn(fields: Fields, name: string): string {
  const snake = snakeName(name);
  return fields[name] === undefined && fields[snake] !== undefined ? snake : name;
}

/** The name that the SDK has for a field. */
export function sdkName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeName(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

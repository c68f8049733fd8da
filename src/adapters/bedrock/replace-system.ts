import { isBlank } from '../fields.ts';
import { isCachePoint } from './blocks.ts';
import type { BedrockInput } from './shape.ts';

/** The input with one system text in place of all others. The last cache point stays behind it. */
export function replaceSystem(input: BedrockInput, system: string): BedrockInput {
  const { system: before, ...rest } = input;
  if (isBlank(system)) return rest;
  const marker = before?.findLast(isCachePoint);
  return { ...rest, system: marker ? [{ text: system }, marker] : [{ text: system }] };
}

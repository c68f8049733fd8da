import { type Fields, isBlank, isRecord, stringOf } from '../fields.ts';
import type { AiSdkMessage, AiSdkModelName } from './shape.ts';

/** True where a message of the system must stand last or before an assistant, and alone. */
export function isStrictAboutSystem(model: AiSdkModelName | undefined): boolean {
  return /anthropic|claude/i.test(`${model?.provider} ${model?.modelId}`);
}

/**
 * The messages of the system behind the beginning of a conversation, where the provider takes them: Anthropic one of them right before an
 * assistant or last, OpenAI no two that set something side by side. Turns that are known stay.
 */
export function placeSystem(
  items: readonly AiSdkMessage[],
  known: readonly AiSdkMessage[],
  model: AiSdkModelName | undefined,
): readonly AiSdkMessage[] {
  let same = 0;
  while (same < items.length && items[same] === known[same]) same++;
  if (same === items.length) return items;
  const start = items.slice(0, same).findLastIndex(({ role }) => role === 'assistant') + 1;
  const strict = isStrictAboutSystem(model);
  const placed = items.slice(0, start);
  let begun = start > 0;
  let waiting: AiSdkMessage[] = [];
  for (const item of items.slice(start)) {
    begun ||= item.role !== 'system';
    if (begun && item.role === 'system') waiting = join(waiting, item, strict);
    else {
      if (!strict || item.role === 'assistant') placed.push(...waiting.splice(0));
      placed.push(item);
    }
  }
  return [...placed, ...waiting];
}

function join(earlier: readonly AiSdkMessage[], item: AiSdkMessage, strict: boolean): AiSdkMessage[] {
  const last = earlier.at(-1);
  if (!last || !(strict || (saysNothing(last) && saysNothing(item)))) return [...earlier, item];
  return [...earlier.slice(0, -1), mergeSystem(last, item)];
}

function saysNothing({ content }: AiSdkMessage): boolean {
  return isBlank(stringOf(content));
}

function mergeSystem(left: AiSdkMessage, right: AiSdkMessage): AiSdkMessage {
  const content = [left, right].map((item) => stringOf(item.content)).filter((text) => !isBlank(text));
  const options = mergeOptions(left.providerOptions, right.providerOptions);
  return { ...left, ...right, content: content.join('\n\n'), ...(options && { providerOptions: options }) };
}

function mergeOptions(left: unknown, right: unknown): Fields | undefined {
  if (!isRecord(left) || !isRecord(right)) return isRecord(left) ? left : isRecord(right) ? right : undefined;
  const merged: Fields = { ...left };
  for (const [provider, record] of Object.entries(right)) merged[provider] = mergeRecords(merged[provider], record);
  return merged;
}

/** What was set later counts; lists go on. A standing instruction is not cleared with a passing one. */
function mergeRecords(left: unknown, right: unknown): unknown {
  if (!isRecord(left) || !isRecord(right)) return right ?? left;
  const merged: Fields = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const before = merged[key];
    merged[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  if (left.clearAt !== right.clearAt) delete merged.clearAt;
  return merged;
}

import { type Fields, isRecord } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { nameIn } from './field-names.ts';
import { callIn, isModel, responseIn } from './function-parts.ts';
import type { GeminiContent, GeminiPart } from './shape.ts';

/** See `ProviderAdapter.repairItem`. A text of white space is no empty part: streams are cut anywhere. */
export function repairContent(content: GeminiContent): GeminiContent | undefined {
  const { parts } = content;
  if (!parts) return undefined;
  const kept = parts.filter((part) => isAccepted(part, isModel(content))).map(repairPart);
  if (kept.length === 0) return undefined;
  return isSameList(kept, parts) ? content : { ...content, parts: kept };
}

/** A call is the model's, a result is the user's, and a part that says nothing is refused. */
function isAccepted(part: unknown, isModel: boolean): boolean {
  if (!isRecord(part)) return false;
  const call = callIn(part);
  if (call) return isModel && typeof call.name === 'string' && call.name !== '';
  if (responseIn(part)) return !isModel;
  return Object.entries(part).some(([key, value]) => key !== 'thought' && value !== null && value !== undefined && value !== '');
}

/** What was called with, and what came back, are objects. */
function repairPart(part: GeminiPart): GeminiPart {
  const fields: Fields = { ...part };
  const call = callIn(fields);
  if (call && 'args' in call && !isRecord(call.args)) {
    const args = call.args === null || call.args === undefined ? {} : { value: call.args };
    return { ...part, [nameIn(fields, 'functionCall')]: { ...call, args } };
  }
  const response = responseIn(fields);
  if (!response || isRecord(response.response)) return part;
  const output = response.response ?? '';
  return { ...part, [nameIn(fields, 'functionResponse')]: { ...response, response: { output } } };
}

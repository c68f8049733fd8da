import { type Fields, isRecord } from '../fields.ts';
import type { LangchainMessage } from './shape.ts';

/** The same message with other fields, of the same class. LangChain keeps what an instance was made of beside what it has become. */
export function copyMessage(message: LangchainMessage, changes: Fields): LangchainMessage {
  const { lc_kwargs: made }: Fields = { ...message };
  const copy = { ...message, ...changes, ...(isRecord(made) && { lc_kwargs: { ...made, ...changes } }) };
  return Object.create(Object.getPrototypeOf(message), Object.getOwnPropertyDescriptors(copy));
}

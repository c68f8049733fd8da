import { opensGroup } from '../protocol-groups.ts';
import { isSystem, type Reading } from '../reading.ts';
import { hasUserContent, type IsUserInput } from '../turns.ts';

/**
 * Where a loop begins that ends with results which the model has not seen yet, and in which it reasoned; undefined where a conversation
 * does not end in one. There some providers want the reasoning as it was. Reminders at the end do not count.
 */
export function findReasonedLoop(readings: readonly Reading<unknown>[], isUserInput: IsUserInput): number | undefined {
  let index = readings.length - 1;
  while (index >= 0 && isReminder(readings[index], isUserInput)) index--;
  if (!readings[index]?.messages.some(({ role }) => role === 'tool')) return undefined;
  let reasoned = false;
  for (; index >= 0; index--) {
    const reading = readings[index];
    if (!reading || opensGroup(reading, isUserInput)) break;
    reasoned ||= reading.withoutReasoning() !== reading;
  }
  return reasoned ? index + 1 : undefined;
}

function isReminder(reading: Reading<unknown> | undefined, isUserInput: IsUserInput): boolean {
  if (!reading) return false;
  return isSystem(reading) || reading.messages.every((message) => hasUserContent(message) && !isUserInput(message));
}

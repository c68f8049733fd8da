import * as z from 'zod/mini';
import { isMessage } from '../check-messages.ts';
import { CompactionError } from '../errors.ts';
import type { SessionEvent, SessionPayloads } from './event.ts';
import type { StoredEvent } from './store.ts';

/** The event as what it is: undefined for a kind of a later version, and for one that is not as it was written. */
export function readEvent(stored: StoredEvent): { event: SessionEvent } | { fault: string } | undefined {
  const schema = schemaOf(stored.kind);
  if (!schema) return undefined;
  const issue = z.safeParse(schema, stored.payload).error?.issues[0];
  // The schema of this kind has just checked the payload.
  if (!issue) return { event: stored as SessionEvent };
  return { fault: `Expected \`${['payload', ...issue.path].join('.')}\` of ${stored.kind} to be ${issue.message}.` };
}

/**
 * @throws CompactionError `invalid-event`, naming the field.
 */
export function checkEvent(event: StoredEvent): void {
  const reading = readEvent(event);
  if (reading && 'fault' in reading) throw new CompactionError('invalid-event', reading.fault);
}

let schemas: ReturnType<typeof buildSchemas> | undefined;

function schemaOf(kind: string): z.ZodMiniType | undefined {
  schemas ??= buildSchemas();
  return schemas.get(kind);
}

// Built on demand, so that importing the package builds nothing.
function buildSchemas(): Map<string, z.ZodMiniType> {
  const custom = (test: (value: unknown) => boolean, expectation: string) => z.custom<unknown>(test, expectation);
  const text = custom((value) => typeof value === 'string', 'a text');
  const flag = custom((value) => typeof value === 'boolean', 'true or false');
  const count = custom((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number, 0 or more');
  const messages = custom((value) => Array.isArray(value) && value.every(isMessage), 'a list of messages with a role and parts');
  const snapshot = custom((value) => typeof value === 'object' && value !== null && 'version' in value, 'a snapshot of a loop');
  const items = z.array(z.object({ item: z.unknown(), from: count, count }, 'an item and its place'), 'a list of items');
  const native = z.optional(z.object({ provider: text, items }, 'items of a provider'));
  const object = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.object(shape, 'an object');
  return new Map<keyof SessionPayloads, z.ZodMiniType>([
    ['session_started', object({ version: count })],
    ['user_message', object({ message: custom((value) => isMessage(value) && value.role === 'user', 'a message of the user') })],
    [
      'assistant_turn',
      object({
        messages,
        native,
        snapshot: z.optional(snapshot),
        interrupted: z.optional(flag),
        error: z.optional(text),
        moved: z.optional(z.array(z.enum(['attempt', 'reportedAt'], 'a name of a place'), 'a list of places')),
        checkpoint: z.optional(flag),
      }),
    ],
    [
      'compaction_applied',
      object({
        messages,
        native,
        coversSeq: count,
        compactionId: text,
        trigger: z.enum(['automatic', 'manual'], 'automatic or manual'),
        status: text,
        transcript: z.optional(messages),
        snapshot,
      }),
    ],
  ]);
}

import type { Usage } from '../adapter.ts';
import { type Fields, fieldsOf, isRecord, listOf, stringOf } from '../fields.ts';
import { providerError } from '../provider-error.ts';
import { isCommentary } from './item-kinds.ts';
import { readUsage } from './read-usage.ts';

/** A reply, as an object or its events have told it. */
export interface RawReply {
  entries: readonly ReplyEntry[];
  /** `completed`, `incomplete` and so on; undefined where the reply did not say how it ended. */
  status: unknown;
  incompleteReason: unknown;
  usage: Usage | undefined;
}

export interface ReplyEntry {
  item: Fields;
  /** False where the item was cut off: the server may not know it. */
  done: boolean;
}

export interface ReplyAssembly {
  /** @throws the provider's error, where an event has one. */
  take(event: unknown): void;
  /** False until the first event: the SDK's helper may have ended before anyone listened. */
  readonly started: boolean;
  finish(): RawReply;
}

const endings: ReadonlyMap<unknown, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  // Codex
  ['response.done', 'completed'],
]);

/** Fields of unfinished calls that come in pieces. */
const pieces: ReadonlyMap<unknown, string> = new Map([
  ['response.function_call_arguments.delta', 'arguments'],
  ['response.custom_tool_call_input.delta', 'input'],
]);

/** Puts a reply together from the events of a stream. Unknown events are ignored. */
export function assembleReply(onText?: (text: string) => void): ReplyAssembly {
  const open = new Map<unknown, OpenItem>();
  let started = false;
  let ending: Fields | undefined;

  const itemOf = (event: Fields): OpenItem => {
    const key = event.output_index ?? event.item_id ?? (isRecord(event.item) ? event.item.id : undefined);
    let known = open.get(key);
    if (!known) {
      known = { item: { type: 'message', role: 'assistant' }, parts: new Map(), done: false };
      open.set(key, known);
    }
    return known;
  };
  const takeText = (event: Fields, type: 'output_text' | 'refusal'): void => {
    const delta = stringOf(event.delta);
    const { item, parts } = itemOf(event);
    parts.set(event.content_index, { type, text: (parts.get(event.content_index)?.text ?? '') + delta });
    if (type === 'output_text' && delta !== '' && !isCommentary(item)) onText?.(delta);
  };

  return {
    get started() {
      return started;
    },
    take(event) {
      if (!isRecord(event)) return;
      started = true;
      throwError(event);
      const { type } = event;
      if (type === 'response.output_text.delta') takeText(event, 'output_text');
      else if (type === 'response.refusal.delta') takeText(event, 'refusal');
      else if ((type === 'response.output_item.added' || type === 'response.output_item.done') && isRecord(event.item))
        Object.assign(itemOf(event), { item: { ...event.item }, done: type === 'response.output_item.done' });
      else if (pieces.has(type)) {
        const { item } = itemOf(event);
        const field = stringOf(pieces.get(type));
        item[field] = stringOf(item[field]) + stringOf(event.delta);
      } else if (endings.has(type)) ending = event;
    },
    finish() {
      const response = fieldsOf(ending?.response);
      const whole = readEntries(listOf(response.output));
      const told = [...open.values()].map(closeItem);
      return {
        // The last event of Codex has no output, or not all of it.
        entries: whole.length > 0 && whole.length >= told.filter(({ done }) => done).length ? whole : told,
        status: ending && (response.status ?? endings.get(ending.type)),
        incompleteReason: isRecord(response.incomplete_details) ? response.incomplete_details.reason : undefined,
        usage: readUsage(response),
      };
    },
  };
}

/** The items of a list, none of them in pieces. */
export function readEntries(output: readonly unknown[]): ReplyEntry[] {
  return output.filter(isRecord).map((item) => ({ item, done: item.status !== 'in_progress' && item.status !== 'incomplete' }));
}

/**
 * Throws what a failed reply, or an event of a failed stream, says. The official client throws only
 * one of the two forms of error events itself.
 */
export function throwError(body: Fields): void {
  const response = isRecord(body.response) ? body.response : body;
  const failed = body.type === 'response.failed' || response.status === 'failed';
  const error = response.error ?? (body.type === 'error' ? (body.error ?? body) : undefined);
  if (failed || (error !== undefined && error !== null)) throw providerError(error, error ?? response);
}

interface OpenItem {
  item: Fields;
  /** Pieces of text by their index. */
  parts: Map<unknown, { type: 'output_text' | 'refusal'; text: string }>;
  done: boolean;
}

function closeItem({ item, parts, done }: OpenItem): ReplyEntry {
  if (done || item.type !== 'message') return { item, done };
  const content = [...parts.values()].map(({ type, text }) => (type === 'refusal' ? { type, refusal: text } : { type, text }));
  return { item: content.length > 0 ? { ...item, content } : item, done };
}

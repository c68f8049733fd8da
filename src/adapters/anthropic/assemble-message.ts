import { type Fields, fieldsOf, isRecord } from '../fields.ts';
import { type Block, isServerCall, typeOf } from './blocks.ts';
import type { AnthropicBlock } from './shape.ts';

/** A message as its events have told it so far. */
export interface AssembledMessage {
  content: AnthropicBlock[];
  /** All blocks as far as they came, also those that the content leaves out. */
  received: readonly AnthropicBlock[];
  stopReason: string | null;
  usage: Fields;
  /** False where the stream ended without `message_stop`. */
  whole: boolean;
  /** False where the arguments of a call are no JSON: the call is left out. */
  callsReadable: boolean;
}

export interface MessageAssembler {
  take(event: unknown): void;
  /** False until `message_start`: a `MessageStream` may have begun before anyone listened. */
  readonly started: boolean;
  finish(): AssembledMessage;
}

interface OpenBlock {
  fields: Block;
  /** The arguments of a call as they come. */
  json: string;
  closed: boolean;
}

/** Puts a message together from the events of a raw stream. Unknown events and deltas are ignored. */
export function assembleMessage(onText?: (text: string) => void): MessageAssembler {
  const blocks = new Map<unknown, OpenBlock>();
  const usage: Fields = {};
  let started = false;
  let whole = false;
  let stopReason: string | null = null;

  const takeUsage = (counts: unknown): void => {
    // Counts are cumulative, and absent or null where an event has nothing to say of them.
    if (isRecord(counts)) for (const [key, count] of Object.entries(counts)) if (count != null) usage[key] = count;
  };
  const openBlock = (index: unknown, block: unknown): void => {
    if (!isRecord(block) || typeof block.type !== 'string') return;
    const fields: Block = { ...block, type: block.type };
    if (Array.isArray(block.citations)) fields.citations = [...block.citations];
    blocks.set(index, { fields, json: '', closed: false });
    if (block.type === 'text' && typeof block.text === 'string' && block.text !== '') onText?.(block.text);
  };

  return {
    get started() {
      return started;
    },
    take(event) {
      if (!isRecord(event)) return;
      if (event.type === 'error') throw toError(event);
      if (event.type === 'message_start') {
        started = true;
        takeUsage(isRecord(event.message) ? event.message.usage : undefined);
      }
      if (!started) return;
      const block = blocks.get(event.index);
      if (event.type === 'content_block_start') openBlock(event.index, event.content_block);
      else if (event.type === 'content_block_delta' && block && isRecord(event.delta)) applyDelta(block, event.delta, onText);
      else if (event.type === 'content_block_stop' && block) block.closed = true;
      else if (event.type === 'message_stop') whole = true;
      else if (event.type === 'message_delta') {
        if (isRecord(event.delta) && typeof event.delta.stop_reason === 'string') stopReason = event.delta.stop_reason;
        takeUsage(event.usage);
      }
    },
    finish() {
      const all = [...blocks.values()];
      const kept = all.filter((block) => whole || block.closed || block.fields.type === 'text');
      const content = kept.map(closeBlock).filter((block) => block !== undefined);
      const received = all.map(({ fields }) => fields);
      return { content, received, stopReason, usage, whole, callsReadable: content.length === kept.length };
    },
  };
}

function applyDelta(block: OpenBlock, delta: Fields, onText?: (text: string) => void): void {
  const { fields } = block;
  if (delta.type === 'text_delta' && fields.type === 'text' && typeof delta.text === 'string') {
    fields.text = `${fields.text ?? ''}${delta.text}`;
    onText?.(delta.text);
  } else if (delta.type === 'thinking_delta' && typeof delta.thinking === 'string') {
    fields.thinking = `${fields.thinking ?? ''}${delta.thinking}`;
  } else if (delta.type === 'signature_delta') fields.signature = delta.signature;
  else if (delta.type === 'input_json_delta' && typeof delta.partial_json === 'string') block.json += delta.partial_json;
  else if (delta.type === 'citations_delta') {
    if (Array.isArray(fields.citations)) fields.citations.push(delta.citation);
    else fields.citations = [delta.citation];
  } else if (delta.type === 'compaction_delta') {
    const { type: _type, ...final } = delta;
    Object.assign(fields, final);
  }
}

function closeBlock({ fields, json }: OpenBlock): Block | undefined {
  if (json === '' || !(fields.type === 'tool_use' || isServerCall(fields))) return fields;
  try {
    return { ...fields, input: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

/** An error event, where the stream is not the official client's, which throws it. Its fields are those of the client's error. */
function toError(event: Fields): Error {
  const details = fieldsOf(event.error);
  const message = typeof details.message === 'string' ? details.message : 'The stream ended with an error event.';
  return Object.assign(new Error(message), { type: typeOf(details), error: event });
}

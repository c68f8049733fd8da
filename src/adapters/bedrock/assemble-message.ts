import { isError } from '../../any-realm.ts';
import { isRecord, stringOf } from '../fields.ts';
import { type AssembledBlock, assembleBlock, type BlockAssembler } from './assemble-block.ts';
import { memberOf, textOfBlock } from './blocks.ts';
import type { BedrockBlock } from './shape.ts';

/** A message as its events have told it so far. */
export interface AssembledMessage {
  content: readonly BedrockBlock[];
  /** All blocks as far as they came, also those that the content leaves out. */
  received: readonly BedrockBlock[];
  /** Absent where the stream ended without saying how the message did. */
  stopReason: string | undefined;
  usage: unknown;
  /** False where the arguments of a call are no JSON: the call is left out. */
  callsReadable: boolean;
}

export interface MessageAssembler {
  /** Throws the provider's error where the event is one. */
  take(event: unknown): void;
  finish(): AssembledMessage;
}

/** Puts a message together from the events of a stream. Unknown events and deltas are ignored. */
export function assembleMessage(onText?: (text: string) => void): MessageAssembler {
  const blocks = new Map<unknown, BlockAssembler>();
  let stopReason: string | undefined;
  let usage: unknown;

  /** Texts and reasoning begin without a start event. */
  function blockAt(index: unknown): BlockAssembler {
    const known = blocks.get(index);
    if (known) return known;
    const block = assembleBlock(onText);
    blocks.set(index, block);
    return block;
  }

  return {
    take(event) {
      throwException(event);
      const started = memberOf(event, 'contentBlockStart');
      if (started) blockAt(started.contentBlockIndex).start(started.start);
      const continued = memberOf(event, 'contentBlockDelta');
      if (continued) blockAt(continued.contentBlockIndex).add(continued.delta);
      const stopped = memberOf(event, 'contentBlockStop');
      if (stopped) blocks.get(stopped.contentBlockIndex)?.close();
      const ended = memberOf(event, 'messageStop');
      if (ended) stopReason = stringOf(ended.stopReason) || undefined;
      usage = memberOf(event, 'metadata')?.usage ?? usage;
    },
    finish() {
      const all = [...blocks.values()].map((block) => block.finish()).filter((block) => block !== undefined);
      const kept = all.filter(({ block, closed }) => stopReason !== undefined || closed || textOfBlock(block) !== undefined);
      const readable = kept.filter((block) => block.readable);
      const content = readable.map(blockOf);
      return { content, received: all.map(blockOf), stopReason, usage, callsReadable: readable.length === kept.length };
    },
  };
}

function blockOf({ block }: AssembledBlock): BedrockBlock {
  return block;
}

/** The SDK throws the exceptions of a stream; another iterable may hand them on as events. */
function throwException(event: unknown): void {
  if (!isRecord(event)) return;
  for (const [key, exception] of Object.entries(event)) {
    if (!key.endsWith('Exception') || !isRecord(exception)) continue;
    if (isError(exception)) throw exception;
    const message = stringOf(exception.message) || 'The stream ended with an exception.';
    throw Object.assign(new Error(message), { ...exception, name: key.charAt(0).toUpperCase() + key.slice(1) });
  }
}

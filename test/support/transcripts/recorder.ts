import type { RecordedCall, RecordedResult, RecordedTurn, Recording, ReplyPart, ResultPart, UserPart } from './recording.ts';

/** The answer to a call that was never answered and that something follows: no provider accepts it open. */
export const noResult = '[no result recorded]';

interface OpenTurn extends RecordedTurn {
  group: string | undefined;
}

/**
 * Turns the events of a transcript, in their order, into turns that a provider accepts: fragments of one reply are put together,
 * results stand with their reply, what is blank or holds nothing but thinking is left out, and open calls are closed.
 */
export class Recorder {
  readonly #system: string[] = [];
  readonly #turns: RecordedTurn[] = [];
  #open: OpenTurn | undefined;
  #pending: UserPart[][] = [];

  system(text: string): void {
    this.#system.push(text);
  }

  user(content: string | readonly UserPart[]): void {
    const parts: readonly UserPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const kept = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
    if (kept.length > 0) this.#pending.push(kept);
  }

  /** A reply or a fragment of one: fragments have the same `group`, or follow each other directly before any call. */
  assistant(parts: readonly ReplyPart[], group?: string): void {
    const kept = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
    if (kept.length === 0) return;
    const open = this.#open;
    const sameReply = open !== undefined && group !== undefined && open.group === group;
    const followsDirectly = open !== undefined && this.#pending.length === 0 && callsOf(open.reply).length === 0;
    if (sameReply || followsDirectly) {
      open.reply.push(...kept);
      return;
    }
    this.#seal();
    this.#open = { group, input: this.#pending, reply: kept, results: [] };
    this.#pending = [];
  }

  /** Answers the first open call with this id: ids repeat in some recordings. */
  result(callId: string, content: string | readonly ResultPart[], isError = false): void {
    const call = this.#open && openCalls(this.#open).find((candidate) => candidate.id === callId);
    if (this.#open === undefined || call === undefined)
      throw new Error(`Result for ${callId}, expected an open call with this id`);
    const kept =
      typeof content === 'string' ? content : content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
    this.#open.results.push({ call, content: kept, isError });
  }

  finish(): Recording {
    this.#seal();
    const last = this.#turns.at(-1);
    for (const turn of this.#turns) {
      // The last calls stay open where nothing at all came after them.
      if (turn !== last || this.#pending.length > 0 || turn.results.length > 0) turn.results.push(...closings(turn));
    }
    const system = this.#system.join('\n\n');
    return { ...(system && { system }), turns: this.#turns, rest: this.#pending };
  }

  /** A reply of thinking alone is no message: what was asked goes into the next request. */
  #seal(): void {
    if (this.#open === undefined) return;
    const { input, reply, results } = this.#open;
    if (reply.every((part) => part.type === 'thinking')) this.#pending.unshift(...input);
    else this.#turns.push({ input, reply, results });
    this.#open = undefined;
  }
}

/** The calls of a reply, in order. */
export function callsOf(reply: readonly ReplyPart[]): (ReplyPart & RecordedCall)[] {
  return reply.filter((part) => part.type === 'call');
}

function openCalls(turn: RecordedTurn): RecordedCall[] {
  const answered = new Set(turn.results.map((result) => result.call));
  return callsOf(turn.reply).filter((call) => !answered.has(call));
}

function closings(turn: RecordedTurn): RecordedResult[] {
  return openCalls(turn).map((call) => ({ call, content: noResult, isError: true }));
}

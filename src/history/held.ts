import type { Message } from '../message.ts';
import { type Mark, type RequestView, startsWith } from './view.ts';

/** What is known of a reply that the server holds, and of all before it: requests may go on from there. */
export interface HeldHistory {
  /** The item that stands for it, as a place in a conversation. */
  mark: Mark;
  /** Tokens of the request and of its reply. */
  tokens: number;
  /** False where a summary would lose something: not all of it was seen, or there is system text in it. */
  replaceable: boolean;
  /** The newest input of the user. */
  lastUserMessage?: Message | undefined;
}

/** The view with what is known of the history in front of it. Where that is not enough for a summary, it is out of reach. */
export function recallHeld<Request, Item>(
  view: RequestView<Request, Item>,
  known: HeldHistory | undefined,
): RequestView<Request, Item> {
  const { heldBefore } = view.context;
  if (heldBefore === undefined) return view;
  const held = known && startsWith(view, known.mark) ? known : undefined;
  const [first, ...rest] = view.body;
  if (!held?.replaceable || !first) return { ...view, context: { ...view.context, serverHeld: heldBefore } };
  const said = held.lastUserMessage ? [held.lastUserMessage] : [];
  return { ...view, held, body: [{ ...first, messages: [...said, ...first.messages] }, ...rest] };
}

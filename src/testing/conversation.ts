import type { Message, Part } from '../message.ts';
import type { Choose } from './choose.ts';
import { type OutlinedTurn, outlineConversation } from './outline.ts';
import type { ProviderKit } from './provider-kit.ts';

export interface ConversationOptions {
  /** True: ends with the results of tools, in the middle of a turn. Default false: ends with an answer. */
  open?: boolean | undefined;
  /** True: with one thing in it that a provider may refuse, as a crash, an edit or a bug leaves it behind. Default false. */
  broken?: boolean | undefined;
}

/**
 * The items of a random conversation in a provider's shape.
 *
 * @example
 * const items = randomConversation(providerKits.anthropic, chooseFrom(7), { open: true });
 */
export function randomConversation<Request, Item, Reply>(
  kit: Pick<ProviderKit<Request, Item, Reply>, 'adapter' | 'conversation'>,
  choose: Choose,
  { open = false, broken = false }: ConversationOptions = {},
): Item[] {
  const items =
    kit.conversation?.(choose, open) ??
    outlineConversation(choose, open)
      .flatMap(messagesOf)
      .flatMap((message) => kit.adapter.writeMessage(message));
  return broken ? breakItems(items, choose) : items;
}

/** A random conversation that waits for the model: the user or a tool has the last word. */
export function waitingConversation<Request, Item, Reply>(
  kit: Pick<ProviderKit<Request, Item, Reply>, 'adapter' | 'conversation'>,
  choose: Choose,
): Item[] {
  if (choose(2) === 1) return randomConversation(kit, choose, { open: true });
  const question = kit.adapter.writeMessage({ role: 'user', parts: [textPart('Go on.')] });
  return [...randomConversation(kit, choose), ...question];
}

/** The messages of a turn in neutral form. */
export function messagesOf({ user, steps, answer }: OutlinedTurn): Message[] {
  return [
    { role: 'user', parts: user.map(textPart) },
    ...steps.flatMap(({ text, calls }): Message[] => [
      {
        role: 'assistant',
        parts: [
          ...(text === undefined ? [] : [textPart(text)]),
          ...calls.map(({ id, name, input }): Part => ({ type: 'toolCall', id, name, input })),
        ],
      },
      {
        role: 'tool',
        parts: calls.map(
          ({ id, name, result, isError }): Part => ({
            type: 'toolResult',
            callId: id,
            name,
            content: result === '' ? [] : [textPart(result)],
            ...(isError && { isError }),
          }),
        ),
      },
    ]),
    ...(answer === undefined ? [] : [{ role: 'assistant', parts: [textPart(answer)] } as const]),
  ];
}

function textPart(text: string): { type: 'text'; text: string } {
  return { type: 'text', text };
}

/** One item is lost, doubled or moved. */
function breakItems<Item>(items: readonly Item[], choose: Choose): Item[] {
  const broken = [...items];
  const [item] = broken.splice(choose(broken.length), 1);
  const kind = choose(3);
  if (item === undefined || kind === 0) return broken;
  broken.splice(choose(broken.length + 1), 0, item);
  if (kind === 2) broken.splice(choose(broken.length + 1), 0, item);
  return broken;
}

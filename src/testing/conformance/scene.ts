import type { Part } from '../../message.ts';
import type { CompactorOptions } from '../../options.ts';
import { type Choose, sometimes } from '../choose.ts';
import type { ProviderKit, ReplyScript } from '../provider-kit.ts';

/** A window in which every conversation of the kit is due. */
export function smallWindow<Request, Item, Reply>({
  adapter,
}: ProviderKit<Request, Item, Reply>): Pick<
  CompactorOptions<Request, Item, Reply, Request, Reply>,
  'adapter' | 'contextWindow' | 'budget' | 'summary'
> {
  const countTokens = (text: string): number => Math.ceil(text.length / 4);
  return { adapter, contextWindow: 300_000, budget: { threshold: 100, countTokens }, summary: { retries: 0 } };
}

/** A good summary, sometimes after an attempt to call tools. */
export function scriptSummaries(choose: Choose): { summaries: ReplyScript[]; streamed: boolean } {
  const calls = [
    { id: 'call_denied_1', name: 'read', input: { path: 'a.ts' } },
    { id: 'call_denied_2', name: 'write', input: { path: 'b.ts' } },
  ];
  const attempt = { text: 'I will look first.', reasoning: 'Hm.', calls: calls.slice(choose(2)) };
  return { summaries: sometimes(choose, 3) ? [attempt] : [], streamed: sometimes(choose, 2) };
}

export function userItems<Request, Item, Reply>(
  { adapter }: ProviderKit<Request, Item, Reply>,
  text: string,
  media: readonly Part[] = [],
): Item[] {
  return adapter.writeMessage({ role: 'user', parts: [...media, { type: 'text', text }] });
}

export function answerItems<Request, Item, Reply>({ adapter }: ProviderKit<Request, Item, Reply>): Item[] {
  return adapter.writeMessage({ role: 'assistant', parts: [{ type: 'text', text: 'Done so far.' }] });
}

/** A call and its result. */
export function workItems<Request, Item, Reply>(
  { adapter }: ProviderKit<Request, Item, Reply>,
  id: string,
  text = 'The file is short.',
): Item[] {
  return [
    ...adapter.writeMessage({ role: 'assistant', parts: [{ type: 'toolCall', id, name: 'read', input: { path: 'c.ts' } }] }),
    ...adapter.writeMessage({
      role: 'tool',
      parts: [{ type: 'toolResult', callId: id, name: 'read', content: [{ type: 'text', text }] }],
    }),
  ];
}

export function leadingOf<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>): number {
  return kit.adapter.items(kit.request(userItems(kit, 'x'))).length - userItems(kit, 'x').length;
}

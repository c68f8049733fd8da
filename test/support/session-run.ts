import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { Message, Part } from '../../src/message.ts';
import type { RetainOptions, SendContext } from '../../src/options.ts';
import { createSession, type RetainOutput, readTurn, type Session, type SessionStore } from '../../src/session.ts';
import type { ConversationSnapshot } from '../../src/snapshot.ts';
import type { ProviderKit, ReplyScript } from '../../src/testing/provider-kit.ts';
import { goodSummary, smallBudget } from './scripted-model.ts';

/** A user's message in neutral form. */
export function userSays(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

/** What the model answers, and what tools give back for its calls. */
export interface Step {
  reply: ReplyScript;
  results?: readonly string[] | undefined;
}

export interface RunOptions {
  store: SessionStore;
  id?: string;
  retainOutput?: RetainOutput | undefined;
  retain?: RetainOptions | undefined;
  /** Answers a summary request. */
  onSummary?: ((context: SendContext) => Promise<ReplyScript | undefined> | ReplyScript | undefined) | undefined;
}

/** An agent with a session around its loop, as an application has it. */
export interface SessionRun<Request, Item, Reply> {
  readonly session: Session;
  readonly loop: AutoCompactingLoop<Request, Item, Reply>;
  readonly events: CompactionEvent[];
  /** Requests of turns, as they were sent. */
  readonly sent: Request[];
  say(text: string): Promise<void>;
  /** Sends the conversation, plays the model's step, and stores it. */
  step(step: Step): Promise<void>;
  /** A reply of the model and the results of its calls: adds and stores them. */
  take(reply: ReplyScript, results?: readonly string[]): Promise<void>;
  /** The same session in another process. */
  reopen(): Promise<SessionRun<Request, Item, Reply>>;
}

const systemText = 'Be exact.';

/** Opens a session and goes on with what is in it. */
export async function openRun<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  options: RunOptions,
): Promise<SessionRun<Request, Item, Reply>> {
  const { adapter } = kit;
  const { store, id = 'run', retainOutput, retain, onSummary } = options;
  const session = await createSession({ store, id, retainOutput });
  const restored = session.restore(adapter, kit.request([], { system: systemText }));
  const events: CompactionEvent[] = [];
  const sent: Request[] = [];
  let next: ReplyScript = { text: 'Done.' };

  const loop = new AutoCompactingLoop<Request, Item, Reply>(
    restored.request,
    {
      adapter: adapter as ProviderAdapter<Request, Item, Reply>,
      ...smallBudget,
      retain,
      commit: session.commit,
      onEvent: (event) => void events.push(event),
      async send(request: Request, context: SendContext): Promise<Reply> {
        if (context.purpose === 'summary') return kit.reply((await onSummary?.(context)) ?? { text: goodSummary });
        sent.push(request);
        return kit.reply(next);
      },
    },
    { snapshot: restored.snapshot },
  );

  async function take(answer: Reply, results: readonly string[] = []): Promise<void> {
    const { calls, items } = await loop.appendReply(answer);
    const parts = calls.map(
      ({ id: callId, name }, index): Part => ({
        type: 'toolResult',
        callId,
        name,
        content: [{ type: 'text', text: results[index] ?? 'ok' }],
      }),
    );
    const returned = parts.length > 0 ? adapter.writeMessage({ role: 'tool', parts }) : [];
    loop.append(returned);
    // The items are of the kind that the adapter writes.
    await session.appendTurn({ ...readTurn(adapter, [...(items as Item[]), ...returned]), snapshot: loop.snapshot() });
  }

  return {
    session,
    loop,
    events,
    sent,
    async say(text) {
      const message = userSays(text);
      await session.appendUser(message);
      loop.append(adapter.writeMessage(message));
    },
    async step({ reply, results }) {
      next = reply;
      await take(await loop.send(), results);
    },
    take: (reply, results) => take(kit.reply(reply), results),
    reopen: () => openRun(kit, options),
  };
}

/** The conversation of a request without system messages, in neutral form. */
export function saidIn<Request, Item, Reply>({ adapter }: ProviderKit<Request, Item, Reply>, request: Request): Message[] {
  return adapter
    .items(request)
    .flatMap((item) => adapter.readItem(item))
    .filter(({ role }) => role !== 'system');
}

/** The newest snapshot without what is undefined, as a store gives it back. */
export function plain(snapshot: ConversationSnapshot): unknown {
  return JSON.parse(JSON.stringify(snapshot));
}

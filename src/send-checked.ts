import type { Usage } from './adapters/adapter.ts';
import type { Compactor, PrepareOptions } from './compactor.ts';
import type { Send } from './options.ts';
import { sendAndRecover } from './recover.ts';

/** What a wrapped call needs: the compactor that checks it, and how the usage of its reply is read. */
export interface CheckedCall<Shape, Item, Request extends Shape, Reply> {
  compactor: Compactor<Shape, Item, Request, Reply>;
  readUsage: (reply: Reply) => Usage | undefined;
}

/**
 * Checks a request, compacts it where that is due, sends it, and takes the usage of its reply. Sends it exactly once, unless the provider
 * finds it too long and the compactor recovers from that. The reply comes back untouched.
 */
export async function sendChecked<Shape, Item, Request extends Shape, Reply>(
  { compactor, readUsage }: CheckedCall<Shape, Item, Request, Reply>,
  request: Request,
  send: Send<Request, Reply>,
  options: PrepareOptions<Request, Reply>,
): Promise<Reply> {
  const signal = options.signal ?? new AbortController().signal;
  const sendTurn = async (turn: Request, attempt: number): Promise<Reply> => {
    const reply = await send(turn, { signal, purpose: 'turn', conversation: options.conversation, attempt });
    const usage = tryRead(readUsage, reply);
    if (usage) compactor.observe(turn, { usage }, options);
    return reply;
  };
  const prepared = await compactor.prepare(request, options);
  return sendAndRecover(prepared, sendTurn, (error) => compactor.recover(request, error, options));
}

/** The reply was paid for: nothing that is odd about it may lose it. */
function tryRead<Reply>(readUsage: (reply: Reply) => Usage | undefined, reply: Reply): Usage | undefined {
  try {
    return readUsage(reply);
  } catch {
    return undefined;
  }
}

import type { ReplySummary } from '../../adapters/adapter.ts';
import { createCompactor } from '../../compactor.ts';
import { AutoCompactingLoop } from '../../loop.ts';
import { textOf } from '../../message.ts';
import { oneOf, sometimes } from '../choose.ts';
import { randomConversation, waitingConversation } from '../conversation.ts';
import type { ProviderKit, ReplyScript, StreamBreak } from '../provider-kit.ts';
import { scriptedSummary } from '../scripted-model.ts';
import { type Check, expectThat, expectValid, freeze, preview } from './check.ts';
import { smallWindow, userItems } from './scene.ts';

export const breakChecks: readonly Check[] = [
  {
    name: 'a reply that breaks off after any piece is not taken for a whole one',
    random: false,
    async holds(kit) {
      for (const script of scripts) {
        const pieces = await countPieces(kit, script);
        for (let after = 0; after < pieces; after++) {
          const { finish } = await readBroken(kit, script, { after });
          expectThat(
            finish === 'incomplete' || finish === 'other',
            () => `Expected an incomplete reply after ${after} of ${pieces} pieces, got ${finish}.`,
          );
        }
      }
    },
  },
  {
    name: 'what a broken reply adds to the conversation can be sent back, and holds what was seen of it',
    random: true,
    async holds(kit, choose) {
      const { adapter } = kit;
      const script = oneOf(choose, scripts);
      const pieces = await countPieces(kit, script);
      const request = kit.request(freeze(waitingConversation(kit, choose)));
      const loop = new AutoCompactingLoop(request, { ...smallWindow(kit), when: 'never', send: async () => kit.reply({}) });
      const seen: string[] = [];
      const reply = breakOff(kit, script, { after: choose(pieces) });
      const { calls } = await loop.appendReply(reply, { onText: (text) => seen.push(text) });
      expectThat(calls.length === 0, () => `Expected no calls to run, got ${preview(calls)}.`);
      loop.append(userItems(kit, 'Go on.') as never); // the items are the request's own
      const next = await loop.prepare();
      expectValid(kit, 'The conversation with the broken reply', next);
      const said = adapter
        .items(next)
        .flatMap((item) => adapter.readItem(item))
        .map(textOf);
      expectThat(
        withoutSpaces(said).includes(withoutSpaces(seen)),
        () => `Expected what was seen, ${preview(seen.join(''))}, got ${preview(next)}.`,
      );
    },
  },
  {
    name: 'a summary that breaks off after any piece changes nothing',
    random: true,
    async holds(kit, choose) {
      const script: ReplyScript = { text: scriptedSummary, reasoning: sometimes(choose, 3) ? 'Let me think.' : undefined };
      const after = choose(await countPieces(kit, script));
      const compactor = createCompactor({ ...smallWindow(kit), send: async () => breakOff(kit, script, { after }) });
      const request = freeze(kit.request([...randomConversation(kit, choose), ...userItems(kit, 'Go on.')]));
      expectThat((await compactor.prepare(request)) === request, 'Expected the very same request after a broken summary.');
    },
  },
  {
    name: 'a stream that fails in the middle fails with the error of the provider',
    random: false,
    async holds(kit) {
      if (!kit.stream) return;
      for (const after of [0, 1, 2]) {
        const error = kit.error('overloaded');
        const outcome = await readBroken(kit, { text: 'Half of it is done.' }, { after, error }).catch((thrown) => thrown);
        expectThat(outcome === error, () => `Expected the error of the stream, got ${String(outcome)}.`);
      }
    },
  },
];

const calls = ['call_b1', 'call_b2'].map((id) => ({ id, name: 'read', input: { path: 'b.ts' } }));
const reasoning = 'What comes next?';

/** Replies whose texts are in no random conversation. */
const scripts: readonly [ReplyScript, ...ReplyScript[]] = [
  { text: 'Half of it is done.' },
  { text: 'Zwei 📦 are packed.', reasoning },
  { text: 'Both of them, then.', calls },
  { text: 'I will look into it.', reasoning, calls: calls.slice(1) },
  { reasoning, calls },
  { calls },
];

/**
 * How many pieces of a stream come before the one that tells how it ends: up to there a reply that ran into its cap is the same as one
 * that did not. 0 where the shape has no streams.
 */
async function countPieces<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, script: ReplyScript): Promise<number> {
  const most = kit.stream ? 50 : 0;
  for (let after = 1; after < most; after++) {
    const { finish } = await readBroken(kit, { ...script, ending: 'length' }, { after });
    if (finish === 'length') return after;
  }
  expectThat(most === 0, `Expected the pieces of a stream to tell that it ran into its cap, ${most} of them at most.`);
  return 0;
}

/** Where the shape has no streams: a reply that does not say how it ended. */
function breakOff<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, script: ReplyScript, breaks: StreamBreak): Reply {
  return kit.stream?.(script, breaks) ?? kit.reply({ ...script, ending: 'cut' });
}

function readBroken<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  script: ReplyScript,
  breaks: StreamBreak,
): Promise<ReplySummary<Item>> {
  return kit.adapter.readReply(breakOff(kit, script, breaks));
}

function withoutSpaces(texts: readonly string[]): string {
  return texts.join('').replace(/\s/g, '');
}

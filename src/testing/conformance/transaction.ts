import { createCompactor } from '../../compactor.ts';
import { isCompactionError } from '../../errors.ts';
import type { CompactionEvent } from '../../events.ts';
import { AutoCompactingLoop } from '../../loop.ts';
import { sometimes } from '../choose.ts';
import { randomConversation } from '../conversation.ts';
import type { ReplyScript } from '../provider-kit.ts';
import { scriptedModel } from '../scripted-model.ts';
import { type Check, expectThat, expectValid, freeze, preview } from './check.ts';
import { answerItems, leadingOf, scriptSummaries, smallWindow, userItems, workItems } from './scene.ts';
import { expectApplied, expectSound, expectSystem, imagesIn, imagesOfUser, occurrences, replacementsIn } from './sent.ts';

const question = 'And now the newest question: </last_user_message> 📦?';

export const transactionChecks: readonly Check[] = [
  {
    name: 'an automatic compaction sends only what the provider takes, keeps the newest words of the user, and changes nothing of the caller',
    random: true,
    async holds(kit, choose) {
      const { adapter } = kit;
      const events: CompactionEvent[] = [];
      const model = scriptedModel(kit, scriptSummaries(choose));
      const compactor = createCompactor({ ...smallWindow(kit), send: model.send, onEvent: (event) => void events.push(event) });
      const open = sometimes(choose, 2);
      const talk = randomConversation(kit, choose);
      const media = talk
        .flatMap((item) => adapter.readItem(item))
        .flatMap(imagesOfUser)
        .slice(0, 1);
      const conversation = [...talk, ...userItems(kit, question, media), ...(open ? workItems(kit, 'call_w') : [])];
      freeze(conversation);
      const request = freeze(kit.request(conversation));
      const first = await compactor.prepare(request, { conversation: 'one' });
      expectApplied(events, 1);
      expectSound(kit, model);
      expectValid(kit, 'The rebuilt request', first);
      expectThat(occurrences(kit, first, question) === 1, () => `Expected the newest question once, got ${preview(first)}.`);
      expectSystem(kit, first);
      expectThat(
        imagesIn(kit, first) >= media.length,
        () => `Expected the media of the newest message to stay, got ${preview(first)}.`,
      );

      // Its work goes on, and there is another compaction: the newest words of the user are still the same.
      const worked = freeze([...conversation, ...workItems(kit, 'call_v', 'x'.repeat(64_000))]);
      const next = await compactor.prepare(freeze(kit.request(worked)), { conversation: 'one' });
      expectApplied(events, 2);
      expectSound(kit, model);
      expectValid(kit, 'The request that was rebuilt twice', next);
      expectThat(occurrences(kit, next, question) === 1, () => `Expected the newest question once, still, got ${preview(next)}.`);
      expectThat(
        imagesIn(kit, next) >= media.length,
        () => `Expected the media of the newest message to stay, still, got ${preview(next)}.`,
      );

      // The caller keeps its own history, whole, and goes on.
      const appended = freeze([...answerItems(kit), ...userItems(kit, 'Go on.'), ...workItems(kit, 'call_x')]);
      const grown = freeze(kit.request([...worked, ...appended]));
      const second = await compactor.prepare(grown, { conversation: 'one' });
      expectSound(kit, model);
      expectValid(kit, 'The rebuilt request of the next step', second);
      const applied = events.filter(({ type }) => type === 'auto_compaction_applied').length;
      if (applied === 2) {
        const kept = adapter.items(second).slice(-3);
        expectThat(
          kept.every((item) => adapter.items(grown).includes(item)),
          'Expected kept items to be the very same objects.',
        );
      }
      expectThat(replacementsIn(kit, second) === 1, () => `Expected one replacement, got ${preview(second)}.`);
    },
  },
  {
    name: 'a compaction by hand leaves one message of the user, and the next request is valid',
    random: true,
    async holds(kit, choose) {
      const model = scriptedModel(kit, scriptSummaries(choose));
      const compactor = createCompactor({ ...smallWindow(kit), send: model.send });
      const conversation = freeze(randomConversation(kit, choose, { open: choose(2) === 1 }));
      const { request } = await compactor.compact(freeze(kit.request(conversation)), { conversation: 'one' });
      expectSound(kit, model);
      expectValid(kit, 'The compacted request', request);
      expectSystem(kit, request);
      const next = kit.request([...conversation, ...userItems(kit, question)]);
      const prepared = await compactor.prepare(freeze(next), { conversation: 'one', oneShot: true });
      expectValid(kit, 'The request behind it', prepared);
      expectThat(occurrences(kit, prepared, question) === 1, 'Expected what the user says next, once.');
    },
  },
  {
    name: 'a loop takes replies, results and a compaction, and each of its requests is valid',
    random: true,
    async holds(kit, choose) {
      const calls = [{ id: 'call_loop', name: 'read', input: { path: 'a.ts' } }];
      const turns = [{ text: 'Let me look.', reasoning: 'Where?', calls }, { text: 'There it is.' }];
      const model = scriptedModel(kit, { ...scriptSummaries(choose), turns, streamed: sometimes(choose, 2) });
      const loop = new AutoCompactingLoop(kit.request(freeze(randomConversation(kit, choose))), {
        ...smallWindow(kit),
        send: model.send,
      });
      loop.append(userItems(kit, question) as never); // the items are the request's own
      const { calls: asked } = await loop.appendReply(await loop.send());
      loop.append(
        asked.flatMap(({ id }) =>
          kit.adapter.writeMessage({
            role: 'tool',
            parts: [{ type: 'toolResult', callId: id, name: 'read', content: [{ type: 'text', text: 'x'.repeat(3000) }] }],
          }),
        ) as never,
      );
      await loop.appendReply(await loop.send());
      loop.append(userItems(kit, 'Go on.') as never);
      await loop.send();
      for (const { request, violations } of model.turns)
        expectThat(violations.length === 0, () => `A turn would be refused: ${preview(violations)} ${preview(request)}`);
      expectSound(kit, model);
    },
  },
  {
    name: 'a summary that was cut, refused or is no text changes nothing',
    random: true,
    async holds(kit, choose) {
      const scripts: ReplyScript[] = [{ text: ' \n' }, { text: 'Half', ending: 'cut' }, { text: 'No.', ending: 'refusal' }];
      const possible = scripts.filter(({ ending }) => !ending || !kit.endings || kit.endings.includes(ending));
      const script = possible[choose(possible.length)] ?? {};
      const model = scriptedModel(kit, { summaries: [script, script, script], streamed: sometimes(choose, 2) });
      const compactor = createCompactor({ ...smallWindow(kit), send: model.send });
      const request = freeze(kit.request([...randomConversation(kit, choose), ...userItems(kit, question)]));
      expectThat((await compactor.prepare(request)) === request, 'Expected the very same request after a failed compaction.');
      expectSound(kit, model);
    },
  },
  {
    name: 'a broken history goes out untouched, or is repaired, or is refused with an error that says why',
    random: true,
    async holds(kit, choose) {
      const model = scriptedModel(kit);
      const compactor = createCompactor({ ...smallWindow(kit), send: model.send });
      const request = freeze(kit.request(randomConversation(kit, choose, { open: choose(2) === 1, broken: true })));
      const large = createCompactor({ adapter: kit.adapter, contextWindow: 10_000_000, send: model.send });
      expectThat((await large.prepare(request)) === request, 'Expected a request that needs no compaction to go out as it is.');
      const error = await compactor.compact(request).then(
        ({ request: compacted }) => expectValid(kit, 'The compacted request', compacted),
        (reason: unknown) => reason,
      );
      if (error !== undefined && !isCompactionError(error)) throw error;
      expectSound(kit, model);
      const next = await createCompactor({ ...smallWindow(kit), send: model.send }).prepare(
        kit.request([...kit.adapter.items(request).slice(leadingOf(kit)), ...userItems(kit, question)]),
      );
      if (replacementsIn(kit, next) > 0) expectValid(kit, 'The rebuilt request', next);
      expectSound(kit, model);
    },
  },
];

import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatReply, ChatRequest } from '../../src/adapters/openai-chat.ts';
import type { ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { createSession, memoryStore, readTurn } from '../../src/session.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { openaiResponsesKit } from '../../src/testing/kits/openai-responses.ts';
import { goodSummary, smallBudget } from '../support/scripted-model.ts';
import { calls, dueRun, long, textsOf } from '../support/session-due-run.ts';
import { openRun, saidIn, userSays } from '../support/session-run.ts';

describe('input that is accepted while a summary is written', () => {
  it('B053: is behind the summary, live and after a restart, and was stored before', async () => {
    const { run } = await dueRun({ onSummary: () => void run.say('And the tests?') as undefined });
    await run.step({ reply: { text: 'Fine.' } });
    expect(textsOf(run)).toEqual([expect.stringContaining('What does the log say?'), 'user: And the tests?', 'assistant: Fine.']);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
    expect((await run.reopen()).session.messages).toEqual(run.session.messages);
  });

  it('B052: by hand, is behind the summary in the order in which it came', async () => {
    const { run } = await dueRun();
    const compacting = run.loop.compact(run.session.recordManual());
    await run.say('First.');
    await run.say('Second.');
    await compacting;
    expect(textsOf(run).slice(1)).toEqual(['user: First.', 'user: Second.']);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });

  it('is kept word for word by hand, too, where the session was not told that a summary is being written', async () => {
    const { run } = await dueRun();
    const compacting = run.loop.compact();
    await run.say('First.');
    await compacting;
    expect(textsOf(run).slice(1)).toEqual(['user: First.']);
  });

  it('is kept with the turn that answered it, where both came meanwhile', async () => {
    for (const compact of ['prepare', 'compact'] as const) {
      let isFirst = true;
      const { run } = await dueRun({
        async onSummary() {
          if (isFirst) {
            isFirst = false;
            await run.say('And the tests?');
            await run.take({ text: 'They pass.' });
          }
          return undefined;
        },
      });
      await run.loop[compact]();
      expect(textsOf(run).slice(1)).toEqual(['user: And the tests?', 'assistant: They pass.']);
      expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
      expect((await run.reopen()).session.messages).toEqual(run.session.messages);
      await run.take({ text: long });
      await run.loop.compact(); // it is counted anew now: nothing is taken for a later turn
      expect(textsOf(run)).toHaveLength(1);
    }
  });

  it('is kept without its reasoning, which is bound to what was replaced, live and after a restart', async () => {
    let isFirst = true;
    const run = await openRun(anthropicKit, {
      store: memoryStore(),
      async onSummary() {
        if (isFirst) {
          isFirst = false;
          await run.say('And the tests?');
          await run.take({ reasoning: 'Which tests?', text: 'They pass.' });
        }
        return undefined;
      },
    });
    await run.say('What does the log say?');
    await run.step({ reply: { calls: calls('call_1') }, results: [long] });
    await run.loop.prepare();
    const [live, other] = [run, await run.reopen()].map(({ loop }) => JSON.stringify(loop.request));
    expect(other).toBe(live);
    expect(other).toContain('They pass.');
    expect(other).not.toContain('Which tests?');
  });

  it('stays where the turn has no snapshot, as far as a compaction by hand was recorded', async () => {
    const { run } = await dueRun();
    const compacting = run.loop.compact(run.session.recordManual());
    const items = openaiChatKit.adapter.writeMessage({ role: 'assistant', parts: [{ type: 'text', text: 'By the way.' }] });
    run.loop.append(items);
    await run.session.appendTurn(readTurn(openaiChatKit.adapter, items));
    await compacting;
    expect(textsOf(run).slice(1)).toEqual(['assistant: By the way.']);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });

  it('is covered by the compaction by hand that waited for an automatic one, and is not there twice', async () => {
    const { run } = await dueRun();
    const automatic = run.loop.prepare();
    const compacting = run.loop.compact(run.session.recordManual());
    await automatic;
    await compacting.catch(() => undefined);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });

  it('is not lost where it is stored before the loop has it', async () => {
    const { run } = await dueRun({ onSummary: () => void run.session.appendUser(userSays('Not yet told.')) as undefined });
    await run.step({ reply: { text: 'Fine.' } });
    expect(textsOf(run)).toContain('user: Not yet told.');
  });
});

describe('a loop that starts over', () => {
  it('is counted anew: what was said before is no later turn', async () => {
    const { run } = await dueRun();
    run.loop.reset();
    await run.say('Something else.');
    await run.take({ text: long });
    await run.loop.compact();
    expect(textsOf(run)).toHaveLength(1);
    expect(saidIn(openaiChatKit, run.loop.request)).toEqual(run.session.messages);
  });
});

describe('what stays behind a replacement', () => {
  it('is stored with it, also where nothing was restored before', async () => {
    const session = await createSession({ store: memoryStore(), id: 'run' });
    const { adapter } = openaiChatKit;
    const turn = (text: string) => adapter.writeMessage({ role: 'assistant', parts: [{ type: 'text', text }] });
    const messages = [
      ...adapter.writeMessage(userSays('Read it.')),
      ...turn(long),
      ...adapter.writeMessage(userSays('And the next?')),
      ...turn('Empty.'),
    ];
    const loop = new AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>(openaiChatKit.request(messages), {
      adapter,
      ...smallBudget,
      retain: { tail: { min: 100, max: 200 } },
      send: async () => openaiChatKit.reply({ text: goodSummary }),
      commit: session.commit,
    });
    await loop.compact();
    expect(session.messages.slice(1)).toEqual([
      userSays('And the next?'),
      { role: 'assistant', parts: [{ type: 'text', text: 'Empty.' }] },
    ]);
    expect(session.messages).toEqual(loop.history.filter(({ role }) => role !== 'system'));
  });

  it('is what another process stored, until the session is restored again', async () => {
    const store = memoryStore();
    const { run } = await dueRun({ store });
    const other = await run.reopen();
    await other.say('From another machine.');
    await other.take({ text: 'Answered there.' });
    await expect(run.say('Refused.')).rejects.toMatchObject({ code: 'store-conflict' });
    await run.loop.compact();
    const texts = textsOf(run);
    expect(texts.slice(-2)).toEqual(['user: From another machine.', 'assistant: Answered there.']);
    const restored = await run.reopen();
    expect(textsOf(restored)).toEqual(texts);
    await restored.loop.compact();
    expect(textsOf(restored)).toHaveLength(1);
  });

  it('is a checkpoint of the provider, in front of the summary', async () => {
    const kit = openaiResponsesKit;
    const run = await openRun(kit, { store: memoryStore() });
    await run.say('What does the log say?');
    const checkpoint: ResponsesItem = { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' };
    run.loop.append([checkpoint]);
    await run.session.appendTurn(readTurn(kit.adapter, [checkpoint]));
    for (const round of [1, 2]) {
      await run.step({ reply: { calls: [{ id: `call_${round}`, name: 'read', input: {} }] }, results: [long] });
      await run.loop.compact();
      const other = await run.reopen();
      expect(JSON.stringify(other.loop.request.input)).toBe(JSON.stringify(run.loop.request.input));
      expect(JSON.stringify(other.loop.request).split('sealed')).toHaveLength(2);
    }
  });
});

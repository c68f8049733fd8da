import { expect, it } from 'vitest';
import { type AnthropicRequest, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { createCompactor } from '../../src/compactor.ts';
import { textOf } from '../../src/message.ts';
import { createSession, memoryStore, readTurn } from '../../src/session.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { lifecycleOf } from '../support/harness.ts';
import { goodSummary, smallBudget } from '../support/report-model.ts';
import { openRun, saidIn, userSays } from '../support/session-run.ts';

const long = 'line of a log, '.repeat(200);
const call = { id: 'call_1', name: 'read', input: { path: 'a.ts' } };

it('a worker stops in the middle of a turn, and another process goes on as it would have', async () => {
  const store = memoryStore();
  const first = await openRun(openaiChatKit, { store });
  await first.say('What does the log say?');
  await first.step({ reply: { calls: [call], usage: { inputTokens: 100, outputTokens: 9 } }, results: [long] });

  const [second, unstopped] = [await first.reopen(), first];
  for (const run of [unstopped, second]) await run.loop.prepare().catch(() => undefined);
  expect(lifecycleOf(second.events)).toEqual(['started', 'failed: commit-failed']); // the other one was faster
  await second.session.reload();
  const third = await second.reopen();
  await third.step({ reply: { text: 'It says nothing.' } });
  expect(lifecycleOf(third.events)).toEqual([]); // compacted already
  expect(saidIn(openaiChatKit, third.loop.request).map(textOf)).toEqual([
    expect.stringContaining('What does the log say?'),
    'It says nothing.',
  ]);
});

it('thinking with its signature comes back byte for byte in a tool loop, and is gone where another provider goes on', async () => {
  const store = memoryStore();
  const run = await openRun(anthropicKit, { store });
  await run.say('Read it.');
  await run.step({ reply: { reasoning: 'Which file first?', text: 'I read.', calls: [call] }, results: ['ok'] });
  const other = await run.reopen();
  expect(JSON.stringify(other.loop.request)).toBe(JSON.stringify(run.loop.request));
  expect(JSON.stringify(other.loop.request)).toContain('"signature"');

  const elsewhere = await openRun(openaiChatKit, { store });
  expect(JSON.stringify(elsewhere.loop.request)).not.toContain('Which file first?');
  expect(openaiChatKit.validate(elsewhere.loop.request)).toEqual([]);
  expect(saidIn(openaiChatKit, elsewhere.loop.request).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
});

it('a replacement is known again in the shape of another provider, and is unwrapped by the next compaction', async () => {
  const store = memoryStore();
  const run = await openRun(openaiChatKit, { store });
  await run.say('What does the log say?');
  await run.step({ reply: { calls: [call] }, results: [long] });
  await run.step({ reply: { calls: [{ ...call, id: 'call_2' }] }, results: [long] });
  const elsewhere = await openRun(anthropicKit, { store });
  await elsewhere.step({ reply: { text: 'Nothing.' } });
  expect(lifecycleOf(elsewhere.events)).toEqual(['started', 'applied']);
  const text = JSON.stringify(elsewhere.loop.request);
  expect(text.split('<compacted_context>')).toHaveLength(2);
  expect(text.split('What does the log say?')).toHaveLength(2);
  expect(anthropicKit.validate(elsewhere.sent[0] ?? elsewhere.loop.request)).toEqual([]);
});

it('a caller that keeps its own array goes on with a shorter one, and nothing is compacted twice', async () => {
  const adapter = openaiChat();
  const store = memoryStore();
  const system = { role: 'system', content: 'Be exact.' };
  const base: ChatRequest = { model: 'gpt-5', messages: [system] };

  const open = async () => {
    const session = await createSession({ store, id: 'run' });
    const { request, snapshot } = session.restore(adapter, base);
    const summaries: ChatRequest[] = [];
    const compactor = createCompactor({
      adapter,
      ...smallBudget,
      commit: session.commit,
      send: async (sent: ChatRequest) => {
        summaries.push(sent);
        return openaiChatKit.reply({ text: goodSummary });
      },
    });
    if (snapshot) compactor.restore(snapshot);
    return { session, request, compactor, summaries };
  };

  const first = await open();
  const messages = [...first.request.messages];
  const question = userSays('What does the log say?');
  const turn = [
    ...adapter.writeMessage({ role: 'assistant', parts: [{ type: 'toolCall', ...call }] }),
    ...adapter.writeMessage({
      role: 'tool',
      parts: [{ type: 'toolResult', callId: 'call_1', content: [{ type: 'text', text: long }] }],
    }),
  ];
  await first.session.appendUser(question);
  messages.push(...adapter.writeMessage(question), ...turn);
  const whole = { ...base, messages };
  await first.session.appendTurn({ ...readTurn(adapter, turn), snapshot: first.compactor.snapshot(whole) });
  const sent = await first.compactor.prepare(whole);
  expect(first.summaries).toHaveLength(1);
  const answer = [{ role: 'assistant', content: 'It says nothing.' }];
  const grown = { ...base, messages: [...messages, ...answer] };
  await first.compactor.prepare(grown);
  await first.session.appendTurn({ ...readTurn(adapter, answer), snapshot: first.compactor.snapshot(grown) });

  const second = await open();
  expect(second.request.messages).toEqual([...sent.messages, ...answer]);
  expect(second.compactor.estimate(second.request).tokens).toBe(first.compactor.estimate(grown).tokens);
  await second.compactor.prepare(second.request);
  expect(second.summaries).toEqual([]);
  const [mine, theirs] = [first.compactor.snapshot(grown), second.compactor.snapshot(second.request)];
  expect(theirs.replacements).toEqual(mine.replacements);
  expect(theirs.trigger.sizeAfter).toBe(mine.trigger.sizeAfter);
  expect(theirs.trigger.attempt?.count).toBe(1); // right behind the replacement
  expect(theirs.overlay).toBeUndefined();
  expect(JSON.stringify((await store.load('run')).events)).not.toContain('"overlay"'); // the replacement is there as messages
});

it('system messages in the middle are not stored, and move no place', async () => {
  const run = await openRun(anthropicKit, { store: memoryStore() });
  await run.say('What does the log say?');
  await run.step({ reply: { calls: [call] }, results: [long] });
  run.loop.append([{ role: 'system', content: 'Answer in German.' }]);
  await run.step({ reply: { text: 'Nichts.' } });
  expect(lifecycleOf(run.events)).toEqual(['started', 'applied']);
  const other = await run.reopen();
  expect(JSON.stringify(run.loop.request)).toContain('German');
  expect(JSON.stringify(other.loop.request)).not.toContain('German');
  const rest = (request: AnthropicRequest, count: number | undefined) =>
    anthropicMessages()
      .items(request)
      .slice(count)
      .map(({ role }) => role);
  expect(rest(other.loop.request, other.loop.snapshot().trigger.attempt?.count)).toEqual(['assistant']);
});

it('failures and what the user had said then are known after a restart', async () => {
  const run = await openRun(openaiChatKit, { store: memoryStore(), onSummary: () => ({ text: ' ' }) });
  await run.say('What does the log say?');
  for (const id of ['call_1', 'call_2', 'call_3', 'call_4'])
    await run.step({ reply: { calls: [{ ...call, id }] }, results: [long] });
  expect(run.loop.snapshot().trigger.failures).toBe(3);
  const other = await run.reopen();
  await other.loop.prepare();
  expect(lifecycleOf(other.events)).toEqual([]); // suppressed
  await other.say('Go on.');
  await other.loop.prepare();
  expect(lifecycleOf(other.events)).toEqual(['started', 'failed: empty-summary']);
});

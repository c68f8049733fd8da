import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/session.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { calls, dueRun, long, textsOf } from '../support/session-due-run.ts';
import { openRun, saidIn } from '../support/session-run.ts';

describe('outputs of tools', () => {
  it('K1: are whole in the loop and as short as the host wants in the store, in every form', async () => {
    const store = memoryStore();
    for (const kit of [openaiChatKit, anthropicKit]) {
      const id = kit.name;
      const run = await openRun(kit as typeof openaiChatKit, {
        store,
        id,
        retainOutput: ({ name, input, output, isError }) =>
          JSON.stringify(output).includes('RAW') ? `${name} ${JSON.stringify(input)} ${isError}` : output,
      });
      await run.say('Look.');
      await run.step({ reply: { text: 'I look.', reasoning: 'Why?', calls: calls('call_1') }, results: ['RAW output'] });
      run.session.recorder.onToolStart({ id: 'call_2', name: 'read', input: {} });
      run.session.recorder.onToolEnd({ id: 'call_2', output: 'RAW too' });
      await run.loop.compact();
      await run.session.appendTurn({ messages: run.session.recorder.messages() });
      expect(JSON.stringify(run.sent)).not.toContain('RAW'); // sent before it was there
      const text = JSON.stringify((await store.load(id)).events);
      expect(text).not.toContain('RAW');
      expect(text).toContain('read {\\"path\\":\\"a.ts\\"} false');
    }
  });

  it('are short in what a compaction by hand keeps of tools that ran in it, and in the turns that stay behind it', async () => {
    const store = memoryStore();
    const retain = { tail: { min: 100, max: 300 } };
    const run = await openRun(openaiChatKit, { store, retain, retainOutput: () => 'short' });
    await run.say('Look.');
    await run.take({ text: long });
    await run.say('And here?');
    await run.take({ text: 'I look.', calls: calls('call_1') }, ['RAW output']);
    const { recorder } = run.session;
    recorder.onToolStart({ id: 'call_2', name: 'read', input: {} });
    recorder.onToolEnd({ id: 'call_2', output: 'RAW too' });
    await run.loop.compact(run.session.recordManual({ recorder }));
    expect(JSON.stringify(run.loop.request)).toContain('RAW output');
    expect(textsOf(run)).toHaveLength(4);
    expect(recorder.unstored).toEqual({ text: '', activities: [] }); // nothing of it is stored a second time
    expect(JSON.stringify((await store.load('run')).events)).not.toContain('RAW');
  });

  it('are short in the checkpoint of an automatic compaction, too', async () => {
    const { run, store } = await dueRun({
      retainOutput: ({ output }) => (JSON.stringify(output).includes('RAW') ? 'short' : output),
    });
    run.session.recorder.onToolStart({ id: 'call_2', name: 'read', input: {} });
    run.session.recorder.onToolEnd({ id: 'call_2', output: 'RAW' });
    await run.loop.prepare();
    const { events } = await store.load('run');
    expect(JSON.stringify(events.at(-2))).toContain('"checkpoint":true');
    expect(JSON.stringify(events)).toContain('short');
    expect(JSON.stringify(events)).not.toContain('RAW');
  });

  it('are seen whole by the next request of the running loop', async () => {
    const run = await openRun(openaiChatKit, { store: memoryStore(), retainOutput: () => '' });
    await run.say('Look.');
    await run.step({ reply: { calls: calls('call_1') }, results: ['RAW output'] });
    await run.step({ reply: { text: 'Done.' } });
    expect(JSON.stringify(run.sent[1])).toContain('RAW output');
    const other = await run.reopen();
    expect(saidIn(openaiChatKit, other.loop.request)).toHaveLength(4);
    expect(JSON.stringify(other.loop.request)).not.toContain('RAW');
  });

  it('a host function that throws stores nothing', async () => {
    const store = memoryStore();
    const run = await openRun(openaiChatKit, {
      store,
      retainOutput: () => {
        throw new Error('no room');
      },
    });
    await run.say('Look.');
    await expect(run.step({ reply: { calls: calls('call_1') } })).rejects.toThrow('no room');
    expect((await store.load('run')).events).toHaveLength(2);
  });
});

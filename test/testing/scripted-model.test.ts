import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { randomConversation } from '../../src/testing/conversation.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const kit = providerKits['openai-chat'];
const context = { signal: new AbortController().signal, purpose: 'turn', attempt: 1 } as const;

describe('scriptedModel', () => {
  it('plays its answers in order, turns and summaries apart, and then the usual ones', async () => {
    const model = scriptedModel(kit, { turns: [{ text: 'First.' }], summaries: [{ text: 'Short.' }] });
    const request = kit.request([{ role: 'user', content: 'Hi.' }]);
    const say = async (purpose: 'turn' | 'summary') =>
      (await kit.adapter.readReply(await model.send(request, { ...context, purpose }))).text;
    expect([await say('turn'), await say('turn'), await say('turn')]).toEqual(['First.', 'Done.', 'Done.']);
    expect([await say('summary'), await say('summary')]).toEqual(['Short.', expect.stringContaining('## Goal')]);
    expect(model.turns).toHaveLength(3);
    expect(model.summaries).toHaveLength(2);
  });

  it('streams where it is told to, and remembers what the provider would refuse', async () => {
    const model = scriptedModel(kit, { streamed: true, turns: [(request) => ({ text: String(request.messages.length) })] });
    const reply = await model.send(
      kit.request(
        [
          { role: 'user', content: 'Hi.' },
          { role: 'tool', tool_call_id: 'x', content: 'y' },
        ],
        { system: '' },
      ),
      context,
    );
    expect(Symbol.asyncIterator in Object(reply)).toBe(true);
    expect(await kit.adapter.readReply(reply)).toMatchObject({ text: '2', finish: 'stop' });
    expect(model.turns[0]?.violations.map(({ rule }) => rule)).toEqual(['orphan-tool-message']);
  });

  it('fails as it is told to', async () => {
    const model = scriptedModel(kit, { turns: [() => Promise.reject(new Error('busy'))] });
    await expect(model.send(kit.request([]), context)).rejects.toThrow('busy');
  });

  it('is all that a compactor needs', async () => {
    const model = scriptedModel(kit);
    const compactor = createCompactor({ adapter: kit.adapter, send: model.send });
    const { request } = await compactor.compact(kit.request(randomConversation(kit, chooseFrom(1))));
    expect(kit.validate(request)).toEqual([]);
    expect(model.summaries).toHaveLength(1);
  });
});

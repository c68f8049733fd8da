import { createContext, runInContext } from 'node:vm';
import { AIMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { writeItems } from '../../src/session/native-items.ts';
import { retainOutputs } from '../../src/session/retain-output.ts';
import { readTurn, type StoredMessages } from '../../src/session.ts';
import { langchainKit } from '../../src/testing/kits/langchain.ts';

const adapter = anthropicMessages();
const thinking = { type: 'thinking', thinking: 'Why?', signature: 'c2lnbmVk' };
const callBlock = { type: 'tool_use', id: 'call_1', name: 'read', input: {} };
const items = [
  { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
  { role: 'assistant', content: [thinking, callBlock] },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'RAW' }] },
      { type: 'text', text: 'And?' },
    ],
  },
] as const;

describe('items of a provider', () => {
  it('are kept beside messages where these do not say all, and only there', () => {
    const stored = readTurn(adapter, items);
    expect(stored.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(stored.native).toMatchObject({
      provider: 'anthropic',
      items: [
        { from: 1, count: 1 },
        { from: 2, count: 2 },
      ],
    });
    expect(writeItems(adapter, stored)).toEqual(items);
    const plain = readTurn(openaiChat(), [{ role: 'user', content: 'Look.' }]);
    expect(plain.native).toBeUndefined();
  });

  it('are copies', () => {
    const item = { role: 'assistant', content: [{ ...thinking }, callBlock] };
    const stored = readTurn(adapter, [item]);
    item.content.length = 0;
    expect(writeItems(adapter, stored)).toMatchObject([{ content: [thinking, callBlock] }]);
    expect(writeItems(adapter, stored)[0]).not.toBe(stored.native?.items[0]?.item);
  });

  it('are kept of any realm, as a test runner or a sandbox has', () => {
    const foreign: typeof items = runInContext(`(${JSON.stringify(items)})`, createContext());
    expect(writeItems(adapter, readTurn(adapter, foreign))).toEqual(items);
  });

  it('are left out where they are no plain data, or where less of an output is retained', () => {
    const answer = new AIMessage({ content: 'Yes.', additional_kwargs: { note: 1 } });
    expect(readTurn(langchainKit.adapter, [answer]).native).toBeUndefined();
    const short = retainOutputs(readTurn(adapter, items), () => 'short');
    expect(JSON.stringify(short)).not.toContain('RAW');
    expect(short.native?.items).toMatchObject([{ from: 1 }]);
    expect(writeItems(adapter, short).slice(0, 2)).toEqual(items.slice(0, 2));
  });

  it('that say nothing come back at their place', () => {
    const empty = { role: 'assistant', content: [] };
    const stored = readTurn(adapter, [items[0], empty, items[1]]);
    expect(writeItems(adapter, stored)).toEqual([items[0], empty, items[1]]);
  });

  it('of damaged places are passed over', () => {
    const stored: StoredMessages = {
      messages: readTurn(adapter, items).messages,
      native: { provider: 'anthropic', items: [1, 0, 99].map((from) => ({ item: items[1], from, count: 1 })) },
    };
    const written = writeItems(adapter, stored);
    expect(written.slice(0, 2)).toEqual(items.slice(0, 2));
    expect(written.filter((item) => JSON.stringify(item).includes('And?'))).toHaveLength(1);
  });
});

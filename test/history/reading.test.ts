import { describe, expect, it } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { CompactionError } from '../../src/errors.ts';
import { countLeadingSystem, createItemReader, isSystem, messagesOf } from '../../src/history/reading.ts';
import { readChat, readClaude } from '../support/views.ts';

const user: ChatMessage = { role: 'user', content: 'Hello' };
const system: ChatMessage = { role: 'system', content: 'Be exact.' };

describe('createItemReader', () => {
  it('reads an item once, and again after it was edited in place', () => {
    let readings = 0;
    const adapter = openaiChat();
    const read = createItemReader({
      ...adapter,
      readItem(item: ChatMessage) {
        readings++;
        return adapter.readItem(item);
      },
    });
    const item = { role: 'user', content: 'Hello' };
    const first = read(item);
    expect(read(item)).toBe(first);
    expect(readings).toBe(1);
    item.content = 'Good bye';
    const second = read(item);
    expect(second.messages).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Good bye' }] }]);
    expect(second.fingerprint).not.toBe(first.fingerprint);
    expect(readings).toBe(2);
  });

  it('gives clones, cache markers and other orders of keys the same fingerprint', () => {
    const item = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
    const marked = { content: [{ cache_control: { type: 'ephemeral' }, text: 'Hello', type: 'text' }], role: 'user' };
    for (const read of [readChat, readClaude]) {
      const { fingerprint } = read(item);
      expect(read(structuredClone(item)).fingerprint).toBe(fingerprint);
      expect(read(marked).fingerprint).toBe(fingerprint);
      expect(read({ role: 'user', content: 'Hello' }).fingerprint).toBe(fingerprint);
      expect(read({ role: 'user', content: 'Hello!' }).fingerprint).not.toBe(fingerprint);
      expect(read({ role: 'assistant', content: 'Hello' }).fingerprint).not.toBe(fingerprint);
    }
  });

  it('takes opaque parts into the fingerprint', () => {
    const item = (id: string) => ({
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'server_thing', id },
      ],
    });
    expect(readClaude(item('1')).fingerprint).not.toBe(readClaude(item('2')).fingerprint);
    expect(readChat({ ...user, name: 'bob' } as ChatMessage).fingerprint).not.toBe(readChat(user).fingerprint);
  });

  it('says how an item has to be repaired, and keeps a sound one as it is', () => {
    expect(readChat(user)).toMatchObject({ sound: user, repairs: [] });
    expect(readChat(user).sound).toBe(user);
    const broken = readChat({ role: 'user', content: 'a\ud800' });
    expect(broken.sound).toEqual({ role: 'user', content: 'a\ufffd' });
    expect(broken.repairs).toEqual(['Broken characters were replaced.']);
    const blank = readChat({ role: 'assistant', content: ' ' });
    expect(blank.sound).toBeUndefined();
    expect(blank.repairs).toEqual(['Parts that the provider refuses were left out.']);
  });

  it.each([null, undefined, 5, 'text', true])('refuses %j, which is no object', (item) => {
    // A wrong item is the point.
    expect(() => readChat(item as never)).toThrow(CompactionError);
    expect(() => readChat(item as never)).toThrow('Expected each item to be an object');
  });
});

describe('items that hold standing instructions', () => {
  it('are those of which every message is a system message', () => {
    const none: ProviderAdapter<object, object, object> = { ...openaiChat(), readItem: () => [] } as never;
    expect(isSystem(readChat(system))).toBe(true);
    expect(isSystem(readChat({ role: 'developer', content: 'Be brief.' }))).toBe(true);
    expect(isSystem(readChat(user))).toBe(false);
    expect(isSystem(createItemReader(none)({}))).toBe(false);
  });

  it('are counted up to the first other item', () => {
    const count = (items: ChatMessage[]) => countLeadingSystem(items.map(readChat));
    expect(count([])).toBe(0);
    expect(count([user, system])).toBe(0);
    expect(count([system, system, user, system])).toBe(2);
    expect(count([system, system])).toBe(2);
  });
});

describe('messagesOf', () => {
  it('gives all messages in order', () => {
    const results = {
      role: 'user',
      content: [
        { type: 'text', text: 'And?' },
        { type: 'tool_result', tool_use_id: 't1', content: 'ok' },
      ],
    };
    expect(messagesOf([results, { role: 'assistant', content: 'Fine.' }].map(readClaude)).map(({ role }) => role)).toEqual([
      'tool',
      'user',
      'assistant',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { CompactionError } from '../../src/errors.ts';
import { endMark, fingerprintSurroundings, readRequest, startsWith } from '../../src/history/view.ts';
import { readTool } from '../support/scripted-model.ts';
import { chatView, claudeView, readChat, readClaude } from '../support/views.ts';

const system: ChatMessage = { role: 'system', content: 'Be exact.' };
const question: ChatMessage = { role: 'user', content: 'Why?' };
const answer: ChatMessage = { role: 'assistant', content: 'Because.' };

describe('readRequest', () => {
  it('divides leading instructions from the conversation, and keeps the items', () => {
    const view = chatView([system, question, system, answer]);
    expect(view.leading.map(({ item }) => item)).toEqual([system]);
    expect(view.body.map(({ item }) => item)).toEqual([question, system, answer]);
    expect(view.body[0]?.item).toBe(question);
    expect(view.chain).toHaveLength(4);
    expect(view.context).toMatchObject({ model: 'gpt-5' });
  });

  it('stands for a conversation whatever its leading instructions say', () => {
    const today = chatView([{ role: 'system', content: 'Today is Monday.' }, question, answer]);
    const tomorrow = chatView([{ role: 'system', content: 'Today is Tuesday.' }, question, answer, question]);
    const none = chatView([question, answer]);
    expect(startsWith(tomorrow, endMark(today))).toBe(true);
    expect(startsWith(none, endMark(today))).toBe(true);
    expect(startsWith(today, endMark(tomorrow))).toBe(false);
  });

  it('names what cannot be read', () => {
    const read = (request: unknown) => () => readRequest(openaiChat(), readChat, request as never);
    const cyclic: Record<string, unknown> = { role: 'user' };
    cyclic.content = [cyclic];
    const throwing = Object.defineProperty({ role: 'user' }, 'content', {
      enumerable: true,
      get: () => {
        throw new TypeError('no content today');
      },
    });
    expect(read(null)).toThrow('`messages`');
    expect(read({ messages: [question, null] })).toThrow('`messages[1]`');
    expect(read({ messages: [question, answer, cyclic] })).toThrow(
      'Item 2 of the conversation cannot be read: Expected a value without cycles',
    );
    expect(read({ messages: [question, throwing] })).toThrow('Item 1 of the conversation cannot be read: no content today');
    // biome-ignore lint/suspicious/noSparseArray: a hole is the point
    expect(read({ messages: [question, , answer] })).toThrow('Item 1 of the conversation cannot be read');
    expect(() => readRequest(anthropicMessages(), readClaude, null as never)).toThrow('The request cannot be read');
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(read(proxy)).toThrow(CompactionError);
  });
});

describe('a mark', () => {
  it('fits the conversations that begin with exactly its items', () => {
    const mark = endMark(chatView([question, answer]));
    expect(mark.count).toBe(2);
    expect(startsWith(chatView([question, answer]), mark)).toBe(true);
    expect(startsWith(chatView([question, answer, question]), mark)).toBe(true);
    expect(startsWith(chatView([structuredClone(question), structuredClone(answer)]), mark)).toBe(true);
    expect(startsWith(chatView([question]), mark)).toBe(false);
    expect(startsWith(chatView([answer, question]), mark)).toBe(false);
    expect(startsWith(chatView([question, { ...answer, content: 'Because!' }]), mark)).toBe(false);
  });

  it('of nothing fits everything', () => {
    const mark = endMark(chatView([]));
    expect(startsWith(chatView([]), mark)).toBe(true);
    expect(startsWith(chatView([question]), mark)).toBe(true);
  });
});

describe('fingerprintSurroundings', () => {
  it('changes with model, tools, system text and leading instructions, not with the conversation', () => {
    const base = fingerprintSurroundings(chatView([system, question], { tools: [readTool] }));
    expect(fingerprintSurroundings(chatView([system, question, answer], { tools: [structuredClone(readTool)] }))).toBe(base);
    expect(fingerprintSurroundings(chatView([system, question], { tools: [readTool], model: 'gpt-4o' }))).not.toBe(base);
    expect(fingerprintSurroundings(chatView([system, question]))).not.toBe(base);
    expect(fingerprintSurroundings(chatView([question], { tools: [readTool] }))).not.toBe(base);
    const claude = (text: string) =>
      fingerprintSurroundings(claudeView([{ role: 'user', content: 'Why?' }], { system: [{ type: 'text', text } as never] }));
    expect(claude('Monday')).toBe(claude('Monday'));
    expect(claude('Monday')).not.toBe(claude('Tuesday'));
  });

  it('sees tools that were edited in place', () => {
    const tools = [{ ...readTool, function: { ...readTool.function, description: 'Reads.' } }];
    const before = fingerprintSurroundings(chatView([question], { tools }));
    Object.assign(tools[0]?.function ?? {}, { description: 'Reads and writes.' });
    expect(fingerprintSurroundings(chatView([question], { tools }))).not.toBe(before);
  });
});

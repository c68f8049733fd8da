import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/message.ts';
import { payAttention } from '../../../src/summarize/extractive/attention.ts';
import { readConversation } from '../../../src/summarize/extractive/conversation.ts';
import { listFacts } from '../../../src/summarize/extractive/tool-facts.ts';
import { assistant, tool, user } from './short-messages.ts';

const facts = (messages: Message[]) => {
  const conversation = readConversation(messages);
  return listFacts(conversation, payAttention(conversation, [])).found;
};
const text = (messages: Message[]) =>
  facts(messages)
    .map((entry) => entry.text)
    .join('\n');

describe('listFacts', () => {
  it.each([
    ['export const LIMIT = 42;', 'export const LIMIT = 42'],
    ['  12→export const LIMIT: number = 1_000;', 'export const LIMIT: number = 1_000'],
    ['#define BUFFER_SIZE 4096', '#define BUFFER_SIZE 4096'],
    ['pub const MAX_RETRIES: u32 = 5;', 'pub const MAX_RETRIES: u32 = 5'],
    ['MAX_ITEMS = 250', 'MAX_ITEMS = 250'],
    ['export function parse(text: string): Node {', 'export function parse(text: string): Node'],
    ['  "version": "3.12.1",', '"version": "3.12.1"'],
    [
      '2026-01-02T03:04:05Z ERROR request 150 failed: certificate expired',
      '2026-01-02T03:04:05Z ERROR request 150 failed: certificate expired',
    ],
  ])('quotes %j after its path', (line, fact) => {
    expect(text(tool('read', { path: 'src/a.ts' }, `import x from 'y';\n\n${line}\n}\n// end`))).toBe(`[src/a.ts] ${fact}`);
  });

  it('names the file of a search hit', () => {
    expect(text(tool('grep', { pattern: 'LIMIT' }, 'src/b.ts:17:export const LIMIT = 42;'))).toBe(
      '[src/b.ts] export const LIMIT = 42',
    );
  });

  it('puts the short facts of one source on one line, the best first, and leaves a poor one behind', () => {
    const source = 'const name = compute();\nexport const A_LIMIT = 1;\nexport const B_LIMIT = 2;';
    expect(text(tool('read', { path: 'a.ts' }, source))).toBe('[a.ts] export const A_LIMIT = 1 · export const B_LIMIT = 2');
  });

  it('ranks a line higher that the assistant takes up later, or that the user asks about', () => {
    const output = 'the alpha_rate of the first machine 311\nthe gamma_rate of the other machine 313';
    expect(text([user('Go.'), ...tool('query', { q: 'x' }, output), assistant('The gamma_rate surprises me.')])).toBe(
      '[query {"q":"x"}] the gamma_rate of the other machine 313',
    );
    expect(text([user('How fast is the gamma machine, and its other parts?'), ...tool('query', { q: 'x' }, output)])).toContain(
      'gamma_rate',
    );
  });

  it('reads the values of JSON', () => {
    const lines = text([
      user('Show the reservation and its price.'),
      ...tool('get_booking', { id: 'X1' }, '{"reservation":{"code":"JG7FMM","price":120,"notes":null}}'),
    ]);
    expect(lines).toContain('reservation.code: JG7FMM');
    expect(lines).toContain('reservation.price: 120');
    expect(lines).not.toContain('notes');
  });

  it('tells what was defined in a written file', () => {
    expect(text(tool('write', { path: 'a.py', content: 'def total(rows):\n    return 1\nRATE = 19' }, 'ok'))).toBe(
      '[a.py] RATE = 19 · def total(rows):',
    );
  });

  it('lets a newer value of a name take the place of the older one', () => {
    const lines = text(['1', '2'].flatMap((value) => tool('read', { path: 'a.ts' }, `export const LIMIT = ${value};`)));
    expect(lines).toBe('[a.ts] export const LIMIT = 2');
  });

  it('keeps a bounded number of a result, however many there are', () => {
    const source = Array.from({ length: 20_000 }, (_, index) => `export const value${index} = ${index};`).join('\n');
    expect(text(tool('read', { path: 'a.ts' }, source)).split('export').length).toBeLessThanOrEqual(13);
  });
});

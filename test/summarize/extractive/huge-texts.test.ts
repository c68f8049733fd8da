import { describe, expect, it } from 'vitest';
import { type ChatMessage, type ChatRequest, openaiChat } from '../../../src/adapters/openai-chat.ts';
import { countBytesByThree } from '../../../src/budget/token-counter.ts';
import { createCompactor } from '../../../src/compactor.ts';
import type { Message } from '../../../src/message.ts';
import { buildReplacement } from '../../../src/prompt/replacement.ts';
import { extractiveSummarizer, extractSummary } from '../../../src/summarize/extractive.ts';
import { assistant, section, tool, user } from './short-messages.ts';

const timeout = 120_000;

/** Ten million code units of it: a greedy regular expression over as many overflows the stack. */
const bulk = (piece: string): string => piece.repeat(Math.ceil(10_000_000 / piece.length));

const texts: Record<string, () => string> = {
  'one word': () => bulk('x'),
  'marks on one line': () => bulk('# '),
  'emoji on one line': () => bulk('😀'),
  'sentences on one line': () => bulk('The value of alpha is 4711. '),
  'lines of errors': () => bulk('Error: x failed\n'),
  'lines of rules': () => bulk('You should always obey src/a.ts.\n'),
  'short lines': () => bulk('a\r\n'),
};

const places: Record<string, (text: string) => Message[]> = {
  'a message of the user': (text) => [user(text)],
  'an answer of the assistant': (text) => [assistant(text)],
  'the result of a command': (text) => tool('bash', { command: 'npm test' }, text, true),
  'a file that is read': (text) => tool('read', { path: 'a.ts' }, text),
  'the content of a file that is written': (text) => tool('write', { path: 'b.ts', content: text }, 'ok'),
  'a command': (text) => tool('bash', { command: text }, 'ok'),
  'an operand of a command': (text) => tool('bash', { command: `cat ${text}` }, 'ok'),
  'the name and the input of an unknown tool': (text) => tool(text, text, 'ok'),
  'an earlier summary': (text) => [buildReplacement({ summary: `## Discoveries\n${text}\n## Accomplished\n- a` })],
};

const rule = 'You must never delete the table.';
const path = 'src/written.ts';
const error = 'RangeError: row 7 is out of range';
const next = 'Next I will rest.';

/** A short conversation around the bulk. An earlier summary stands first. */
function around(middle: Message[]): Message[] {
  return [
    user(`Tidy up. ${rule}`),
    ...tool('write', { path, content: 'a' }, 'ok'),
    ...middle,
    ...tool('bash', { command: 'node a.js' }, error, true),
    assistant(next),
  ];
}

function expectGuarantees(summary: string): void {
  expect(section(summary, 'Key Instructions')[0]).toBe(rule);
  expect(section(summary, 'Relevant Files')).toContain(`${path} (written)`);
  expect(section(summary, 'Discoveries')).toContain(`Error [node a.js] ${error}`);
  expect(section(summary, 'Accomplished').at(-1)).toBe(`Next: ${next}`);
  expect(countBytesByThree(summary)).toBeLessThanOrEqual(2_000);
  expect(summary.isWellFormed()).toBe(true);
}

describe('ten megabytes', { timeout }, () => {
  for (const [place, build] of Object.entries(places))
    it.each(Object.keys(texts))(`in ${place}: %s`, (name) => {
      const summary = extractSummary(around(build(texts[name]?.() ?? '')), { maxTokens: 2_000, countTokens: countBytesByThree });
      expectGuarantees(summary);
    });

  it('hide no rule in the middle of a line, no file behind a here-document, no error at the end', () => {
    const half = 'Lorem ipsum '.repeat(400_000);
    const messages = [
      user(`${half}. ${rule} ${half}`),
      ...tool('bash', { command: `cat > a.txt <<EOF\n${half}\nEOF\nnode build.js > ${path}` }, 'ok'),
      ...tool('bash', { command: 'node a.js' }, `${half}\n${half}\n${error}`, true),
      assistant(`${half}. ${half}. ${next}`),
    ];
    expectGuarantees(extractSummary(messages, { maxTokens: 2_000, countTokens: countBytesByThree }));
  });
});

describe('ten megabytes in a request', { timeout }, () => {
  const call = (id: string, name: string, input: unknown): ChatMessage => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
  });
  const result = (id: string, content: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content });

  const requests: Record<string, (text: string) => ChatMessage[]> = {
    'a message of the user': (text) => [{ role: 'user', content: text }],
    'an answer of the assistant': (text) => [{ role: 'assistant', content: text }],
    'a tool result': (text) => [call('r', 'read', { path: 'a.ts' }), result('r', text)],
    'the input of a call': (text) => [call('i', 'write', { path: 'b.ts', content: text }), result('i', 'ok')],
    'an earlier summary': (text) => [{ role: 'user', content: `## Goal\n- a\n## Discoveries\n${text}\n## Accomplished\n- b` }],
  };

  async function compact(middle: ChatMessage[]): Promise<string> {
    const messages: ChatMessage[] = [
      { role: 'user', content: `Tidy up. ${rule}` },
      call('w', 'write', { path, content: 'a' }),
      result('w', 'ok'),
      ...middle,
      call('e', 'bash', { command: 'node a.js' }),
      result('e', `${error}\nexit code 1`),
      { role: 'assistant', content: next },
      { role: 'user', content: 'Go on.' },
    ];
    const compactor = createCompactor({
      adapter: openaiChat(),
      contextWindow: 16_000,
      budget: { countTokens: countBytesByThree },
      summary: { summarizer: extractiveSummarizer(), maxTokens: 2_000 },
    });
    const request: ChatRequest = { model: 'gpt-5', messages };
    const prepared = await compactor.prepare(request);
    expect(prepared.messages).toHaveLength(1);
    return JSON.stringify(prepared.messages);
  }

  for (const [place, build] of Object.entries(requests))
    it.each(['one word', 'marks on one line', 'lines of errors'])(`are replaced, in ${place}: %s`, async (name) => {
      const sent = await compact(build(texts[name]?.() ?? ''));
      for (const kept of [rule, `${path} (written)`, `Error [node a.js] ${error}`, `Next: ${next}`, 'Go on.'])
        expect(sent).toContain(kept);
      expect(sent.length).toBeLessThan(10_000);
    });
});

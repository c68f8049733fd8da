import { describe, expect, it } from 'vitest';
import type { FinishReason } from '../../src/adapters/adapter.ts';
import { type CompactionErrorCode, isCompactionError } from '../../src/errors.ts';
import { buildAutoCompactionPrompt } from '../../src/prompt/instruction.ts';
import { acceptSummary } from '../../src/summarize/accept.ts';

const instruction = buildAutoCompactionPrompt();
const sections = '## Goal\nShip it.\n\n## Accomplished\nHalf of it.';

/** The accepted text, or the code of the error. */
function accept(text: string, finish: FinishReason = 'stop', prompt: string = instruction): string {
  try {
    return acceptSummary({ text, finish }, prompt);
  } catch (error) {
    if (isCompactionError(error)) return `rejected: ${error.code}`;
    throw error;
  }
}

function rejected(code: CompactionErrorCode): string {
  return `rejected: ${code}`;
}

describe('the end of a reply', () => {
  it.each<[FinishReason, CompactionErrorCode]>([
    ['length', 'truncated-summary'],
    ['refusal', 'refused'],
    ['content-filter', 'refused'],
    ['overflow', 'summarizer-overflow'],
    ['tool-calls', 'tool-calls'],
    ['pause', 'tool-calls'],
    ['incomplete', 'incomplete-reply'],
    ['other', 'incomplete-reply'],
  ])('%s is no natural one: %s', (finish, code) => {
    expect(accept(sections, finish)).toBe(rejected(code));
  });

  it('is looked at before the text', () => {
    expect(accept('', 'length')).toBe(rejected('truncated-summary'));
  });
});

describe('the text of a reply', () => {
  it('is taken as it is, white space included', () => {
    expect(accept(`\n ${sections} \n`)).toBe(`\n ${sections} \n`);
  });

  it('needs no section: the caller may ask for another form', () => {
    expect(accept('The user wants to ship. Half of it is done.')).toBe('The user wants to ship. Half of it is done.');
  });

  it('B056: an empty reply with a natural end is no summary', () => {
    for (const blank of ['', ' ', '\n\t \n', '\u00a0', '\u2003']) expect(accept(blank)).toBe(rejected('empty-summary'));
  });

  it('B059: a reply whose cap went to reasoning has no text and is truncated', () => {
    expect(accept('', 'length')).toBe(rejected('truncated-summary'));
  });

  it('B060: a text that was cut in mid-word is no summary', () => {
    expect(accept(`${sections}\nand the next st`, 'length')).toBe(rejected('truncated-summary'));
  });

  it('B058: a reply that only calls a tool is no summary', () => {
    expect(accept('', 'tool-calls')).toBe(rejected('tool-calls'));
  });

  it.each([
    "I can't produce this summary as requested.",
    'I can’t produce this summary as requested.',
    'I cannot help with that.',
    "I'm sorry, but I can't assist with that request.",
    'I’m unable to continue with this.',
    'I am not able to summarize this conversation.',
    'I apologize, but this would be against my guidelines.',
    'Sorry, that is nothing I can do.',
    'As an AI language model, I do not summarize.',
    "Unfortunately, I won't be able to.",
    'I won’t do that.',
  ])('B063: a polite refusal is no summary: %s', (text) => {
    expect(accept(text)).toBe(rejected('refused'));
    expect(accept(`${text} ${'It goes on for two kilobytes. '.repeat(70)}`)).toBe(rejected('refused'));
  });

  it('B063: a summary that tells of a refusal is a summary', () => {
    const text = `I can't open the file, said the tool.\n${sections}`;
    expect(accept(text)).toBe(text);
    expect(accept(`${sections}\nThe model said: I can't do that.`)).toContain("I can't do that.");
  });

  it.each([
    '<tool_call>{"name":"read","arguments":{"path":"a.ts"}}</tool_call>',
    '<function_calls>\n<invoke name="read">',
    '```json\n{"name": "read", "arguments": {}}\n```',
    '{"tool_calls": [{"name": "read"}]}',
    '<|tool_call_begin|>read<|tool_call_end|>',
    '<|python_tag|>read("a.ts")',
    '[TOOL_CALLS][{"name":"read"}]',
    'Let me look at the file first.\n<tool_call>\n{"name":"read"}\n</tool_call>\n',
    'I will read it.\n<function_calls><invoke name="read"></invoke></function_calls>',
  ])('B064: the markup of a tool call is no summary: %s', (text) => {
    expect(accept(text)).toBe(rejected('not-a-summary'));
  });

  it('B064: a summary that quotes the markup of a tool call is a summary', () => {
    const text = `${sections}\n\n## Discoveries\nThe server sent <tool_call>{"name":"read"}</tool_call>`;
    expect(accept(text)).toBe(text);
  });

  it('B064: bare reasoning is no summary', () => {
    for (const tag of ['think', 'thinking', 'analysis', 'scratchpad', 'reasoning']) {
      expect(accept(`<${tag}>the user wants…</${tag}>`)).toBe(rejected('empty-summary'));
      expect(accept(`<${tag}>the user wants… and it never closes`)).toBe(rejected('not-a-summary'));
    }
  });

  it('B066: a scratchpad and a summary tag that was never closed leave the summary alone', () => {
    expect(accept('<analysis>mentions <summary> x</analysis><summary>REAL')).toBe('REAL');
  });

  it.each([
    [`<summary>\n${sections}\n</summary>`, sections],
    [`<summary>${sections}</SUMMARY>\n`, sections],
    [`<think>hm</think>\n<analysis>ha</analysis>\n\n<summary>${sections}</summary>`, sections],
    [`<THINK>hm</THINK>${sections}`, sections],
    ['<summary>mentions </summary> in the middle</summary>', 'mentions </summary> in the middle'],
  ])('B066: no tag of its own is left in %j', (text, summary) => {
    expect(accept(text)).toBe(summary);
  });

  it('B066: an empty summary tag is an empty summary', () => {
    for (const text of ['<summary>', '<summary></summary>', '<analysis>x</analysis><summary> \n </summary>'])
      expect(accept(text)).toBe(rejected('empty-summary'));
  });

  it('is no echo of the instruction', () => {
    expect(accept(instruction)).toBe(rejected('not-a-summary'));
    expect(accept(`You asked:\n${instruction}\n\n${sections}`)).toBe(rejected('not-a-summary'));
  });

  it('may hold the words of a short instruction', () => {
    expect(accept('Summary: half of it is done.', 'stop', 'Summary')).toBe('Summary: half of it is done.');
    expect(accept(' Summary\n', 'stop', 'Summary')).toBe(rejected('not-a-summary'));
  });

  it.each([
    'Error: 500 Internal Server Error',
    'error: overloaded',
    '{"error": {"message": "Rate limit reached"}}',
    'API Error: 529 overloaded',
    'Internal server error (request id 1)',
  ])('is no text of an error: %s', (text) => {
    expect(accept(text)).toBe(rejected('not-a-summary'));
  });

  it.each(['Errors were fixed in a.ts.', 'Error handling was added.', `${sections}\nError: ENOENT a.ts`])(
    'may tell of errors: %s',
    (text) => {
      expect(accept(text)).toBe(text);
    },
  );

  it('may be hostile: long runs of white space, tags and line marks are read in linear time', () => {
    const size = 400_000;
    const spaces = ' '.repeat(size);
    const texts = [
      `<summary>${spaces}x${spaces}y`,
      `<summary>${'</summary'.repeat(size / 8)}`,
      `<think>${'<think>'.repeat(size / 8)}`,
      '<think></think>'.repeat(size / 16),
      `#${'\n'.repeat(size)}x`,
      '#\n'.repeat(size / 2),
      '<|tool'.repeat(size / 8),
      `x${'</a'.repeat(size / 8)}`,
      `${'</tool_call'.repeat(size / 8)}${spaces}`,
    ];
    for (const text of texts) expect(accept(text)).toBeTypeOf('string');
  });
});

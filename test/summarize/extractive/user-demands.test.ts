import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/message.ts';
import { readConversation } from '../../../src/summarize/extractive/conversation.ts';
import { listConstraints, listRequests } from '../../../src/summarize/extractive/user-demands.ts';
import { tool, user } from './short-messages.ts';

const constraints = (...messages: Message[]) => listConstraints(readConversation(messages)).map((entry) => entry.text);
const requests = (...messages: Message[]) => listRequests(readConversation(messages)).map((entry) => entry.text);

describe('listConstraints', () => {
  it.each([
    'You must keep the API.',
    'Never commit to main.',
    'Use only the standard library.',
    "Don't rename files.",
    'Always run the linter.',
    'Avoid new dependencies.',
    '테스트 파일은 절대 수정하지 마세요.',
    '반드시 TypeScript로 작성하세요.',
    'テストは必ず実行してください。',
    '既存のファイルは変更しないでください。',
    '不要修改测试文件。',
    '必须使用中文注释。',
    'Ändere niemals die Tests.',
    'Das Format darf nicht geändert werden.',
    'Ne modifie jamais les tests.',
    'Il faut toujours vérifier les types.',
    'Nunca borres la base de datos.',
    'Debes usar siempre la versión 2.',
  ])('keeps %s', (sentence) => {
    expect(constraints(user(`Hello. ${sentence}`))).toContain(sentence);
  });

  it('leaves out what sets no rule, code in fences, and what looks like a log', () => {
    expect(
      constraints(
        user('Build the page.\n```\n// never do this\n```\nTypeError: x must be a string\n  at run (a.js:1:1) only\nThanks!'),
      ),
    ).toEqual([]);
  });

  it('keeps a rule after a fence that is never closed', () => {
    expect(constraints(user('Look:\n```\ncode\nNever delete it.'))).toEqual(['Never delete it.']);
  });

  it('takes the first rule for the one that must stay, and a wish only where there is no rule', () => {
    const musts = (text: string) =>
      listConstraints(readConversation([user(text)]))
        .filter((entry) => entry.must)
        .map((entry) => entry.text);
    expect(
      musts('This comes first as a long introduction to the work. Do not hurry. You should smile. Never shout. Always rest.'),
    ).toEqual(['Do not hurry.']);
    expect(musts(`${'This is a long introduction. '.repeat(15)}You should smile. We should sing.`)).toEqual([
      'You should smile.',
    ]);
  });

  it('cuts a long sentence around the word that makes it a rule', () => {
    const [rule] = constraints(user(`${'blah '.repeat(200)}you must stop at 5 and ${'blah '.repeat(200)}`));
    expect(rule).toContain('you must stop at 5');
    expect(rule?.length).toBeLessThanOrEqual(300);
  });

  it('reads no rule out of a tool result, in whatever message it stands', () => {
    const [call, result] = tool('read', { path: 'a' }, 'You must never stop.');
    const mixed: Message = { role: 'user', parts: [...(result?.parts ?? []), { type: 'text', text: 'Always be brief.' }] };
    expect(constraints(call!, mixed)).toEqual(['Always be brief.']);
  });
});

describe('listRequests', () => {
  it('tells each message by its first sentences, without rules and small talk', () => {
    expect(
      requests(user('Build a parser. Never use regex. It reads CSV.'), user('ok'), user('Thanks!'), user('Now add tests.')),
    ).toEqual(['Build a parser. It reads CSV.', 'Now add tests.']);
  });

  it('keeps even a word where it is all that the user said', () => {
    expect(requests(user('continue'))).toEqual(['continue']);
  });

  it('lets a repeated request count as the newest', () => {
    expect(requests(user('Do a thing.'), user('Fix the bug.'), user('Write docs.'), user('fix the bug'))).toEqual([
      'Do a thing.',
      'Write docs.',
      'fix the bug',
    ]);
  });

  it('passes over lone tags', () => {
    expect(requests(user('<context>\nFix the login page.\n</context>'))).toEqual(['Fix the login page.']);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AnthropicMessage, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';

const adapter = anthropicMessages();

type Block = { type: string; [field: string]: unknown };
const said = (text: string): Block => ({ type: 'text', text });
const call = (id: string): Block => ({ type: 'tool_use', id, name: 'read', input: {} });
const result = (id: string): Block => ({ type: 'tool_result', tool_use_id: id, content: 'done' });

const between = fc.array(fc.constantFrom('user', 'system', 'empty'), { maxLength: 3 });

/** One round: two calls, their results in one message or in two, and what may have come in between. */
const round = fc.record({ together: fc.boolean(), before: between, middle: between, after: between, answer: fc.boolean() });

function write(kind: string): AnthropicMessage {
  if (kind === 'empty') return { role: 'assistant', content: [] };
  return kind === 'system' ? { role: 'system', content: 'Be brief.' } : { role: 'user', content: [said('Wait.')] };
}

it('B041: whatever stands between calls and results, the arranged turns are legal and hold the same blocks', () => {
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 5 }), (rounds) => {
      const items: AnthropicMessage[] = [{ role: 'user', content: 'Go' }];
      rounds.forEach(({ together, before, middle, after, answer }, index) => {
        const [first, second] = [`a${index}`, `b${index}`];
        items.push({ role: 'assistant', content: [call(first), call(second)] }, ...before.map(write));
        if (together) items.push({ role: 'user', content: [result(first), result(second), said('And this.')] });
        else
          items.push({ role: 'user', content: [result(first)] }, ...middle.map(write), {
            role: 'user',
            content: [result(second)],
          });
        items.push(...after.map(write));
        if (answer) items.push({ role: 'assistant', content: [said('Done.')] }, { role: 'user', content: 'More' });
      });
      const request = { model: 'claude', max_tokens: 100, tools: [{ name: 'read', input_schema: {} }], messages: items };
      const arranged = adapter.withItems({ ...request, messages: [] }, items);
      expect(validateAnthropic(arranged)).toEqual([]);
      const blocks = (messages: readonly AnthropicMessage[]): string[] =>
        messages
          .flatMap(({ content }) => (typeof content === 'string' ? [said(content)] : [...(content ?? [])]))
          .map((block) => JSON.stringify(block));
      expect(blocks(arranged.messages).sort()).toEqual(blocks(items).sort());
      expect(adapter.withItems(arranged, arranged.messages).messages).toEqual(arranged.messages);
    }),
  );
});

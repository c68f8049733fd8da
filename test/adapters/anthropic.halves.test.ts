import { describe, expect, it } from 'vitest';
import { type AnthropicMessage, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { createItemReader } from '../../src/history/reading.ts';
import { repairItems } from '../../src/history/repair.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';

type Block = { type: string; [field: string]: unknown };

const adapter = anthropicMessages();
const user = (content: string | Block[] = 'Go on.'): AnthropicMessage => ({ role: 'user', content });
const says = (...content: Block[]): AnthropicMessage => ({ role: 'assistant', content });
const text: Block = { type: 'text', text: 'Let me look.' };
const search: Block = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
const found: Block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
const thought: Block = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };

function repair(items: readonly AnthropicMessage[], closeOpen = true) {
  const read = createItemReader(adapter);
  return repairItems(items.map(read), { adapter, read }, { closeOpen });
}

const tools = [{ name: 'read', input_schema: { type: 'object' } }];
const check = (messages: readonly AnthropicMessage[]) =>
  validateAnthropic({ model: 'm', max_tokens: 10, tools, messages: [...messages] });

describe("pairs of the provider's own", () => {
  it.each<[string, AnthropicMessage[]]>([
    ['a search that was cut off', [user(), says(text, search), user(), says(text)]],
    ['a search that was cut off behind a thought', [user(), says(text, thought, search), user(), says(text)]],
    ['what nothing asked for', [user(), says(found, text), user()]],
    ['a call at a server that was cut off', [user(), says(text, { ...search, type: 'mcp_tool_use' }), user(), says(text)]],
    ['the result of a server alone', [user(), says({ ...found, type: 'mcp_tool_result' }, text), user()]],
    ['a search in the words of the user', [user([search, { type: 'text', text: 'Hi.' }]), says(text), user()]],
    [
      'an image in the words of the assistant',
      [user(), says(text, { type: 'image', source: { type: 'url', url: 'x' } }), user()],
    ],
    ['nothing but a search that was cut off', [user(), says(search), user(), says(text)]],
  ])('lose a half alone: %s', (_what, messages) => {
    expect(check([...messages, user()])).not.toEqual([]);
    const { items, repairs } = repair(messages);
    expect(check([...items, user()])).toEqual([]);
    expect(repairs).not.toEqual([]);
  });

  it.each<[string, AnthropicMessage[]]>([
    ['in one message', [user(), says(text, search, found, text), user()]],
    ['in two messages of a turn that was paused', [user(), says(text, search), says(found, text), user()]],
    [
      "around the caller's own tools",
      [
        user(),
        says(
          { ...search, name: 'code_execution' },
          { type: 'tool_use', id: 't', name: 'read', input: {}, caller: { type: 'code_execution', tool_id: 'srvtoolu_1' } },
        ),
        user([{ type: 'tool_result', tool_use_id: 't', content: 'x' }]),
        says({ ...found, type: 'code_execution_tool_result' }, text),
        user(),
      ],
    ],
  ])('stay whole %s', (_what, messages) => {
    expect(check(messages)).toEqual([]);
    const { items, repairs } = repair(messages);
    expect(items.every((item, index) => item === messages[index])).toBe(true);
    expect(repairs).toEqual([]);
  });

  it('may be open at the end of a conversation that goes on', () => {
    const paused = [user(), says(text, search)];
    expect(repair(paused, false)).toEqual({ items: paused, repairs: [] });
    expect(repair(paused).items).toEqual([user(), says(text)]);
  });
});

it('what is no number of tokens, and no list of tools, is nothing that reading stumbles over', () => {
  const request = { model: 'm', max_tokens: 10n, tools: {}, messages: [user()] } as unknown as Parameters<
    typeof adapter.context
  >[0];
  expect(adapter.context(request).outputCap).toBeUndefined();
  expect(adapter.forkForSummary(request, 'Summarize.', { maxTokens: 100 }).request.max_tokens).toBe(100);
});

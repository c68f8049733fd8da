import { AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { LangchainRequest } from '../../src/adapters/langchain.ts';
import { createCompactor } from '../../src/compactor.ts';
import { chooseFromList } from '../../src/testing/choose.ts';
import { adapterConformance } from '../../src/testing/conformance.ts';
import { createLangchainKit } from '../../src/testing/kits/langchain.ts';
import { runConversation } from '../support/kit-run.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

/** The kit with LangChain's own messages. */
const kit = createLangchainKit({ HumanMessage, AIMessage, AIMessageChunk, ToolMessage, SystemMessage });
const choices = fc.array(fc.nat(9999), { maxLength: 150, size: 'max' });

describe("LangChain's own messages", () => {
  it('are compacted in conversations of any kind', async () => {
    await fc.assert(
      fc.asyncProperty(choices, (numbers) => runConversation(kit, chooseFromList(numbers))),
      { numRuns: 1000 },
    );
  });

  for (const { name, random, check } of adapterConformance(kit))
    it(name, async () => {
      await fc.assert(
        fc.asyncProperty(choices, (numbers) => check(chooseFromList(numbers))),
        { numRuns: random ? 150 : 1 },
      );
    });
});

const say = (text: string): HumanMessage => new HumanMessage(text);
const call = (id: string) => ({ type: 'tool_call' as const, id, name: 'read', args: {} });
const summarize = async (): Promise<AIMessage> =>
  new AIMessage({ content: goodSummary, response_metadata: { finish_reason: 'stop' } });

describe('reports of LangChain', () => {
  it('B006: results that answer two messages of the model go back to their calls', async () => {
    const asked: LangchainRequest[] = [];
    const compactor = createCompactor({
      adapter: kit.adapter,
      budget: { countTokens },
      send: (request: LangchainRequest) => {
        asked.push(request);
        return summarize();
      },
    });
    const messages = [
      say('Read both. '.repeat(300)),
      new AIMessage({ content: '', tool_calls: [call('c1')] }),
      new AIMessage({ content: '', tool_calls: [call('c2')] }),
      new ToolMessage({ content: 'one', tool_call_id: 'c1' }),
      new ToolMessage({ content: 'two', tool_call_id: 'c2' }),
      say('And?'),
    ];
    const { prefix, because } = await compactor.compact({ messages });
    expect({ prefix, because }).toEqual({ prefix: 'changed', because: ['repaired history'] });
    const [fork] = asked;
    expect(kit.validate(fork ?? { messages: [] })).toEqual([]);
    expect(fork?.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai', 'tool', 'human', 'human']);
    expect(fork?.messages[2]).toMatchObject({ content: 'one', tool_call_id: 'c1' });
    expect(fork?.messages[4]).toMatchObject({ content: 'two', tool_call_id: 'c2' });
  });

  it('B027: one long turn of thoughts and calls is compacted as a whole', async () => {
    const messages: BaseMessage[] = [say('Find it.')];
    for (let round = 0; round < 60; round++) {
      const content = [
        { type: 'thinking', thinking: 'Hm. '.repeat(20), signature: 's' },
        { type: 'tool_use', id: `c${round}`, name: 'read', input: {} },
      ];
      messages.push(
        new AIMessage({ content, tool_calls: [call(`c${round}`)] }),
        new ToolMessage({ content: 'Nothing. '.repeat(50), tool_call_id: `c${round}` }),
      );
    }
    const options = { adapter: kit.adapter, contextWindow: 100_000, budget: { threshold: 2000, countTokens }, send: summarize };
    const prepared = await createCompactor(options).prepare({ messages });
    expect(prepared.messages).toHaveLength(1);
    expect(JSON.stringify(prepared)).not.toContain('thinking');
  });

  it('B140: a broken character does not cost a message its class', async () => {
    const asked: LangchainRequest[] = [];
    const send = (request: LangchainRequest) => {
      asked.push(request);
      return summarize();
    };
    const messages = [say('a\ud800'), new AIMessage('x'.repeat(9000)), say('And?')];
    await createCompactor({ adapter: kit.adapter, budget: { countTokens }, send }).compact({ messages });
    const [first, second] = asked[0]?.messages ?? [];
    expect(first).toBeInstanceOf(HumanMessage);
    expect(first instanceof HumanMessage && first.text).toBe('a\ufffd');
    expect(second).toBe(messages[1]);
    expect(kit.validate(asked[0] ?? { messages: [] })).toEqual([]);
  });

  it('B133: tools and system text are counted, and a change of them at once', () => {
    const compactor = createCompactor({ adapter: kit.adapter, budget: { countTokens }, send: summarize });
    const schema = z.object({ path: z.string().describe('Where it is. '.repeat(100)) });
    const tools = Array.from({ length: 60 }, (_, index) =>
      tool(async () => 'x', { name: `read_${index}`, description: 'Reads.', schema: schema.describe(`Tool ${index}`) }),
    );
    const request = { messages: [say('Hello')], systemMessage: new SystemMessage('Be exact. '.repeat(100)), tools };
    const { breakdown } = compactor.estimate(request);
    expect(breakdown.tools).toBeGreaterThan(60 * 250);
    expect(breakdown.system).toBeGreaterThan(200);
    expect(compactor.estimate({ ...request, tools: tools.slice(0, 6) }).breakdown.tools).toBeLessThan(breakdown.tools / 9);
  });
});

describe('a replacement', () => {
  const work = [say('Read it.'), new AIMessage({ content: 'x'.repeat(9000) }), say('And now?')];
  const compactor = () =>
    createCompactor({
      adapter: kit.adapter,
      contextWindow: 100_000,
      budget: { threshold: 1000, countTokens },
      send: summarize,
    });

  it('is a message of the class given, whoever looks at it', async () => {
    const { messages } = await compactor().prepare({ messages: work });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toBeInstanceOf(HumanMessage);
    expect(BaseMessage.isInstance(messages[0])).toBe(true);
  });

  it('stays as it was, whatever LangChain sets on what it is given', async () => {
    const one = compactor();
    const { messages: first } = await one.prepare({ messages: work });
    const [given] = first;
    if (!(given instanceof HumanMessage) || !Array.isArray(given.content)) throw new Error('Expected a message with blocks.');
    given._updateId('stamped');
    given.name = 'host';
    Object.assign(given.content.at(-1) ?? {}, { cache_control: { type: 'ephemeral' } });
    given.content.push({ type: 'text', text: 'More.' });
    const { messages: second } = await one.prepare({ messages: [...work, new AIMessage('Fine.'), say('Go on.')] });
    expect(second).toHaveLength(3);
    expect(second[0]).toMatchObject({ id: undefined, name: undefined });
    expect(JSON.stringify(second[0])).not.toMatch(/stamped|cache_control|More\./);
  });
});

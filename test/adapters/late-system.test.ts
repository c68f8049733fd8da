import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { type AiSdkMessage, type AiSdkRequest, aiSdkModel } from '../../src/adapters/ai-sdk.ts';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type BedrockInput, type BedrockMessage, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { type GenkitMessage, genkitModel } from '../../src/adapters/genkit.ts';
import { type LangchainRequest, langchainMessages } from '../../src/adapters/langchain.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { describePlacement } from '../../src/history/describe-placement.ts';
import { createItemReader } from '../../src/history/reading.ts';
import { readRequest } from '../../src/history/view.ts';

const late = 'Be brief from now on.';

describe('what the system says late, in a request that is rebuilt', () => {
  const said = (role: string, text: string): GenkitMessage => ({ role, content: [{ text }] });
  const { withItems } = genkitModel();

  it('joins what it says in front, for Genkit', () => {
    const [front, user, system] = [said('system', 'Be exact.'), said('user', 'Hi.'), said('system', late)];
    const { messages } = withItems({ messages: [front, said('user', 'Old.')] }, [front, user, system]);
    expect(messages).toEqual([{ role: 'system', content: [{ text: 'Be exact.' }, { text: late }] }, user]);
    expect(messages[1]).toBe(user);
    expect(withItems({ messages: [] }, [user, system]).messages).toEqual([said('system', late), user]);
  });

  it('stays where the request had it', () => {
    const messages = [said('user', 'Hi.'), said('system', late), said('model', 'Yes.')];
    expect(withItems({ messages }, [...messages, said('user', 'Go.')]).messages.slice(0, 3)).toEqual(messages);
  });

  const adapter = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage });
  const user = new HumanMessage('Hi.');
  const rebuild = (fields: Partial<LangchainRequest>, front: SystemMessage[] = []) =>
    adapter.withItems({ messages: [...front, new HumanMessage('Old.')], ...fields }, [...front, user, new SystemMessage(late)]);

  it('joins what it says in front, for LangChain', () => {
    const { messages } = rebuild({}, [new SystemMessage('Be exact.')]);
    expect(messages.map(({ content }) => content)).toEqual([`Be exact.\n\n${late}`, 'Hi.']);
    expect(messages[0]).toBeInstanceOf(SystemMessage);
    expect(messages[1]).toBe(user);
    expect(rebuild({}).messages.map(({ content }) => content)).toEqual([late, 'Hi.']);
    expect(rebuild({ systemMessage: new SystemMessage('') })).toMatchObject({
      systemMessage: { content: late },
      messages: [user],
    });
  });

  it('joins what stands beside the messages of an agent', () => {
    const blocks = new SystemMessage({ content: [{ type: 'text', text: 'Be exact.' }] });
    const request = rebuild({ systemMessage: blocks });
    expect(request.messages).toEqual([user]);
    expect(request.systemMessage?.content).toEqual([
      { type: 'text', text: 'Be exact.' },
      { type: 'text', text: late },
    ]);
    expect(rebuild({ systemPrompt: 'Be exact.' })).toMatchObject({ systemPrompt: `Be exact.\n\n${late}`, messages: [user] });
  });
});

describe('what is said of system messages between the turns', () => {
  const moved = ['System messages between the turns were put where, and as, the provider takes them.'];

  function describeRebuilt<Request, Item, Reply>(
    adapter: ProviderAdapter<Request, Item, Reply>,
    request: Request,
    items: readonly Item[],
  ): readonly string[] {
    const read = createItemReader(adapter);
    return describePlacement(items, readRequest(adapter, read, adapter.withItems(request, items)), read);
  }

  const said = (role: string, content: string) => ({ role, content });
  const [old, user, system, answer] = [
    said('user', 'Old.'),
    said('user', 'Hi.'),
    said('system', late),
    said('assistant', 'Yes.'),
  ];

  it('is nothing where they stay', () => {
    expect(describeRebuilt(openaiChat(), { model: 'gpt-5', messages: [old] }, [system, user, system, answer, user])).toEqual([]);
    expect(describeRebuilt(anthropicMessages(), { messages: [old] }, [user, system, answer, user])).toEqual([]);
    expect(describeRebuilt(openaiResponses(), { input: [old] }, [user, system, answer, old])).toEqual([]);
    const block = (role: string): BedrockMessage => ({ role, content: [{ text: 'x' }] });
    const input: BedrockInput = { modelId: 'claude', messages: [block('user')] };
    expect(describeRebuilt(bedrockConverse(), input, [block('user'), block('system'), block('assistant')])).toEqual([]);
  });

  it('is told where they move, by a place or into the instructions', () => {
    expect(describeRebuilt(anthropicMessages(), { messages: [old] }, [user, system, user])).toEqual(moved);
    expect(describeRebuilt(openaiCodex(), { input: [old] }, [user, system])).toEqual(moved);
    const block = (role: string): BedrockMessage => ({ role, content: [{ text: 'x' }] });
    const input: BedrockInput = { modelId: 'claude', messages: [block('user')] };
    expect(describeRebuilt(bedrockConverse(), input, [block('user'), block('system'), block('user')])).toEqual(moved);
    const text = (role: string): GenkitMessage => ({ role, content: [{ text: late }] });
    expect(describeRebuilt(genkitModel(), { messages: [text('user')] }, [text('user'), text('system')])).toEqual(moved);
    const langchain = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage });
    const messages = [new HumanMessage('Old.')];
    expect(describeRebuilt(langchain, { messages }, [new HumanMessage('Hi.'), new SystemMessage(late)])).toEqual(moved);
    const claude: AiSdkRequest = { model: { provider: 'anthropic.messages', modelId: 'claude' }, prompt: [] };
    const words = (role: string): AiSdkMessage => ({ role, content: [{ type: 'text', text: 'x' }] });
    const beside: AiSdkMessage = { role: 'system', content: late };
    expect(describeRebuilt(aiSdkModel(), claude, [words('user'), beside, words('user')])).toEqual(moved);
  });

  it('is told where one loses its marker', () => {
    const passing = { ...system, clear_at: 'next_user_message' };
    expect(describeRebuilt(anthropicMessages(), { messages: [old], betas: [] }, [user, passing])).toEqual(moved);
  });
});

import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../src/adapters/openai-chat.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { textOf } from '../src/message.ts';
import { readReplacement } from '../src/prompt/replacement.ts';
import { createWrapper, lifecycleOf } from './support/harness.ts';
import { longConversation, summarizes, toolTurn } from './support/scripted-model.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const retain = { isUserInput: (message: Parameters<typeof textOf>[0]) => !textOf(message).startsWith('Reminder:') };

/** A host that puts a fresh reminder behind its history in each request. */
function withReminder(messages: readonly ChatMessage[], step: number): ChatRequest {
  return { ...longConversation(), messages: [...messages, user(`Reminder: ${step} minutes have passed.`)] };
}

describe('reminders that a host puts at the end of each request', () => {
  it.each([undefined, 'named'])('stay behind the replacement and do not make it void (conversation %s)', async (conversation) => {
    const { create, model, events } = createWrapper({ retain });
    const messages = [...longConversation().messages];
    for (let step = 0; step < 8; step++) {
      await create(withReminder(messages, step), { conversation });
      messages.push(...toolTurn(`more_${step}`, 'c'.repeat(60)));
    }
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    const sent = model.turns.at(-1)!.request.messages;
    expect(sent.at(-1)).toEqual(user('Reminder: 7 minutes have passed.'));
    const replacement = openaiChat().readItem(sent[1]!)[0]!;
    expect(readReplacement(replacement)?.lastUserMessage).toEqual([{ type: 'text', text: 'Read the second file.' }]);
    expect(JSON.stringify(sent)).not.toContain('Reminder: 0');
  });

  it('may be system messages too', async () => {
    const { create, events } = createWrapper();
    const messages = [...longConversation().messages];
    for (let step = 0; step < 8; step++) {
      await create({ ...longConversation(), messages: [...messages, { role: 'system', content: `It is ${step} o'clock.` }] });
      messages.push(...toolTurn(`more_${step}`, 'c'.repeat(60)));
    }
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('do not start a failed compaction again', async () => {
    const { create, model } = createWrapper({ retain, steps: Array.from({ length: 20 }, () => summarizes(' ')) });
    for (let step = 0; step < 10; step++) await create(withReminder(longConversation().messages, step));
    expect(model.summaries).toHaveLength(1);
  });

  it('and edits of what came last do not lift three failures: only the user does', async () => {
    const { create, model } = createWrapper({ steps: Array.from({ length: 20 }, () => summarizes(' ')) });
    const { messages } = longConversation();
    const edited = (step: number): ChatMessage[] => [
      ...messages.slice(0, -1),
      ...toolTurn('call_2', `${step}${'b'.repeat(3000)}`).slice(1),
    ];
    const conversation = 'named';
    for (let step = 0; step < 10; step++) await create({ ...longConversation(), messages: edited(step) }, { conversation });
    expect(model.summaries).toHaveLength(3);
    const more = [...edited(10), { role: 'assistant', content: 'Done.' }, user('Read the second file.')];
    await create({ ...longConversation(), messages: more }, { conversation });
    expect(model.summaries).toHaveLength(4);
  });
});

import { describe, expect, it } from 'vitest';
import type { Redact } from '../src/redact.ts';
import { freezeDeep } from './support/freeze.ts';
import { createLoop, createWrapper, eventOf, isCompacted, lifecycleOf } from './support/harness.ts';
import { longConversation, summarizes } from './support/scripted-model.ts';

const redact: Redact = (text) => text.replaceAll('hunter2', '[secret]');

describe('redaction', () => {
  it('leaves the summary request as it was where it changes nothing', async () => {
    const request = freezeDeep(longConversation());
    const { create, events, model } = createWrapper({ summary: { redact: (text) => text } });
    expect(isCompacted(await create.compactor.prepare(request))).toBe(true);
    expect(model.summaries[0]?.request.messages.slice(0, -1)).toEqual(request.messages);
    for (const [index, message] of request.messages.entries()) expect(model.summaries[0]?.request.messages[index]).toBe(message);
    expect(eventOf(events, 'auto_compaction_applied')).toMatchObject({ prefix: 'kept', because: [] });
  });

  it('says that the prefix had to change, and keeps the newest words of the user', async () => {
    const messages = longConversation().messages.map((message) =>
      message.role === 'user' ? { ...message, content: `${message.content} With hunter2.` } : message,
    );
    const { create, events, model } = createWrapper({ summary: { redact } });
    const prepared = await create.compactor.prepare({ ...longConversation(), messages });
    expect(JSON.stringify(model.summaries[0]?.request)).not.toContain('hunter2');
    expect(JSON.stringify(prepared)).toContain('Read the second file. With hunter2.');
    expect(eventOf(events, 'auto_compaction_applied')).toMatchObject({ prefix: 'changed', because: ['redacted history'] });
  });

  it('reaches what a summarizer without a model reads', async () => {
    let read = '';
    const { loop } = createLoop({
      request: { ...longConversation(), messages: [...longConversation().messages, { role: 'assistant', content: 'hunter2' }] },
      summary: {
        redact,
        summarizer: async ({ messages }) => {
          read = JSON.stringify(messages);
          return { text: '## Goal\nGo.' };
        },
      },
    });
    await loop.compact();
    expect(read).toContain('[secret]');
    expect(read).not.toContain('hunter2');
  });

  it.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['returns nothing', () => undefined],
  ])('that %s costs the compaction alone', async (_what, broken) => {
    // A host in plain JavaScript.
    const { create, events } = createWrapper({ summary: { redact: broken as Redact }, steps: [summarizes()] });
    const request = longConversation();
    expect(await create.compactor.prepare(request)).toBe(request);
    expect(lifecycleOf(events)[1]).toMatch(/^failed: /);
  });
});

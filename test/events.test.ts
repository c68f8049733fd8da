import { describe, expect, it } from 'vitest';
import { type CompactionEvent, notify } from '../src/events.ts';
import { createWrapper, eventOf, lifecycleOf } from './support/harness.ts';
import { longConversation, says, summarizes } from './support/scripted-model.ts';

const event: CompactionEvent = { type: 'notice', code: 'repaired', message: 'Something was repaired.' };

describe('notify', () => {
  it('tells the observer', () => {
    const told: CompactionEvent[] = [];
    notify((value) => told.push(value) && undefined, event);
    expect(told).toEqual([event]);
  });

  it('needs no observer', () => {
    expect(() => notify(undefined, event)).not.toThrow();
  });

  it('lets no fault of an observer through, at once or later', async () => {
    const faults: (() => unknown)[] = [
      () => {
        throw new Error('no');
      },
      async () => {
        throw new Error('later');
      },
      () => Promise.reject(undefined),
    ];
    for (const fault of faults) expect(() => notify(fault as () => void, event)).not.toThrow();
    await new Promise((resolve) => setTimeout(resolve)); // an unhandled rejection would fail the run
  });
});

describe('observers', () => {
  it('change nothing, whatever they do', async () => {
    const observed: string[] = [];
    const { create, model, stored } = createWrapper({
      onEvent: (told) => {
        observed.push(told.type);
        if ('replacement' in told) told.replacement.splice(0);
        if ('because' in told) told.because.push('nothing');
        if ('estimate' in told) Object.assign(told.estimate, { tokens: 0 });
        throw new Error('no');
      },
    });
    await create(longConversation());
    expect(observed).toEqual(['auto_compaction_started', 'auto_compaction_applied']);
    expect(stored[0]?.replacement).toHaveLength(1);
    expect(JSON.stringify(model.turns[0]?.request)).toContain('<compacted_context>');
  });

  it('may cancel from the start event, before anything is asked', async () => {
    const { create, model, events } = createWrapper({
      onEvent: (told) => {
        events.push(told);
        if (told.type === 'auto_compaction_started') told.cancel();
      },
    });
    const request = longConversation();
    await create(request);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by child']);
    expect(model.turns[0]?.request).toBe(request);
  });

  it('hear of each start exactly one end, whatever they call when', async () => {
    const cancels: (() => void)[] = [];
    const { create, events } = createWrapper({
      steps: [summarizes()],
      onEvent: (told) => {
        events.push(told);
        if (told.type === 'auto_compaction_started') cancels.push(told.cancel);
      },
    });
    await create(longConversation());
    for (const cancel of cancels) cancel();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('get copies: what they change later changes nothing either', async () => {
    const { create, events, model } = createWrapper();
    await create(longConversation());
    const { replacement } = eventOf(events, 'auto_compaction_applied');
    Object.assign(replacement[0]?.parts[0] ?? {}, { text: 'changed' });
    await create(longConversation());
    expect(JSON.stringify(model.turns[1]?.request)).toBe(JSON.stringify(model.turns[0]?.request));
  });

  it('cannot change what a failure says of the request', async () => {
    const { create, events } = createWrapper({
      steps: [summarizes(' ')],
      onEvent: (told) => {
        events.push(told);
        if ('estimate' in told) Object.assign(told.estimate, { tokens: 7 });
      },
    });
    await create(longConversation());
    expect(eventOf(events, 'auto_compaction_failed').error.inputTokens).toBeGreaterThan(1000);
  });

  it('never see the text of the summary before it is applied', async () => {
    const { create, events } = createWrapper({
      steps: [() => says('## Goal\nA secret plan.')],
      commit: () => Promise.reject(new Error('full')),
    });
    await create(longConversation());
    expect(lifecycleOf(events)).toEqual(['started', 'failed: commit-failed']);
    expect(JSON.stringify(events)).not.toContain('A secret plan.');
  });
});

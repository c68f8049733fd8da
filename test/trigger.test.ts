import { describe, expect, it } from 'vitest';
import { closedGate, closedSizeGate, type GateFacts, initialTrigger, isCramped } from '../src/trigger.ts';
import { createLoop, lifecycleOf, noticesOf } from './support/harness.ts';
import { countTokens, longConversation, type Step, summarizes, toolTurn } from './support/scripted-model.ts';

const open: GateFacts = {
  oneShot: false,
  disabled: false,
  turnCompleted: true,
  openCall: false,
  pending: false,
  serverHeld: false,
  suppressed: false,
};
const budget = { inputBudget: 1000, threshold: 900 };

describe('the gates', () => {
  it('are looked at in their order', () => {
    const closed: [Partial<GateFacts>, string][] = [
      [{ suppressed: true }, 'suppressed'],
      [{ serverHeld: true }, 'server-held'],
      [{ pending: true }, 'pending'],
      [{ openCall: true }, 'open-call'],
      [{ turnCompleted: false }, 'no-turn'],
      [{ disabled: true }, 'disabled'],
      [{ oneShot: true }, 'one-shot'],
    ];
    let facts = open;
    expect(closedGate(facts, initialTrigger())).toBeUndefined();
    expect(closedGate(facts, { ...initialTrigger(), inDoubt: 'id' })).toBe('suppressed');
    for (const [fact, gate] of closed) {
      facts = { ...facts, ...fact };
      expect(closedGate(facts, initialTrigger())).toBe(gate);
    }
  });

  it.each([
    // tokens, size after the last success, gate
    [899, undefined, 'below-threshold'],
    [900, undefined, undefined],
    [949, 900, 'suppressed'],
    [950, 900, undefined],
    [1000, 100, undefined],
  ])('of size: %i tokens after %s is %s', (tokens, sizeAfter, gate) => {
    expect(closedSizeGate(tokens, budget, { ...initialTrigger(), sizeAfter })).toBe(gate);
  });

  it('call it cramped where less than a twentieth is gained at a time', () => {
    expect([isCramped(50, 1000), isCramped(49, 1000), isCramped(-1, 1000)]).toEqual([false, true, true]);
  });
});

describe('a history that was compacted', () => {
  /** The compacted request is over the threshold of 500, so that size alone would have it compacted again. */
  const large = (): Step => summarizes(`## Goal\n${'s'.repeat(2400)}`);

  it('is not compacted again before a turn was added, however much it grew', async () => {
    const { loop, events } = createLoop({ steps: [large()], contextWindow: 50_000, budget: { threshold: 500, countTokens } });
    await loop.send();
    loop.append([{ role: 'user', content: 'u'.repeat(40_000) }]);
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    loop.append(toolTurn('call_3', 'ok'));
    await loop.send();
    expect(lifecycleOf(events)).toHaveLength(4);
  });
});

describe('what cannot be reduced', () => {
  /** Beside these instructions and the cap of a summary hardly anything is left of the threshold. */
  const cramped = () =>
    createLoop({
      contextWindow: 24_000,
      budget: { countTokens },
      request: {
        ...longConversation(),
        messages: [{ role: 'system', content: 'i'.repeat(52_000) }, ...longConversation().messages.slice(1)],
      },
    });

  it('is tried three times for one input of the user, told once, and tried again for the next', async () => {
    const { loop, events } = cramped();
    const work = async (name: string): Promise<void> => {
      for (let turn = 0; turn < 12; turn++) {
        loop.append(toolTurn(`${name}_${turn}`, 't'.repeat(16_000)));
        await loop.send();
      }
    };
    await work('first');
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(3);
    expect(noticesOf(events).filter((code) => code === 'irreducible')).toHaveLength(1);
    loop.append([{ role: 'user', content: 'Go on.' }]);
    await work('second');
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(6);
    expect(noticesOf(events).filter((code) => code === 'irreducible')).toHaveLength(2);
  });

  it('is counted over in another process', async () => {
    const { loop } = cramped();
    for (let turn = 0; turn < 12; turn++) {
      loop.append(toolTurn(`first_${turn}`, 't'.repeat(16_000)));
      await loop.send();
    }
    const resumed = createLoop({
      contextWindow: 24_000,
      budget: { countTokens },
      request: loop.request,
      state: { snapshot: loop.snapshot() },
    });
    resumed.loop.append(toolTurn('second', 't'.repeat(16_000)));
    await resumed.loop.send();
    expect(resumed.events).toEqual([]);
  });
});

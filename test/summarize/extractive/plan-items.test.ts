import { describe, expect, it } from 'vitest';
import { buildReplacement } from '../../../src/prompt/replacement.ts';
import { readConversation } from '../../../src/summarize/extractive/conversation.ts';
import { listPlanItems, planOf } from '../../../src/summarize/extractive/plan-items.ts';
import { tool } from './short-messages.ts';

const plan = (...steps: [string, string][]) =>
  tool('update_plan', { plan: steps.map(([step, status]) => ({ step, status })) }, 'ok');
const items = (messages: Parameters<typeof readConversation>[0]) =>
  listPlanItems(readConversation(messages)).map((entry) => entry.text);

describe('listPlanItems', () => {
  it('tells what is left of the newest plan', () => {
    expect(
      items([...plan(['old', 'pending']), ...plan(['read', 'completed'], ['write', 'in_progress'], ['test', 'pending'])]),
    ).toEqual(['Under way: write', 'To do: test']);
  });

  it('carries it over until there is a newer one', () => {
    const carried = buildReplacement({ summary: '## Accomplished\n- To do: test\n- Read all.' });
    expect(items([carried])).toEqual(['To do: test']);
    expect(items([carried, ...plan(['ship', 'pending'])])).toEqual(['To do: ship']);
  });
});

describe('planOf', () => {
  it('takes a list for a plan only where each item has a step and a status', () => {
    expect(planOf({ todos: [{ content: 'a', status: 'pending' }] })).toEqual([{ step: 'a', status: 'pending' }]);
    for (const input of [
      null,
      'x',
      {},
      { items: [] },
      { items: [{ content: 'a' }] },
      { items: [{ content: 'a', status: 'x' }, 5] },
    ])
      expect(planOf(input)).toBeUndefined();
  });
});

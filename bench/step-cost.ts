// What a step costs in a long conversation, relative to a short one: run with `npm run bench`. Ratios within one run; no absolute times.
import { createCompactor } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';

const chunk = 'export const value = compute(input, { retries: 3, label: "a step of the work" });\n'.repeat(40);

/** Median milliseconds of a step at a history of so many items, each step adding a call and its result. */
async function stepCost(items: number): Promise<number> {
  const compactor = createCompactor({
    adapter: openaiChat(),
    contextWindow: 1e9,
    send: () => Promise.reject(new Error('not needed')),
  });
  const messages: object[] = [{ role: 'user', content: 'Work.' }];
  const add = (id: string): void => {
    messages.push(
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: `{"path":"${id}"}` } }],
      },
      { role: 'tool', tool_call_id: id, content: `${id}\n${chunk}` },
    );
  };
  for (let step = 0; messages.length < items; step++) add(`call_${step}`);
  const request = { model: 'gpt-5', messages: messages as { role: string }[] };
  await compactor.prepare(request);
  const costs: number[] = [];
  for (let step = 0; step < 60; step++) {
    add(`more_${step}`);
    const start = performance.now();
    await compactor.prepare(request);
    compactor.observe(request, { usage: { inputTokens: messages.length * 600 } });
    costs.push(performance.now() - start);
  }
  return costs.sort((left, right) => left - right)[30] ?? Number.NaN;
}

await stepCost(200); // warm-up
const base = await stepCost(100);
for (const items of [1000, 4000, 16_000]) {
  const cost = await stepCost(items);
  console.log(`${items} items: ${(cost / base).toFixed(1)}x the cost of a step at 100 items`);
  if (process.env.VERBOSE) console.log(base, cost);
}

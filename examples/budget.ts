// In a test of your own: the prompt and the tools leave enough room for work.
import assert from 'node:assert/strict';
import { contextBudget, estimateBudget } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import { loadTokenCounter } from 'context-compactor/tokenizer';

const request = {
  model: 'gpt-4.1-mini',
  messages: [{ role: 'system', content: 'You find the cause of failures.' }],
  tools: [{ type: 'function' as const, function: { name: 'read_log', parameters: { type: 'object' } } }],
};

const { inputBudget, threshold } = contextBudget({ contextWindow: 128_000 });
const estimate = estimateBudget(request, {
  adapter: openaiChat(),
  contextWindow: 128_000,
  countTokens: await loadTokenCounter(),
});

assert.ok(estimate.fraction < 0.1, 'prompt and tools take less than a tenth of the budget');
console.log(`${estimate.tokens} of ${inputBudget} tokens in use, compaction from ${threshold} on`, estimate.breakdown);

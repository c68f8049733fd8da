import { extractSummary } from 'context-compactor/extractive';
import { genkitModel } from 'context-compactor/genkit';
import type { Genkit, Part } from 'genkit';

const pages = 12;
const countTokens = (text: string): number => Math.ceil(text.length / 3);

/**
 * Stands in for a provider: a model of Genkit's own, in this process, that reads twelve pages of a log and then answers, and that writes
 * extractive summaries when it is asked for one.
 */
export function defineOfflineModel(ai: Genkit): string {
  const name = 'offline/log-reader';
  const supports = { tools: true, toolChoice: true, multiturn: true, systemRole: true };
  let turns = 0;
  ai.defineModel({ name, apiVersion: 'v2', supports }, async ({ messages, config }) => {
    const read = messages.flatMap(genkitModel().readItem);
    const [question] = read.at(-1)?.parts ?? [];
    const asked = question?.type === 'text' && question.text.startsWith('This is a context compaction request.');
    const text = asked
      ? extractSummary(read.slice(0, -1), { maxTokens: config?.maxOutputTokens ?? 1000, countTokens })
      : 'The certificate expired: request 150 on page 2 failed.';
    const call: Part = { toolRequest: { name: 'read_log', ref: `call_${turns}`, input: { page: turns + 1 } } };
    const content = asked || ++turns > pages ? [{ text }] : [call];
    const usage = { inputTokens: countTokens(JSON.stringify(messages)), outputTokens: countTokens(JSON.stringify(content)) };
    return { message: { role: 'model', content }, finishReason: 'stop', usage };
  });
  return name;
}

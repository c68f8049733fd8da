import type { ProviderAdapter, Usage } from '../../src/adapters/adapter.ts';
import { createItemReader, isSystem } from '../../src/history/reading.ts';
import { buildAutoCompactionPrompt } from '../../src/prompt/instruction.ts';
import type { SummaryTask } from '../../src/summarize/summarizer.ts';
import { freezeDeep } from './freeze.ts';
import { countTokens } from './scripted-model.ts';

export interface NativeTask<Request, Item, Reply> extends SummaryTask<Request, Item, Reply> {
  usages: Usage[];
  texts: string[];
}

/** A task for a summarizer that asks the provider itself: `send` fails the test. */
export function nativeTask<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  request: Request,
  fields: Partial<SummaryTask<Request, Item, Reply>> = {},
): NativeTask<Request, Item, Reply> {
  const read = createItemReader(adapter);
  const usages: Usage[] = [];
  const texts: string[] = [];
  return {
    trigger: 'automatic',
    request: freezeDeep(request),
    messages: adapter.items(request).flatMap((item) => adapter.readItem(item)),
    instruction: buildAutoCompactionPrompt(),
    maxTokens: 1000,
    roomForOutput: 50_000,
    estimatedTokens: 0,
    retries: 1,
    overflowRetries: 1,
    countTokens,
    countItems: (items) => items.reduce((sum: number, item) => sum + countTokens(JSON.stringify(item)), 0),
    isStanding: (item) => isSystem(read(item)),
    adapter,
    send: () => Promise.reject(new Error('Expected no summary request.')),
    signal: new AbortController().signal,
    onText: (text) => texts.push(text),
    onUsage: (usage) => usages.push(usage),
    onNotice: () => undefined,
    ...fields,
    usages,
    texts,
  };
}

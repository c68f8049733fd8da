import {
  BedrockRuntimeClient,
  type ContentBlock,
  type ConverseCommandInput,
  type ConverseCommandOutput,
} from '@aws-sdk/client-bedrock-runtime';
import { bedrockConverse } from 'context-compactor/bedrock';
import { extractSummary } from 'context-compactor/extractive';

// Stands in for Bedrock, so that the example runs without a key: a model that reads twelve pages of a log and then answers, and that
// writes an extractive summary when it is asked for one.

const pages = 12;
let turns = 0;
const countTokens = (text: string): number => Math.ceil(text.length / 3);

/** A client whose requests never leave the process. */
export function offlineBedrock(): BedrockRuntimeClient {
  const client = new BedrockRuntimeClient({ region: 'us-east-1' });
  client.middlewareStack.add(
    () =>
      async ({ input }) => ({ output: converse(input as ConverseCommandInput), response: undefined }), // the example sends no other
    { step: 'initialize' },
  );
  return client;
}

function converse(input: ConverseCommandInput): ConverseCommandOutput {
  const summary = summarize(input);
  if (summary === undefined) turns++;
  const content: ContentBlock[] =
    summary === undefined && turns <= pages
      ? [{ toolUse: { toolUseId: `tooluse_${turns}`, name: 'read_log', input: { page: turns } } }]
      : [{ text: summary ?? 'The certificate expired: request 150 on page 2 failed.' }];
  const inputTokens = countTokens(JSON.stringify(input));
  return {
    $metadata: {},
    output: { message: { role: 'assistant', content } },
    stopReason: content[0]?.toolUse ? 'tool_use' : 'end_turn',
    usage: { inputTokens, outputTokens: 20, totalTokens: inputTokens + 20 },
    metrics: { latencyMs: 1 },
  };
}

function summarize(input: ConverseCommandInput): string | undefined {
  const { items, readItem } = bedrockConverse();
  const messages = items(input).flatMap(readItem);
  const asked = messages
    .at(-1)
    ?.parts.some((part) => part.type === 'text' && part.text.startsWith('This is a context compaction request.'));
  return asked
    ? extractSummary(messages.slice(0, -1), { maxTokens: input.inferenceConfig?.maxTokens ?? 1000, countTokens })
    : undefined;
}

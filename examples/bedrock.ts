// An agent's own tool loop over Converse of Amazon Bedrock, wrapped. AWS_BEARER_TOKEN_BEDROCK in the environment makes it talk to Bedrock.
import { BedrockRuntimeClient, ConverseCommand, type ConverseCommandInput, type Message } from '@aws-sdk/client-bedrock-runtime';
import { withAutoCompaction } from 'context-compactor';
import { bedrockConverse } from 'context-compactor/bedrock';
import { readLogPage } from './support/offline.ts';
import { offlineBedrock } from './support/offline-bedrock.ts';
import { printCompaction } from './support/print-compaction.ts';

const client = process.env.AWS_BEARER_TOKEN_BEDROCK ? new BedrockRuntimeClient({}) : offlineBedrock();

const converse = withAutoCompaction(
  (input: ConverseCommandInput, { signal }) => client.send(new ConverseCommand(input), { abortSignal: signal }),
  {
    adapter: bedrockConverse(),
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    onEvent: printCompaction,
  },
);

const json = { type: 'object', properties: { page: { type: 'number' } } };
const toolConfig = { tools: [{ toolSpec: { name: 'read_log', inputSchema: { json } } }] };
const messages: Message[] = [
  { role: 'user', content: [{ text: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.' }] },
];

for (;;) {
  const reply = await converse({ modelId: 'us.anthropic.claude-haiku-4-5-20251001-v1:0', messages, toolConfig });
  const message = reply.output?.message;
  if (!message) break;
  messages.push(message); // your messages array stays yours, whole
  const calls = (message.content ?? []).flatMap((block) => block.toolUse ?? []);
  for (const block of message.content ?? []) if (block.text) console.log(block.text);
  if (calls.length === 0) break;
  const content = calls.map(({ toolUseId, input }) => ({
    toolResult: { toolUseId, content: [{ text: readLogPage((input as { page: number }).page) }] }, // the tool's schema says so
  }));
  messages.push({ role: 'user', content });
}

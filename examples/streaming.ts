// Streamed replies stay yours: the library never reads them. Tell it their usage, and its estimates become exact.
import { withAutoCompaction } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import OpenAI from 'openai';
import { offlineOpenAi } from './support/offline.ts';

const client = process.env.OPENAI_API_KEY ? new OpenAI() : new OpenAI({ apiKey: 'offline', fetch: offlineOpenAi });

const create = withAutoCompaction(
  (request: OpenAI.ChatCompletionCreateParamsStreaming, { signal }) => client.chat.completions.create(request, { signal }),
  { adapter: openaiChat(), contextWindow: 128_000 },
);

const request: OpenAI.ChatCompletionCreateParamsStreaming = {
  model: 'gpt-4.1-mini',
  messages: [{ role: 'user', content: 'Why did request 150 fail?' }],
  stream: true,
  stream_options: { include_usage: true },
};
for await (const chunk of await create(request)) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
  if (chunk.usage) create.compactor.observe(request, { usage: { inputTokens: chunk.usage.prompt_tokens } });
}
console.log(`\n${create.compactor.estimate(request).tokens} tokens in the request`);

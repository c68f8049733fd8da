// `/compact keep the numbers`: a manual compaction, its summary streamed to the user.
import { compact } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import OpenAI from 'openai';
import { offlineOpenAi, readLogPage } from './support/offline.ts';

const client = new OpenAI({ apiKey: 'offline', fetch: offlineOpenAi });

const request: OpenAI.ChatCompletionCreateParamsNonStreaming = {
  model: 'gpt-4.1-mini',
  messages: [
    { role: 'system', content: 'You find the cause of failures.' },
    { role: 'user', content: `Why did a request fail? ${readLogPage(2)}` },
    { role: 'assistant', content: 'The certificate expired, so request 150 failed.' },
  ],
};
const result = await compact(request, {
  adapter: openaiChat(),
  contextWindow: 128_000,
  send: (params: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => client.chat.completions.create(params, { signal }),
  instructions: 'Keep the numbers.',
  onText: (text) => process.stdout.write(text),
});
console.log(`\n\n${result.tokensBefore} -> ${result.tokensAfter} tokens, ${result.request.messages.length} messages`);

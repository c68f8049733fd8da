import type OpenAI from 'openai';

/** What requests have cost, in tokens. */
export interface TokensUsed {
  inputTokens: number;
  outputTokens: number;
}

/** The same stream; what it says of its usage is added to a total. */
export async function* watchUsage(
  stream: AsyncIterable<OpenAI.ChatCompletionChunk>,
  total: TokensUsed,
): AsyncGenerator<OpenAI.ChatCompletionChunk> {
  for await (const chunk of stream) {
    total.inputTokens += chunk.usage?.prompt_tokens ?? 0;
    total.outputTokens += chunk.usage?.completion_tokens ?? 0;
    yield chunk;
  }
}

import Anthropic from '@anthropic-ai/sdk';
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { anthropicMessages } from 'context-compactor/anthropic';
import { bedrockConverse } from 'context-compactor/bedrock';
import { geminiContents } from 'context-compactor/google-genai';
import { openaiChat } from 'context-compactor/openai-chat';
import { openaiCodex } from 'context-compactor/openai-codex';
import { openaiResponses } from 'context-compactor/openai-responses';
import type { ProviderName } from 'context-compactor/testing';
import OpenAI from 'openai';
import type { ErrorClass } from '../../src/adapters/adapter.ts';

export interface Answer {
  text: string;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** An official client that asks one question. */
export interface WireClient {
  wire: ProviderName;
  /** Absent where the provider only streams. */
  ask?: (url: string, text: string) => Promise<Answer>;
  stream: (url: string, text: string) => Promise<Answer>;
  classifyError: (error: unknown) => ErrorClass;
}

const model = 'scripted';
const openai = (url: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'test', maxRetries: 0 });
const anthropic = (url: string): Anthropic => new Anthropic({ baseURL: url, apiKey: 'test', maxRetries: 0 });
const gemini = (url: string): GoogleGenAI => new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: url } });
const bedrock = (url: string): BedrockRuntimeClient =>
  new BedrockRuntimeClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });

const chat: WireClient = {
  wire: 'openai-chat',
  async ask(url, text) {
    const { choices, usage } = await openai(url).chat.completions.create({ model, messages: [{ role: 'user', content: text }] });
    return {
      text: choices[0]?.message.content ?? '',
      inputTokens: usage?.prompt_tokens,
      outputTokens: usage?.completion_tokens,
    };
  },
  async stream(url, content) {
    const answer: Answer = { text: '', inputTokens: undefined, outputTokens: undefined };
    const chunks = await openai(url).chat.completions.create({
      model,
      messages: [{ role: 'user', content }],
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const { choices, usage } of chunks) {
      answer.text += choices[0]?.delta.content ?? '';
      answer.inputTokens = usage?.prompt_tokens;
      answer.outputTokens = usage?.completion_tokens;
    }
    return answer;
  },
  classifyError: openaiChat().classifyError,
};

async function streamResponse(client: OpenAI, request: OpenAI.Responses.ResponseCreateParamsStreaming): Promise<Answer> {
  let text = '';
  for await (const event of await client.responses.create(request)) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.failed') throw event.response.error;
    if (event.type !== 'response.completed') continue;
    const { usage } = event.response;
    return { text, inputTokens: usage?.input_tokens, outputTokens: usage?.output_tokens };
  }
  throw new Error('The stream has no end.');
}

const responses: WireClient = {
  wire: 'openai-responses',
  async ask(url, input) {
    const { output_text: text, usage } = await openai(url).responses.create({ model, input });
    return { text, inputTokens: usage?.input_tokens, outputTokens: usage?.output_tokens };
  },
  stream: (url, input) => streamResponse(openai(url), { model, input, stream: true }),
  classifyError: openaiResponses().classifyError,
};

const codex: WireClient = {
  wire: 'openai-codex',
  stream: (url, content) =>
    streamResponse(new OpenAI({ baseURL: `${url}/backend-api/codex`, apiKey: 'test', maxRetries: 0 }), {
      model,
      instructions: 'Be brief.',
      input: [{ role: 'user', content }],
      store: false,
      stream: true,
    }),
  classifyError: openaiCodex().classifyError,
};

const readMessage = ({ content, usage }: Anthropic.Message): Answer => ({
  text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  inputTokens: usage.input_tokens,
  outputTokens: usage.output_tokens,
});
const messages = (content: string) => ({ model, max_tokens: 100, messages: [{ role: 'user' as const, content }] });

const claude: WireClient = {
  wire: 'anthropic',
  ask: async (url, text) => readMessage(await anthropic(url).messages.create(messages(text))),
  stream: async (url, text) => readMessage(await anthropic(url).messages.stream(messages(text)).finalMessage()),
  classifyError: anthropicMessages().classifyError,
};

const converseInput = (text: string) => ({ modelId: model, messages: [{ role: 'user' as const, content: [{ text }] }] });

const converse: WireClient = {
  wire: 'bedrock',
  async ask(url, text) {
    const { output, usage } = await bedrock(url).send(new ConverseCommand(converseInput(text)));
    return {
      text: output?.message?.content?.map((block) => block.text ?? '').join('') ?? '',
      inputTokens: usage?.inputTokens,
      outputTokens: usage?.outputTokens,
    };
  },
  async stream(url, question) {
    const answer: Answer = { text: '', inputTokens: undefined, outputTokens: undefined };
    const { stream } = await bedrock(url).send(new ConverseStreamCommand(converseInput(question)));
    for await (const { contentBlockDelta, metadata } of stream ?? []) {
      answer.text += contentBlockDelta?.delta?.text ?? '';
      answer.inputTokens = metadata?.usage?.inputTokens;
      answer.outputTokens = metadata?.usage?.outputTokens;
    }
    return answer;
  },
  classifyError: bedrockConverse().classifyError,
};

const generate: WireClient = {
  wire: 'google-genai',
  async ask(url, contents) {
    const { text = '', usageMetadata } = await gemini(url).models.generateContent({ model, contents });
    return {
      text,
      inputTokens: usageMetadata?.promptTokenCount,
      outputTokens: usageMetadata?.candidatesTokenCount,
    };
  },
  async stream(url, contents) {
    const answer: Answer = { text: '', inputTokens: undefined, outputTokens: undefined };
    for await (const { text, usageMetadata } of await gemini(url).models.generateContentStream({ model, contents })) {
      answer.text += text ?? '';
      answer.inputTokens = usageMetadata?.promptTokenCount;
      answer.outputTokens = usageMetadata?.candidatesTokenCount;
    }
    return answer;
  },
  classifyError: geminiContents().classifyError,
};

/** One for each format that the proxy knows. */
export const wireClients: readonly WireClient[] = [chat, responses, codex, claude, converse, generate];

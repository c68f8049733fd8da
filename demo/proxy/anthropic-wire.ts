import type { MessageCreateParams, RawMessageStreamEvent, Message as Reply } from '@anthropic-ai/sdk/resources/messages';
import { anthropicMessages } from 'context-compactor/anthropic';
import { validateAnthropic } from 'context-compactor/testing';
import { echoMark, type JsonObject, serialize, type WireFormat } from './wire-format.ts';

const adapter = anthropicMessages();

/** Anthropic Messages. Where a body or reply is read as the SDK's type, the wire validator or the model server vouches for it. */
export const anthropicWire: WireFormat = {
  provider: 'anthropic',
  path: '/messages',
  findProblems: (body) => validateAnthropic(body).map(({ path, message }) => `${path}: ${message}`),

  blocksOf(body) {
    const { tools = [], system = [], messages } = asRequest(body);
    return [
      ...tools.map(serialize),
      ...contentOf(system).map((block) => serialize(['system', block])),
      ...messages.flatMap(({ role, content }) => contentOf(content).map((block) => serialize([role, block]))),
    ];
  },

  userTexts: (body) =>
    asRequest(body)
      .messages.filter((message) => message.role === 'user')
      .map(({ content }) => contentOf(content).flatMap((block) => (block.type === 'text' ? [block.text] : []))),

  messagesOf: (body) => adapter.items(asRequest(body)).flatMap((item) => adapter.readItem(item)),

  outputCap: (body) => asRequest(body).max_tokens,

  overflow(body, tokens, contextWindow) {
    const { max_tokens } = asRequest(body);
    if (tokens > contextWindow) return this.refusal(`prompt is too long: ${tokens} tokens > ${contextWindow} maximum`);
    if (tokens + max_tokens <= contextWindow) return undefined;
    return this.refusal(
      `input length and \`max_tokens\` exceed context limit: ${tokens} + ${max_tokens} > ${contextWindow}, ` +
        'decrease input length or `max_tokens` and try again',
    );
  },

  refusal: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_demo' }),

  echoRequest: ({ model, stream, max_tokens }, text) => ({
    model,
    stream,
    max_tokens,
    system: echoMark,
    messages: [{ role: 'user', content: text }],
  }),

  outputOf(reply) {
    const event = asReply(reply);
    if (event.type === 'message')
      return event.content.map((block) => ('text' in block ? block.text : serialize(block))).join(' ');
    if (event.type === 'content_block_start') return 'name' in event.content_block ? event.content_block.name : '';
    if (event.type !== 'content_block_delta') return '';
    return 'text' in event.delta ? event.delta.text : 'partial_json' in event.delta ? event.delta.partial_json : '';
  },

  setUsage(reply, inputTokens, countOutput) {
    const event = asReply(reply);
    if (event.type === 'message') Object.assign(event.usage, { input_tokens: inputTokens, output_tokens: countOutput() });
    if (event.type === 'message_start') Object.assign(event.message.usage, { input_tokens: inputTokens });
    if (event.type === 'message_delta') Object.assign(event.usage, { output_tokens: countOutput() });
  },
};

function contentOf<Block>(content: string | readonly Block[]): readonly (Block | { type: 'text'; text: string })[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function asRequest(body: JsonObject): MessageCreateParams {
  return body as unknown as MessageCreateParams;
}

function asReply(reply: JsonObject): Reply | RawMessageStreamEvent {
  return reply as unknown as Reply | RawMessageStreamEvent;
}

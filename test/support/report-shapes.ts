import { describe, expect, it } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import type { AnthropicMessage, AnthropicReply, AnthropicRequest } from '../../src/adapters/anthropic.ts';
import type { ChatMessage, ChatReply, ChatRequest } from '../../src/adapters/openai-chat.ts';
import type { Message, Part } from '../../src/message.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import type { Ending, ProviderKit, ReplyScript } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import type { WireViolation } from '../../src/testing/wire/violation.ts';
import { piecesOf, playLike, recordedStreams } from './report-streams.ts';

export interface RequestFields {
  model?: string;
  system?: string;
  /** Default true. */
  tools?: boolean;
  /** Output cap; default 1,000. */
  cap?: number;
}

/** What a reply of the model says, and how it ends. */
export interface ReplyContent {
  text?: string | null;
  thinking?: string;
  calls?: readonly string[];
  /** `cut`: it ends without saying how. Default: `calls` where there are calls, else `stop`. */
  finish?: 'stop' | 'calls' | 'length' | 'refused' | 'filtered' | 'cut';
  /** Tokens of the whole input; null for no usage at all. Default null. */
  inputTokens?: number | null;
}

/** One provider's way to write what the reports tell. */
export interface ReportShape<Request, Item, Reply> {
  readonly name: string;
  readonly adapter: ProviderAdapter<Request, Item, Reply>;
  /** What the provider would refuse. */
  validate(request: Request): WireViolation[];
  request(items: readonly Item[], fields?: RequestFields): Request;
  user(...texts: readonly string[]): Item;
  assistant(text: string): Item;
  calls(ids: readonly string[], text?: string): Item[];
  /** The results of one round, as the provider's own agents write them. */
  results(entries: readonly (readonly [id: string, text: string])[]): Item[];
  reply(content: ReplyContent): Reply;
  /** The pieces of a reply with thinking, text and two calls, `call_1` and `call_2`; of another where one is told. */
  pieces?(content?: ReplyContent): Promise<readonly object[]>;
  /** Pieces as a reply. */
  play?(pieces: readonly object[] | AsyncIterable<object>): Reply;
}

export type StreamingShape<Request, Item, Reply> = ReportShape<Request, Item, Reply> &
  Required<Pick<ReportShape<Request, Item, Reply>, 'pieces' | 'play'>>;

export const systemText = 'You are a careful engineer. Never touch the lock file.';

const endings: Record<NonNullable<ReplyContent['finish']>, Ending> = {
  stop: 'stop',
  calls: 'tool-calls',
  length: 'length',
  refused: 'refusal',
  filtered: 'content-filter',
  cut: 'cut',
};

/** What the reports tell, in the shape of a kit: its adapter writes the messages. */
function reportShape<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>): ReportShape<Request, Item, Reply> {
  const { name, adapter } = kit;
  const write = (role: Message['role'], parts: readonly Part[]): Item[] => adapter.writeMessage({ role, parts });
  const writeOne = (role: Message['role'], texts: readonly string[]): Item => {
    const [item, ...others] = write(role, texts.map(textPart));
    if (item === undefined || others.length > 0) throw new Error(`Expected one item for a message of the ${role}.`);
    return item;
  };
  return {
    name,
    adapter,
    validate: (request) => kit.validate(request),
    request: (items, { model, system = systemText, tools = true, cap } = {}) =>
      withoutState(kit.request(items, { model, system, tools, outputCap: cap })),
    user: (...texts) => writeOne('user', texts),
    assistant: (text) => writeOne('assistant', [text]),
    calls: (ids, text) => write('assistant', [...(text ? [textPart(text)] : []), ...ids.map(callPart)]),
    results: (entries) =>
      write(
        'tool',
        entries.map(
          ([callId, text]): Part => ({ type: 'toolResult', callId, name: 'read', content: text === '' ? [] : [textPart(text)] }),
        ),
      ),
    reply: (content) => kit.reply(scriptOf(content)),
    ...streaming(kit),
  };
}

function scriptOf({ text, thinking, calls = [], finish, inputTokens = null }: ReplyContent): ReplyScript {
  return {
    text: text ?? undefined,
    reasoning: thinking,
    calls: calls.map((id) => ({ id, name: 'read', input: { path: `${id}.ts` } })),
    ending: finish && endings[finish],
    usage: inputTokens === null ? undefined : { inputTokens, outputTokens: 10 },
  };
}

const bothFiles: ReplyContent = {
  thinking: 'The user wants it.',
  text: 'I will look at both 📦 files.',
  calls: ['call_1', 'call_2'],
};

function streaming<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
): Pick<ReportShape<Request, Item, Reply>, 'pieces' | 'play'> {
  const model = kit.stream?.({});
  if (model === undefined) return {};
  return {
    pieces: async (content) =>
      (content ? undefined : recordedStreams[kit.name]) ?? piecesOf(kit.stream?.(scriptOf(content ?? bothFiles))),
    play: (pieces) => playLike(model, pieces),
  };
}

/** LangChain's request carries the state of its agent, with the whole history in it: nobody sends that. */
function withoutState<Request>(request: Request): Request {
  return typeof request === 'object' && request !== null && 'state' in request ? { ...request, state: {} } : request;
}

function textPart(text: string): { type: 'text'; text: string } {
  return { type: 'text', text };
}

function callPart(id: string): Part {
  return { type: 'toolCall', id, name: 'read', input: { path: `${id}.ts` } };
}

export const chatShape: ReportShape<ChatRequest, ChatMessage, ChatReply> = reportShape(openaiChatKit);
export const anthropicShape: ReportShape<AnthropicRequest, AnthropicMessage, AnthropicReply> = reportShape(anthropicKit);

/** Where the shapes keep the conversation. */
const conversationFields = ['messages', 'input', 'contents', 'prompt'];

/** All of a request but its conversation. */
export function withoutConversation(request: object): object {
  return Object.fromEntries(Object.entries(request).filter(([key]) => !conversationFields.includes(key)));
}

/** Puts an array of the caller's own in the place of the conversation. */
export function setConversation(request: object, items: readonly object[]): void {
  const field = conversationFields.find((key) => key in request);
  if (field) Reflect.set(request, field, items);
}

/** A block with fields beyond those that the adapter's type names. */
export function block<Block extends { type: string }>(fields: Block): Block {
  return fields;
}

export function anthropicResult(id: string, text: string): { type: string; tool_use_id: string } {
  return block({ type: 'tool_result', tool_use_id: id, content: text });
}

/** Runs the same tests for every provider. */
export function onAllShapes(
  define: <Request extends object, Item extends object, Reply>(shape: ReportShape<Request, Item, Reply>) => void,
): void {
  // Each kit is sound in itself; a list of them has no common type.
  for (const kit of Object.values(providerKits))
    describe(kit.name, () => define(reportShape(kit as ProviderKit<object, object, unknown>)));
}

/** Runs the same tests for every provider whose replies come in pieces. */
export function onStreamingShapes(
  define: <Request extends object, Item extends object, Reply>(shape: StreamingShape<Request, Item, Reply>) => void,
): void {
  onAllShapes((shape) => {
    const { pieces, play } = shape;
    if (pieces && play) define({ ...shape, pieces, play });
    else it('has no streams', () => expect(shape.name).toBe('genkit'));
  });
}

import type {
  ContentBlock,
  ContentBlockParam,
  MessageCreateParamsNonStreaming,
  MessageParam,
  TextBlockParam,
  Tool,
  ToolReferenceBlockParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import { nameCalls } from './call-ids.ts';
import { callsOf } from './recorder.ts';
import type { RecordedCall, RecordedResult, RecordedTurn, Recording, ResultPart, UserPart } from './recording.ts';
import type { Steps } from './steps.ts';
import { describeTools } from './tool-schemas.ts';

/** The content of a reply is as a `Message` of the SDK has it. */
export interface AnthropicReply {
  role: 'assistant';
  content: ContentBlock[];
}

export interface AnthropicSteps extends Steps<MessageParam, AnthropicReply, Tool> {
  /** Set where the replies hold thinking. */
  thinking?: { type: 'adaptive' };
}

/** A conversation in the shape of Anthropic Messages: user and assistant in turn, results first in the user's message. */
export function anthropicSteps(conversation: Recording): AnthropicSteps {
  const turns: AnthropicSteps['turns'] = [];
  // A repeated id is refused in the whole request, not only in one turn.
  const taken = new Set<string>();
  let results: ToolResultBlockParam[] = [];
  for (const turn of conversation.turns) {
    const messages = writeUser(results, turn.input);
    const ids = nameCalls(callsOf(turn.reply), cleanId, taken);
    turns.push({ messages, reply: { role: 'assistant', content: writeReply(turn, ids) } });
    results = turn.results.map((result) => writeResult(result, ids));
  }
  const tools = describeTools(conversation).map((tool): Tool => {
    return { name: tool.name, description: tool.description, input_schema: tool.parameters };
  });
  const thinks = conversation.turns.some(({ reply }) => reply.some((part) => part.type === 'thinking'));
  return {
    ...(conversation.system && { system: conversation.system }),
    ...(tools.length > 0 && { tools }),
    ...(thinks && { thinking: { type: 'adaptive' as const } }),
    turns,
    rest: writeUser(results, conversation.rest),
  };
}

/** The request of a step; `messages` is the whole conversation up to it and is not copied. */
export function anthropicRequest(
  { system, tools, thinking }: AnthropicSteps,
  messages: MessageParam[],
): MessageCreateParamsNonStreaming {
  return {
    model: 'claude-opus-4-6',
    max_tokens: 8192,
    ...(system && { system }),
    ...(tools && { tools }),
    ...(thinking && { thinking }),
    messages,
  };
}

// Anthropic accepts letters, digits, underscore and dash only.
function cleanId(id: string): string {
  return id
    .replace(/\|.*$/s, '')
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .slice(-64);
}

function writeUser(results: readonly ToolResultBlockParam[], input: readonly UserPart[][]): MessageParam[] {
  const parts = input.flat();
  const [first] = parts;
  if (results.length === 0 && parts.length === 0) return [];
  if (results.length === 0 && parts.length === 1 && first?.type === 'text') return [{ role: 'user', content: first.text }];
  return [{ role: 'user', content: [...results, ...parts.map(writePart)] }];
}

function writePart(part: UserPart): ContentBlockParam {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } };
}

/** Calls come last: a block between a call and its result is refused. */
function writeReply({ reply }: RecordedTurn, ids: Map<RecordedCall, string>): ContentBlock[] {
  const words = reply.flatMap((part): ContentBlock[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text, citations: null }];
    return part.type === 'thinking' ? [{ type: 'thinking', thinking: part.thinking, signature: part.signature }] : [];
  });
  const calls = callsOf(reply).map((call): ContentBlock => {
    return { type: 'tool_use', id: ids.get(call)!, name: call.name, input: call.input, caller: { type: 'direct' } };
  });
  return [...words, ...calls];
}

function writeResult({ call, content, isError }: RecordedResult, ids: Map<RecordedCall, string>): ToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: ids.get(call)!,
    content: typeof content === 'string' ? content : content.map(writeResultPart),
    ...(isError && { is_error: true }),
  };
}

function writeResultPart(part: ResultPart): TextBlockParam | ToolReferenceBlockParam {
  return part.type === 'text' ? { type: 'text', text: part.text } : { type: 'tool_reference', tool_name: part.name };
}

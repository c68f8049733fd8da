import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { nameCalls } from './call-ids.ts';
import { callsOf } from './recorder.ts';
import type { RecordedCall, RecordedResult, RecordedTurn, Recording, ResultPart, UserPart } from './recording.ts';
import type { Steps } from './steps.ts';
import { describeTools } from './tool-schemas.ts';

export type OpenAiSteps = Steps<ChatCompletionMessageParam, ChatCompletionMessage, ChatCompletionFunctionTool>;

/** A conversation in the shape of OpenAI Chat. The system text is its first message; thinking is left out. */
export function openaiSteps(conversation: Recording): OpenAiSteps {
  const turns: OpenAiSteps['turns'] = [];
  let messages: ChatCompletionMessageParam[] = [];
  if (conversation.system) messages.push({ role: 'system', content: conversation.system });
  for (const turn of conversation.turns) {
    messages.push(...turn.input.map(writeUser));
    const ids = nameCalls(callsOf(turn.reply), cleanId, new Set());
    turns.push({ messages, reply: writeReply(turn, ids) });
    messages = turn.results.map((result) => writeResult(result, ids));
  }
  const rest = [...messages, ...conversation.rest.map(writeUser)];
  const tools = describeTools(conversation).map((tool): ChatCompletionFunctionTool => {
    return { type: 'function', function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } } };
  });
  return { ...(tools.length > 0 && { tools }), turns, rest };
}

/** The request of a step; `messages` is the whole conversation up to it and is not copied. */
export function openaiRequest(
  { tools }: OpenAiSteps,
  messages: ChatCompletionMessageParam[],
): ChatCompletionCreateParamsNonStreaming {
  return { model: 'gpt-5', messages, ...(tools && { tools }) };
}

// OpenAI refuses ids of more than 40 characters. Behind the bar stands the id of another API.
function cleanId(id: string): string {
  return id.replace(/\|.*$/s, '').slice(-40);
}

function writeUser(parts: readonly UserPart[]): ChatCompletionMessageParam {
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') return { role: 'user', content: first.text };
  return { role: 'user', content: parts.map(writePart) };
}

function writePart(part: UserPart): ChatCompletionContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.data}` } };
}

function writeReply({ reply }: RecordedTurn, ids: Map<RecordedCall, string>): ChatCompletionMessage {
  const content = reply.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n') || null;
  const calls = callsOf(reply).map((call) => {
    return { id: ids.get(call)!, type: 'function' as const, function: { name: call.name, arguments: call.json } };
  });
  return { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) };
}

function writeResult({ call, content }: RecordedResult, ids: Map<RecordedCall, string>): ChatCompletionMessageParam {
  const text = typeof content === 'string' ? content : content.map(textOfResult).join('\n');
  return { role: 'tool', tool_call_id: ids.get(call)!, content: text };
}

function textOfResult(part: ResultPart): string {
  return part.type === 'text' ? part.text : `Tool reference: ${part.name}`;
}

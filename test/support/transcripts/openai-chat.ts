import { z } from 'zod';
import { Recorder } from './recorder.ts';
import type { Loader, Recording, ReplyPart } from './recording.ts';

const content = z.string().nullable();
const toolCall = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) });
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.string() }),
  z.object({ role: z.literal('assistant'), content, tool_calls: z.array(toolCall).nullish() }),
  z.object({
    role: z.literal('tool'),
    content: z.string(),
    tool_call_id: z.string().optional(),
    tool_call_ids: z.array(z.string()).optional(),
  }),
  z.object({ role: z.literal('exit') }),
]);
const messages = z.array(message);
const input = z.record(z.string(), z.unknown());

/** Result of tau-bench. */
export const loadTauBench: Loader = (file) => loadMessages(z.object({ traj: messages }).parse(JSON.parse(file)).traj);

/** Trajectory of mini-swe-agent. The last entry says how the run ended and was no input of the model. */
export const loadMiniSweAgent: Loader = (file) => loadMessages(z.object({ messages }).parse(JSON.parse(file)).messages);

/** Trajectory of SWE-agent, with tool calls, or with commands in plain text that the user's messages answer. */
export const loadSweAgent: Loader = (file) => loadMessages(z.object({ history: messages }).parse(JSON.parse(file)).history);

function loadMessages(list: z.infer<typeof messages>): Recording {
  const recorder = new Recorder();
  for (const message of list) {
    if (message.role === 'system') recorder.system(message.content);
    else if (message.role === 'user') recorder.user(message.content);
    else if (message.role === 'tool') recorder.result(message.tool_call_id ?? message.tool_call_ids?.[0] ?? '', message.content);
    else if (message.role === 'assistant') {
      const calls = (message.tool_calls ?? []).map(readCall);
      recorder.assistant([{ type: 'text', text: message.content ?? '' }, ...calls]);
    }
  }
  return recorder.finish();
}

/** A call of OpenAI Chat as it is recorded; `arguments` must hold a JSON object. */
function readCall(call: z.infer<typeof toolCall>): ReplyPart {
  const { name, arguments: json } = call.function;
  return { type: 'call', id: call.id, name, input: input.parse(JSON.parse(json)), json };
}

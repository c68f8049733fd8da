import { z } from 'zod';
import { Recorder } from './recorder.ts';
import type { Loader } from './recording.ts';

const toolCall = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) });
const reply = z.object({ content: z.string().nullable(), tool_calls: z.array(toolCall).length(1) });
const metadata = z.object({
  tool_call_id: z.string(),
  model_response: z.object({ choices: z.array(z.object({ message: reply })) }),
});
const event = z.object({
  action: z.string().optional(),
  observation: z.string().optional(),
  content: z.string().optional(),
  args: z.object({ content: z.string().optional() }).optional(),
  tool_call_metadata: metadata.optional(),
});
const run = z.object({ history: z.array(event) });
const input = z.record(z.string(), z.unknown());

/** Events of OpenHands: the model's replies are whole in the metadata of the actions. An error without a call was told as user. */
export const loadOpenHands: Loader = (file) => {
  const recorder = new Recorder();
  for (const { action, observation, content = '', args, tool_call_metadata } of run.parse(JSON.parse(file)).history) {
    if (action === 'system') recorder.system(args?.content ?? '');
    else if (action === 'message') recorder.user(args?.content ?? '');
    else if (observation === 'error' && !tool_call_metadata) recorder.user(content);
    else if (tool_call_metadata && observation) recorder.result(tool_call_metadata.tool_call_id, content);
    else if (tool_call_metadata) {
      for (const { message } of tool_call_metadata.model_response.choices) {
        const calls = message.tool_calls.map(({ id, function: { name, arguments: json } }) => {
          return { type: 'call' as const, id, name, input: input.parse(JSON.parse(json)), json };
        });
        recorder.assistant([{ type: 'text', text: message.content ?? '' }, ...calls]);
      }
    }
  }
  return recorder.finish();
};

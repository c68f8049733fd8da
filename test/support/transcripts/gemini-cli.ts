import { z } from 'zod';
import { Recorder } from './recorder.ts';
import type { Loader } from './recording.ts';

const toolCall = z.object({
  id: z.string(),
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  status: z.string(),
  result: z.array(
    z.object({
      functionResponse: z.object({ response: z.object({ output: z.string().optional(), error: z.string().optional() }) }),
    }),
  ),
});
const session = z.object({
  messages: z.array(z.object({ type: z.string(), content: z.string(), toolCalls: z.array(toolCall).optional() })),
});

/** Record of Gemini CLI: a call holds its result. Notes and errors of the program were no input of the model. */
export const loadGeminiCli: Loader = (file) => {
  const recorder = new Recorder();
  for (const { type, content, toolCalls = [] } of session.parse(JSON.parse(file)).messages) {
    if (type === 'user') recorder.user(content);
    if (type !== 'gemini') continue;
    const calls = toolCalls.map(({ id, name, args }) => {
      return { type: 'call' as const, id, name, input: args, json: JSON.stringify(args) };
    });
    recorder.assistant([{ type: 'text', text: content }, ...calls]);
    for (const { id, status, result } of toolCalls) {
      const text = result.map(({ functionResponse: { response } }) => response.output ?? response.error ?? '').join('\n');
      if (result.length > 0) recorder.result(id, text, status !== 'success');
    }
  }
  return recorder.finish();
};

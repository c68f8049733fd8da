import { z } from 'zod';
import { typeOf } from './json-lines.ts';
import { Recorder } from './recorder.ts';
import type { Loader } from './recording.ts';

const text = z.object({ text: z.string() });
const tool = z.object({
  callID: z.string(),
  tool: z.string(),
  state: z.object({
    status: z.string(),
    input: z.record(z.string(), z.unknown()),
    output: z.string().optional(),
    error: z.string().optional(),
  }),
});
const session = z.object({
  messages: z.array(
    z.object({ info: z.object({ role: z.enum(['user', 'assistant']), id: z.string() }), parts: z.array(z.unknown()) }),
  ),
});

/** Export of an OpenCode session: a call and its result are one part. */
export const loadOpenCode: Loader = (file) => {
  const recorder = new Recorder();
  for (const { info, parts } of session.parse(JSON.parse(file)).messages) {
    const texts = parts
      .filter((part) => typeOf(part) === 'text')
      .map((part) => ({ type: 'text' as const, text: text.parse(part).text }));
    if (info.role === 'user') {
      recorder.user(texts);
      continue;
    }
    const tools = parts.filter((part) => typeOf(part) === 'tool').map((part) => tool.parse(part));
    const calls = tools.map(({ callID, tool, state }) => {
      return { type: 'call' as const, id: callID, name: tool, input: state.input, json: JSON.stringify(state.input) };
    });
    recorder.assistant([...texts, ...calls], info.id);
    for (const { callID, state } of tools) {
      const output = state.status === 'error' ? state.error : state.output;
      if (output !== undefined) recorder.result(callID, output, state.status === 'error');
    }
  }
  return recorder.finish();
};

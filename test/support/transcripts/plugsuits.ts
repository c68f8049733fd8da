import { z } from 'zod';
import { parseLines } from './json-lines.ts';
import { Recorder } from './recorder.ts';
import type { Loader } from './recording.ts';

const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('user'), content: z.string() }),
  z.object({ type: z.literal('assistant'), content: z.string() }),
  z.object({
    type: z.literal('tool_call'),
    tool_call_id: z.string(),
    tool_name: z.string(),
    tool_input: z.record(z.string(), z.unknown()),
  }),
  z.object({ type: z.literal('tool_result'), tool_call_id: z.string(), output: z.string() }),
]);

/** Flat events of plugsuits: text before a call is a fragment of the same reply. */
export const loadPlugsuits: Loader = (file) => {
  const recorder = new Recorder();
  for (const line of parseLines(file)) {
    const recorded = event.parse(line);
    if (recorded.type === 'user') recorder.user(recorded.content);
    else if (recorded.type === 'assistant') recorder.assistant([{ type: 'text', text: recorded.content }]);
    else if (recorded.type === 'tool_result') recorder.result(recorded.tool_call_id, recorded.output);
    else {
      const { tool_call_id: id, tool_name: name, tool_input: input } = recorded;
      recorder.assistant([{ type: 'call', id, name, input, json: JSON.stringify(input) }]);
    }
  }
  return recorder.finish();
};

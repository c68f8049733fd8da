import { z } from 'zod';
import { parseLines, typeOf } from './json-lines.ts';
import { Recorder } from './recorder.ts';
import type { Loader, ReplyPart } from './recording.ts';

const text = z.object({ type: z.literal('text'), text: z.string() });
const thinking = z.object({ type: z.literal('thinking'), thinking: z.string(), thinkingSignature: z.string().optional() });
const toolCall = z.object({
  type: z.literal('toolCall'),
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.array(text) }),
  z.object({
    role: z.literal('assistant'),
    api: z.string(),
    content: z.array(z.discriminatedUnion('type', [text, thinking, toolCall])),
  }),
  z.object({ role: z.literal('toolResult'), toolCallId: z.string(), content: z.array(text), isError: z.boolean() }),
  z.object({ role: z.literal('bashExecution'), command: z.string(), output: z.string() }),
]);
const entry = z.object({ message });

type AssistantPart = Extract<z.infer<typeof message>, { role: 'assistant' }>['content'][number];

/**
 * Session of pi. Its own compactions are left out, since the whole history is kept here. A command that the user ran is input of
 * the user.
 */
export const loadPi: Loader = (file) => {
  const recorder = new Recorder();
  for (const line of parseLines(file)) {
    if (typeOf(line) !== 'message') continue;
    const { message } = entry.parse(line);
    if (message.role === 'user') recorder.user(message.content);
    else if (message.role === 'toolResult') recorder.result(message.toolCallId, joined(message.content), message.isError);
    else if (message.role === 'bashExecution') recorder.user(`Ran \`${message.command}\`\n\`\`\`\n${message.output}\n\`\`\``);
    else recorder.assistant(message.content.flatMap((part) => readReply(part, message.api)));
  }
  return recorder.finish();
};

function joined(content: readonly { text: string }[]): string {
  return content.map((part) => part.text).join('\n');
}

function readReply(part: AssistantPart, api: string): ReplyPart[] {
  if (part.type === 'text') return [part];
  if (part.type === 'toolCall') {
    return [{ type: 'call', id: part.id, name: part.name, input: part.arguments, json: JSON.stringify(part.arguments) }];
  }
  // Under other APIs the field holds their own reasoning items.
  const signature = api === 'anthropic-messages' ? part.thinkingSignature : undefined;
  return signature ? [{ type: 'thinking', thinking: part.thinking, signature }] : [];
}

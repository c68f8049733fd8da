import { z } from 'zod';
import { parseLines, typeOf } from './json-lines.ts';
import { Recorder } from './recorder.ts';
import type { Loader, ReplyPart, ResultPart, UserPart } from './recording.ts';

const text = z.object({ type: z.literal('text'), text: z.string() });
const image = z.object({
  type: z.literal('image'),
  source: z.object({
    media_type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
    data: z.string(),
  }),
});
const toolReference = z.object({ type: z.literal('tool_reference'), tool_name: z.string() });
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, toolReference]))]),
  is_error: z.boolean().optional(),
});
const thinking = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});

const userLine = z.object({
  isSidechain: z.boolean().optional(),
  message: z.object({ content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image, toolResult]))]) }),
});
const assistantLine = z.object({
  isSidechain: z.boolean().optional(),
  message: z.object({
    id: z.string(),
    model: z.string(),
    content: z.array(z.discriminatedUnion('type', [text, thinking, toolUse])),
  }),
});

type ToolResult = z.infer<typeof toolResult>;
type AssistantBlock = z.infer<typeof assistantLine>['message']['content'][number];

/**
 * Session of Claude Code: one line for each block of a reply, put together by the message's id. A line written by the program in
 * the model's name (`<synthetic>`) and the conversations of sub-agents are left out.
 */
export const loadClaudeCode: Loader = (file) => {
  const recorder = new Recorder();
  for (const line of parseLines(file)) {
    const type = typeOf(line);
    if (type === 'user') {
      const { message, isSidechain } = userLine.parse(line);
      if (isSidechain) continue;
      if (typeof message.content === 'string') {
        recorder.user(message.content);
        continue;
      }
      const input: UserPart[] = [];
      for (const block of message.content) {
        if (block.type === 'text') input.push(block);
        else if (block.type === 'image')
          input.push({ type: 'image', mediaType: block.source.media_type, data: block.source.data });
        else recorder.result(block.tool_use_id, readResult(block.content), block.is_error);
      }
      recorder.user(input);
    } else if (type === 'assistant') {
      const { message, isSidechain } = assistantLine.parse(line);
      if (!isSidechain && message.model !== '<synthetic>') recorder.assistant(message.content.map(readReply), message.id);
    }
  }
  return recorder.finish();
};

function readResult(content: ToolResult['content']): string | ResultPart[] {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part : { type: 'toolReference', name: part.tool_name }));
}

function readReply(block: AssistantBlock): ReplyPart {
  if (block.type !== 'tool_use') return block;
  return { type: 'call', id: block.id, name: block.name, input: block.input, json: JSON.stringify(block.input) };
}

import type { Message, ToolResultPart } from '../../../src/message.ts';

let calls = 0;

export function user(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

export function assistant(text: string): Message {
  return { role: 'assistant', parts: [{ type: 'text', text }] };
}

/** A tool call and its result. */
export function tool(name: string, input: unknown, output: string, isError?: boolean): Message[] {
  const id = `call_${++calls}`;
  const result: ToolResultPart = { type: 'toolResult', callId: id, content: [{ type: 'text', text: output }] };
  return [
    { role: 'assistant', parts: [{ type: 'toolCall', id, name, input }] },
    { role: 'tool', parts: [isError === undefined ? result : { ...result, isError }] },
  ];
}

/** The lines of one section of a summary, without their marks. */
export function section(summary: string, name: string): string[] {
  const lines = summary.split('\n');
  const start = lines.indexOf(`## ${name}`);
  if (start < 0) return [];
  const end = lines.findIndex((line, index) => index > start && line.startsWith('## '));
  return lines
    .slice(start + 1, end < 0 ? undefined : end)
    .filter((line) => line.startsWith('- '))
    .map((line) => line.slice(2));
}

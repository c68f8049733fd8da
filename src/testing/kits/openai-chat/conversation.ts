import type { ChatMessage } from '../../../adapters/openai-chat.ts';
import { type Choose, sometimes } from '../../choose.ts';
import type { OutlinedCall, OutlinedTurn } from '../../outline.ts';
import { writeReply } from './replies.ts';

export function writeTurn({ user, steps, reasoning, answer }: OutlinedTurn, choose: Choose): ChatMessage[] {
  return [
    { role: 'user', content: writeUser(user, choose) },
    ...steps.flatMap(({ text, reasoning: thought, calls }): ChatMessage[] => [
      { ...writeReply({ text, reasoning: thought, calls }), ...extras(choose) },
      ...calls.map((call) => writeResult(call, choose)),
    ]),
    ...(answer === undefined ? [] : [{ ...writeReply({ text: answer, reasoning }), ...extras(choose) }]),
  ];
}

function writeUser(texts: readonly string[], choose: Choose): string | object[] {
  const [first = ''] = texts;
  if (texts.length === 1 && choose(2) === 0) return first;
  const parts: object[] = texts.map((text) => ({ type: 'text', text }));
  if (sometimes(choose, 2))
    parts.push({ type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=', detail: 'low' } });
  if (sometimes(choose, 3))
    parts.push({ type: 'file', file: { file_id: 'file-1' }, prompt_cache_breakpoint: { mode: 'explicit' } });
  return parts;
}

function writeResult({ id, result, isError }: OutlinedCall, choose: Choose): ChatMessage {
  const text = isError ? `Error: ${result}` : result;
  return { role: 'tool', tool_call_id: id, content: sometimes(choose, 3) && text !== '' ? [{ type: 'text', text }] : text };
}

/** What servers add, and hosts. */
function extras(choose: Choose): object {
  return sometimes(choose, 4) ? { reasoning_details: [{ type: 'opaque', data: 'c2lnbmVk' }], annotations: [], host_note: 7 } : {};
}

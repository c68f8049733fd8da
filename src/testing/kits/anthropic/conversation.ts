import type { AnthropicMessage } from '../../../adapters/anthropic.ts';
import { type Choose, sometimes } from '../../choose.ts';
import type { OutlinedStep, OutlinedTurn } from '../../outline.ts';
import { type Block, textBlock, writeReply } from './replies.ts';

/** Results and what the user says next stand in one message where the host wrote them so. */
export function writeTurn({ user, steps, reasoning, answer }: OutlinedTurn, choose: Choose): AnthropicMessage[] {
  return [
    { role: 'user', content: writeUser(user, choose) },
    ...steps.flatMap((step): AnthropicMessage[] => [
      { role: 'assistant', content: [...serverTools(step, choose), ...writeReply(step)] },
      { role: 'user', content: writeResults(step, choose) },
    ]),
    ...(answer === undefined ? [] : [{ role: 'assistant', content: writeAnswer(answer, reasoning, choose) }]),
  ] as AnthropicMessage[]; // blocks carry fields beyond those that the adapter names
}

function writeUser(texts: readonly string[], choose: Choose): string | Block[] {
  const [first = ''] = texts;
  if (texts.length === 1 && choose(2) === 0) return first;
  return [
    ...(sometimes(choose, 2)
      ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' }, host_note: 7 }]
      : []),
    ...(sometimes(choose, 3) ? [{ type: 'document', source: { type: 'file', file_id: 'file_1' }, title: 'Notes' }] : []),
    ...texts.map(textBlock),
  ];
}

/** A search that the provider ran itself, with its encrypted result. */
function serverTools({ calls }: OutlinedStep, choose: Choose): Block[] {
  if (!sometimes(choose, 5)) return [];
  const id = `srvtoolu_${calls[0]?.id}`;
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'log' } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [{ type: 'web_search_result', encrypted_content: 'b3BhcXVl' }] },
  ];
}

function writeResults({ calls }: OutlinedStep, choose: Choose): Block[] {
  const results = calls.map(({ id, result, isError }) => ({
    type: 'tool_result',
    tool_use_id: id,
    ...(isError ? { is_error: true, content: result || 'It failed.' } : result !== '' && { content: [textBlock(result)] }),
  }));
  return sometimes(choose, 4) ? [...results, textBlock('By the way: be quick.')] : results;
}

function writeAnswer(answer: string, reasoning: string | undefined, choose: Choose): string | Block[] {
  if (reasoning === undefined && choose(2) === 0) return answer;
  const redacted = sometimes(choose, 3) ? [{ type: 'redacted_thinking', data: 'b3BhcXVl' }] : [];
  return [...redacted, ...writeReply({ text: answer, reasoning })];
}

import type { ResponsesItem } from '../../../adapters/openai-responses.ts';
import { type Choose, oneOf, sometimes } from '../../choose.ts';
import { type OutlinedCall, type OutlinedStep, type OutlinedTurn, outlineConversation } from '../../outline.ts';
import { writeCall, writeReasoning, writeText } from './replies.ts';

/** See `ProviderKit.conversation`. What was put out goes in again as it came, and each call and each result is an item of its own. */
export function writeConversation(choose: Choose, open: boolean): ResponsesItem[] {
  return outlineConversation(choose, open).flatMap((turn, index) => writeTurn(turn, index, choose));
}

function writeTurn({ user, steps, reasoning, answer }: OutlinedTurn, index: number, choose: Choose): ResponsesItem[] {
  return [
    writeUser(user, choose),
    ...(sometimes(choose, 6) ? [{ role: 'developer', content: 'Mind the time.' }] : []),
    ...steps.flatMap((step) => writeStep(step, choose)),
    // The provider's own compaction stands for all before it.
    ...(index === 0 && answer !== undefined && sometimes(choose, 8)
      ? [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'b3BhcXVl' }]
      : []),
    ...(answer === undefined ? [] : writeAnswer(answer, reasoning, choose)),
  ];
}

function writeUser(texts: readonly string[], choose: Choose): ResponsesItem {
  const [first = ''] = texts;
  if (texts.length === 1 && choose(2) === 0) return { role: 'user', content: first };
  const content: object[] = texts.map((text) => ({ type: 'input_text', text }));
  if (sometimes(choose, 2)) content.push({ type: 'input_image', detail: 'low', image_url: 'data:image/png;base64,aGVsbG8=' });
  if (sometimes(choose, 3))
    content.push({ type: 'input_file', file_id: 'file-1', prompt_cache_breakpoint: { mode: 'explicit' } });
  return { type: 'message', role: 'user', content, ...(sometimes(choose, 4) && { host_note: 7 }) };
}

/** Results may stand in any order behind their calls. */
function writeStep({ reasoning, text, calls }: OutlinedStep, choose: Choose): ResponsesItem[] {
  const pairs = calls.map((call) => writePair(call, choose));
  const results = pairs.map(([, result]) => result);
  return [
    ...(text === undefined ? [] : [{ ...writeText(text), phase: 'commentary' }]),
    ...(sometimes(choose, 5) ? writeServerWork(choose) : []),
    // Each of several calls has its own reasoning before it.
    ...pairs.flatMap(([call]) => (reasoning === undefined ? [call] : [writeReasoning(reasoning), call])),
    ...(sometimes(choose, 2) ? results.reverse() : results),
  ];
}

function writePair(call: OutlinedCall, choose: Choose): [call: ResponsesItem, result: ResponsesItem] {
  const { id, name, result, isError } = call;
  const text = isError ? `Error: ${result}` : result;
  const output = sometimes(choose, 3) && text !== '' ? [{ type: 'input_text', text }] : text;
  if (!sometimes(choose, 5)) return [writeCall(call), { type: 'function_call_output', call_id: id, output }];
  return [
    { type: 'custom_tool_call', id: `ctc_${id}`, call_id: id, name, input: '*** Begin Patch' },
    { type: 'custom_tool_call_output', call_id: id, output },
  ];
}

/** What the provider ran itself, or has the caller run in its own way, and what no version of an SDK knows yet. */
function writeServerWork(choose: Choose): ResponsesItem[] {
  const { id } = writeReasoning('');
  return oneOf<ResponsesItem[]>(choose, [
    [{ type: 'web_search_call', id: `ws_${id}`, status: 'completed', action: { type: 'search', query: 'log' } } as ResponsesItem],
    [{ type: 'image_generation_call', id: `ig_${id}`, status: 'completed', result: 'aGVsbG8=' } as ResponsesItem],
    [
      {
        type: 'mcp_call',
        id: `mcp_${id}`,
        server_label: 'docs',
        name: 'find',
        arguments: '{}',
        output: 'Found.',
      } as ResponsesItem,
    ],
    [
      { type: 'computer_call', id: `cu_${id}`, call_id: `call_${id}`, status: 'completed', action: { type: 'screenshot' } },
      {
        type: 'computer_call_output',
        call_id: `call_${id}`,
        output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,aGVsbG8=' },
      },
    ] as ResponsesItem[],
    [{ type: 'configuration_update', effort: 'low' } as ResponsesItem],
  ]);
}

function writeAnswer(answer: string, reasoning: string | undefined, choose: Choose): ResponsesItem[] {
  const said = sometimes(choose, 2) ? { ...writeText(answer), phase: 'final_answer' } : writeText(answer);
  if (reasoning === undefined) return [choose(2) === 0 ? said : { role: 'assistant', content: answer }];
  return [writeReasoning(reasoning), said];
}

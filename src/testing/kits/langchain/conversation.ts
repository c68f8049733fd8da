import type { LangchainBlock, LangchainMessage } from '../../../adapters/langchain.ts';
import { type Choose, oneOf, sometimes } from '../../choose.ts';
import type { OutlinedCall, OutlinedStep, OutlinedTurn } from '../../outline.ts';
import type { LangchainKitClasses } from './messages.ts';
import { writeCall } from './replies.ts';

export function writeTurn(
  { user, steps, reasoning, answer }: OutlinedTurn,
  classes: LangchainKitClasses,
  choose: Choose,
): LangchainMessage[] {
  return [
    new classes.HumanMessage({ content: writeUser(user, choose), ...(sometimes(choose, 5) && { name: 'alice', id: 'u-1' }) }),
    ...steps.flatMap((step) => writeStep(step, classes, choose)),
    ...(answer === undefined ? [] : [writeAnswer(answer, reasoning, classes, choose)]),
  ];
}

/** Blocks of LangChain, of OpenAI and of Anthropic: their packages take them all. */
function writeUser(texts: readonly string[], choose: Choose): string | LangchainBlock[] {
  const [first = ''] = texts;
  if (texts.length === 1 && choose(2) === 0) return first;
  const blocks: LangchainBlock[] = texts.map((text) => ({
    type: 'text',
    text,
    ...(sometimes(choose, 4) && { cache_control: { type: 'ephemeral' } }),
  }));
  if (sometimes(choose, 2)) blocks.push(writeImage(choose));
  if (sometimes(choose, 5)) blocks.push({ type: 'file', source_type: 'id', id: 'file-1', metadata: { filename: 'a.pdf' } });
  return blocks;
}

function writeImage(choose: Choose): LangchainBlock {
  return oneOf<LangchainBlock>(choose, [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=', detail: 'low' } },
    { type: 'image', source_type: 'base64', mime_type: 'image/png', data: 'aGVsbG8=' },
    { type: 'image', url: 'https://example.test/chart.png' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
  ]);
}

/** The package for Anthropic repeats the calls in the content; the one for OpenAI, raw, beside it. */
function writeStep({ text, reasoning, calls }: OutlinedStep, classes: LangchainKitClasses, choose: Choose): LangchainMessage[] {
  const tool_calls = calls.map(writeCall);
  const said = oneOf<() => object>(choose, [
    () => ({
      content: text ?? '',
      additional_kwargs: {
        tool_calls: calls.map(({ id, name, input }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
        ...(reasoning !== undefined && { reasoning_content: reasoning }),
      },
    }),
    () => ({
      content: [
        ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'c2lnbmVk' }]),
        ...(sometimes(choose, 4) ? [{ type: 'redacted_thinking', data: 'b3BhcXVl' }] : []),
        ...(text === undefined ? [] : [{ type: 'text', text, index: 1 }]),
        ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
      ],
      additional_kwargs: { id: 'msg_1', type: 'message', role: 'assistant', stop_reason: 'tool_use' },
    }),
    () => ({
      content: [
        ...(reasoning === undefined ? [] : [{ type: 'reasoning', reasoning }]),
        ...(text === undefined ? [] : [{ type: 'text', text, annotations: [] }]),
        ...tool_calls,
      ],
      response_metadata: { output_version: 'v1' },
    }),
  ])();
  return [
    new classes.AIMessage({ content: '', ...said, tool_calls, name: 'model', id: 'run-1', usage_metadata: { input_tokens: 7 } }),
    ...calls.map((call) => writeResult(call, classes, choose)),
  ];
}

function writeResult(
  { id, name, result, isError }: OutlinedCall,
  { ToolMessage }: LangchainKitClasses,
  choose: Choose,
): LangchainMessage {
  const inBlocks = sometimes(choose, 3) && result !== '';
  return new ToolMessage({
    content: inBlocks ? [{ type: 'text', text: result }, ...(sometimes(choose, 3) ? [writeImage(choose)] : [])] : result,
    tool_call_id: id,
    name,
    status: isError ? 'error' : 'success',
    ...(sometimes(choose, 4) && { artifact: { rows: [1, 2, 3] } }),
  });
}

function writeAnswer(
  text: string,
  reasoning: string | undefined,
  { AIMessage }: LangchainKitClasses,
  choose: Choose,
): LangchainMessage {
  const search = [
    { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
  ];
  return new AIMessage({
    content: sometimes(choose, 3) ? [...(sometimes(choose, 2) ? search : []), { type: 'text', text }] : text,
    ...(reasoning !== undefined && { additional_kwargs: { reasoning_content: reasoning } }),
    response_metadata: { model_provider: 'openai', finish_reason: 'stop' },
    name: 'model',
  });
}

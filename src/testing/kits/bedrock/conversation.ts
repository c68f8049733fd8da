import type { BedrockBlock, BedrockMessage } from '../../../adapters/bedrock.ts';
import { type Choose, oneOf, sometimes } from '../../choose.ts';
import { type OutlinedStep, type OutlinedTurn, outlineConversation } from '../../outline.ts';
import type { ReplyScript } from '../../provider-kit.ts';
import { cachePoint } from '../bedrock.ts';
import { writeReply } from './replies.ts';

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** With at most one cache point in it: tools and system text have one each, and there may be four. */
export function writeConversation(choose: Choose, open: boolean): BedrockMessage[] {
  const turns = outlineConversation(choose, open);
  const marked = choose(turns.length + 1);
  return turns.flatMap((turn, index) => writeTurn(turn, index, { choose, isMarked: index + 1 === marked }));
}

interface Writing {
  choose: Choose;
  isMarked: boolean;
}

function writeTurn(
  { user, steps, reasoning, answer }: OutlinedTurn,
  index: number,
  { choose, isMarked }: Writing,
): BedrockMessage[] {
  const marker = isMarked ? [cachePoint] : [];
  const markedStep = isMarked ? choose(steps.length + 1) : 0;
  return [
    { role: 'user', content: [...writeUser(user, `Notes ${index}`, choose), ...(markedStep === 0 ? marker : [])] },
    ...steps.flatMap((step, place): BedrockMessage[] => [
      {
        role: 'assistant',
        content: [...writeThoughts(step, choose), ...serverTools(step, choose), ...writeReply(withoutThoughts(step))],
      },
      { role: 'user', content: [...writeResults(step, choose), ...(markedStep === place + 1 ? marker : [])] },
    ]),
    ...(answer === undefined ? [] : [{ role: 'assistant', content: writeAnswer(answer, reasoning, choose) }]),
  ];
}

function writeUser(texts: readonly string[], name: string, choose: Choose): BedrockBlock[] {
  return [
    ...(sometimes(choose, 3) ? [{ image: { format: 'png', source: { bytes: png } }, host_note: 7 }] : []),
    ...(sometimes(choose, 4)
      ? [{ document: { format: 'pdf', name, source: { s3Location: { uri: 's3://bucket/notes.pdf' } } } }]
      : []),
    ...texts.map((text) => (sometimes(choose, 5) ? { guardContent: { text: { text } } } : { text })),
    ...(texts.length > 1 && sometimes(choose, 3) ? [{ $unknown: ['xUnheardOf', { deep: [1, 2, 3] }] }] : []),
    { text: 'Go.' },
  ];
}

function writeThoughts({ reasoning }: OutlinedStep, choose: Choose): BedrockBlock[] {
  const redacted = sometimes(choose, 6) ? [{ reasoningContent: { redactedContent: png } }] : [];
  return [...writeReply({ reasoning }), ...redacted];
}

function withoutThoughts({ text, calls }: OutlinedStep): ReplyScript {
  return { text, calls };
}

/** Code that the provider ran itself, with its output. */
function serverTools({ calls }: OutlinedStep, choose: Choose): BedrockBlock[] {
  if (!sometimes(choose, 5)) return [];
  const toolUseId = `tooluse_${calls[0]?.id}`;
  return [
    { toolUse: { toolUseId, name: 'nova_code_interpreter', input: { snippet: '1 + 1' }, type: 'server_tool_use' } },
    { toolResult: { toolUseId, type: 'nova_code_interpreter_result', status: 'success', content: [{ json: { stdOut: '2' } }] } },
  ];
}

function writeResults({ calls }: OutlinedStep, choose: Choose): BedrockBlock[] {
  const results = calls.map(({ id, result, isError }) => {
    const said = result || (isError ? 'It failed.' : '');
    const content = said === '' ? [] : [sometimes(choose, 3) ? { json: { said } } : { text: said }];
    return { toolResult: { toolUseId: id, content, ...(isError && { status: 'error' }) } };
  });
  return sometimes(choose, 4) ? [...results, { text: 'By the way: be quick.' }] : results;
}

function writeAnswer(answer: string, reasoning: string | undefined, choose: Choose): BedrockBlock[] {
  const cited = {
    citationsContent: { content: [{ text: answer }], citations: [{ title: 'Notes', location: { web: { url: 'u' } } }] },
  };
  return oneOf(choose, [writeReply({ text: answer, reasoning }), [...writeReply({ reasoning }), cited]]);
}

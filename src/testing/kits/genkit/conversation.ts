import type { GenkitMessage } from '../../../adapters/genkit.ts';
import { type Choose, sometimes } from '../../choose.ts';
import type { OutlinedCall, OutlinedStep, OutlinedTurn } from '../../outline.ts';
import { writeCall, writeReply } from './replies.ts';

export function writeTurn({ user, steps, reasoning, answer }: OutlinedTurn, choose: Choose): GenkitMessage[] {
  return [
    { role: 'user', content: writeUser(user, choose), ...(sometimes(choose, 5) && { metadata: { cache: { ttlSeconds: 60 } } }) },
    ...steps.flatMap((step) => writeStep(step, choose)),
    ...(answer === undefined ? [] : [{ role: 'model', content: writeAnswer(answer, reasoning, choose) }]),
  ];
}

function writeUser(texts: readonly string[], choose: Choose): object[] {
  return [
    ...(sometimes(choose, 3) ? [{ media: { url: 'data:image/png;base64,aGVsbG8=', contentType: 'image/png' } }] : []),
    ...(sometimes(choose, 5) ? [{ resource: { uri: 'notes://today' }, host_note: 7 }] : []),
    ...texts.map((text) => ({ text, ...(sometimes(choose, 3) && { metadata: { cache_control: { type: 'ephemeral' } } }) })),
    ...(sometimes(choose, 4) ? [{ text: '- [0]: A document.', metadata: { purpose: 'context' } }] : []),
  ];
}

/** Gemini makes calls without references, in parallel too. */
function writeStep(step: OutlinedStep, choose: Choose): GenkitMessage[] {
  const isReferenced = !sometimes(choose, 3);
  const signed = sometimes(choose, 4) ? { metadata: { thoughtSignature: 'b3BhcXVl' } } : {};
  const [first, ...others] = step.calls.map((call) => writeCall(call, isReferenced));
  return [
    {
      role: 'model',
      content: [...serverTools(choose), ...writeReply({ ...step, calls: [] }), { ...first, ...signed }, ...others],
      ...(sometimes(choose, 6) && { metadata: { generate: { output: { format: 'text' } } }, host_note: 7 }),
    },
    { role: 'tool', content: step.calls.map((call) => writeResponse(call, isReferenced, choose)) },
  ];
}

/** Code that the provider ran itself. */
function serverTools(choose: Choose): object[] {
  if (!sometimes(choose, 6)) return [];
  return [
    { custom: { executableCode: { language: 'PYTHON', code: 'print(1)' } } },
    { custom: { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } } },
  ];
}

function writeResponse({ id, name, result, isError }: OutlinedCall, isReferenced: boolean, choose: Choose): object {
  const output = isError ? { error: result } : sometimes(choose, 4) ? { text: result, lines: [1, null] } : result;
  const image = { media: { url: 'https://example.test/chart.png', contentType: 'image/png' } };
  return {
    toolResponse: { name, ...(isReferenced && { ref: id }), output, ...(sometimes(choose, 6) && { content: [image] }) },
  };
}

function writeAnswer(answer: string, reasoning: string | undefined, choose: Choose): object[] {
  return [
    ...(sometimes(choose, 5) ? [{ custom: { redactedThinking: 'b3BhcXVl' } }] : []),
    ...writeReply({ text: answer, reasoning }),
    ...(sometimes(choose, 4) ? [{ text: '', metadata: { thoughtSignature: 'c2lnbmVk' } }] : []),
  ];
}

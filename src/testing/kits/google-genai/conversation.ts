import type { GeminiContent, GeminiPart } from '../../../adapters/google-genai.ts';
import { type Choose, oneOf, sometimes } from '../../choose.ts';
import { type OutlinedCall, type OutlinedStep, type OutlinedTurn, outlineConversation } from '../../outline.ts';
import { writeReply } from './replies.ts';

/** See `ProviderKit.conversation`. Older models give no ids to their calls. */
export function writeConversation(choose: Choose, open: boolean): GeminiContent[] {
  const hasIds = choose(2) === 0;
  return outlineConversation(choose, open).flatMap((turn) => writeTurn(turn, hasIds, choose));
}

function writeTurn({ user, steps, reasoning, answer }: OutlinedTurn, hasIds: boolean, choose: Choose): GeminiContent[] {
  return [
    writeUser(user, choose),
    ...steps.flatMap((step) => writeStep(step, hasIds, choose)),
    ...(answer === undefined ? [] : [writeAnswer(answer, reasoning, choose)]),
  ];
}

/** A content without a role is the user's. */
function writeUser(texts: readonly string[], choose: Choose): GeminiContent {
  const parts: GeminiPart[] = texts.map((text) => ({ text }));
  if (sometimes(choose, 3)) parts.unshift(writeMedia(choose));
  if (sometimes(choose, 6)) parts.push({ text: 'See above.', partMetadata: { source: 'editor' } } as GeminiPart);
  return sometimes(choose, 8) ? { parts } : { role: 'user', parts, ...(sometimes(choose, 6) && { host_note: 7 }) };
}

function writeMedia(choose: Choose): GeminiPart {
  return oneOf<GeminiPart>(choose, [
    { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' }, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } } as GeminiPart,
    { inlineData: { mimeType: 'application/pdf', data: 'aGVsbG8=', displayName: 'notes.pdf' } },
    { fileData: { mimeType: 'video/mp4', fileUri: 'https://example.com/v' }, videoMetadata: { fps: 2 } } as GeminiPart,
  ]);
}

function writeStep(step: OutlinedStep, hasIds: boolean, choose: Choose): GeminiContent[] {
  const calls = step.calls.map((call) => (hasIds ? call : { ...call, id: '' }));
  const results = step.calls.map((call) => writeResult(call, hasIds, choose));
  // With ids the results may come in any order.
  const ordered = hasIds && sometimes(choose, 2) ? results.reverse() : results;
  return [
    { role: 'model', parts: [...writeServerWork(choose), ...writeReply({ ...step, calls })] },
    { role: sometimes(choose, 9) ? 'function' : 'user', parts: ordered },
  ];
}

function writeResult({ id, name, result, isError }: OutlinedCall, hasId: boolean, choose: Choose): GeminiPart {
  const response = isError
    ? { error: result }
    : oneOf<object>(choose, [{ output: result }, { result }, { content: [result], lines: result.length }]);
  const image = { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } };
  return {
    functionResponse: {
      ...(hasId && { id }),
      name,
      response,
      ...(sometimes(choose, 7) && { parts: [image], scheduling: 'SILENT' }),
    },
  };
}

/** What the provider ran itself. */
function writeServerWork(choose: Choose): GeminiPart[] {
  if (!sometimes(choose, 5)) return [];
  return oneOf<object[]>(choose, [
    [
      { executableCode: { id: 'code_1', language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { id: 'code_1', outcome: 'OUTCOME_OK', output: '1' } },
    ],
    [
      { toolCall: { id: 'search_1', toolType: 'GOOGLE_SEARCH_WEB', args: {} }, thoughtSignature: 'c2lnbmVk' },
      { toolResponse: { id: 'search_1', toolType: 'GOOGLE_SEARCH_WEB', response: {} } },
    ],
    [{ x_unheard_of: { payload: [1, 2] } }],
  ]) as GeminiPart[];
}

/** The last part of an answer may be signed: the text, or an empty one behind it. */
function writeAnswer(answer: string, reasoning: string | undefined, choose: Choose): GeminiContent {
  const parts = writeReply({ text: answer, reasoning });
  if (sometimes(choose, 2))
    parts.push({ text: oneOf(choose, ['', 'That is all.', ' \n'] as const), thoughtSignature: 'c2lnbmVk' });
  if (sometimes(choose, 8)) parts.push({ inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } });
  return { role: 'model', parts };
}

import type { AiSdkMessage } from '../../../adapters/ai-sdk.ts';
import { type Choose, oneOf, sometimes } from '../../choose.ts';
import type { OutlinedCall, OutlinedStep, OutlinedTurn } from '../../outline.ts';
import type { ScriptedCall } from '../../provider-kit.ts';
import { type Part, signature } from './replies.ts';

export const marker: object = { anthropic: { cacheControl: { type: 'ephemeral' } } };

export function writeTurn({ user, steps, reasoning, answer }: OutlinedTurn, choose: Choose): AiSdkMessage[] {
  return [
    { role: 'user', content: writeUser(user, choose), ...(sometimes(choose, 3) && { providerOptions: marker }) },
    ...steps.flatMap((step): AiSdkMessage[] => [
      { role: 'assistant', content: writeStep(step, choose) },
      { role: 'tool', content: step.calls.map((call) => writeResult(call, choose)) },
    ]),
    ...(answer === undefined ? [] : [{ role: 'assistant', content: writeStep({ reasoning, text: answer, calls: [] }, choose) }]),
  ];
}

function writeUser(texts: readonly string[], choose: Choose): Part[] {
  const files: readonly [Part, ...Part[]] = [
    { type: 'file', mediaType: 'image/png', data: new Uint8Array([137, 80, 78, 71]), providerOptions: marker },
    { type: 'file', mediaType: 'image/*', data: new URL('https://example.com/a.png'), host_note: 7 },
    { type: 'file', mediaType: 'application/pdf', data: 'aGVsbG8=', filename: 'notes.pdf' },
  ];
  return [...(sometimes(choose, 3) ? [oneOf(choose, files)] : []), ...texts.map((text) => ({ type: 'text', text }))];
}

function writeStep({ reasoning, text, calls }: OutlinedStep, choose: Choose): Part[] {
  const itemId = sometimes(choose, 3) ? { openai: { itemId: `msg_${calls[0]?.id}` } } : undefined;
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning, providerOptions: sealFor(choose) }]),
    ...(sometimes(choose, 5) ? writeSearch(`srv_${calls[0]?.id}`) : []),
    ...(text === undefined ? [] : [{ type: 'text', text, providerOptions: itemId }]),
    ...calls.map((call) => writeCall(call, choose)),
  ];
}

function sealFor(choose: Choose): object {
  return oneOf<object>(choose, [signature, { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'b3BhcXVl' } }]);
}

/** A search that the provider ran itself. */
function writeSearch(toolCallId: string): Part[] {
  const found = {
    type: 'web_search_result',
    url: 'https://example.com',
    title: 'Log',
    pageAge: null,
    encryptedContent: 'b3Bh',
  };
  return [
    { type: 'tool-call', toolCallId, toolName: 'web_search', input: { query: 'log' }, providerExecuted: true },
    { type: 'tool-result', toolCallId, toolName: 'web_search', output: { type: 'json', value: [found] } },
  ];
}

function writeCall({ id, name, input }: ScriptedCall, choose: Choose): Part {
  const signed = sometimes(choose, 4) && { providerOptions: { google: { thoughtSignature: 'c2lnbmVk' } } };
  return { type: 'tool-call', toolCallId: id, toolName: name, input, ...signed };
}

function writeResult({ id, name, result, isError }: OutlinedCall, choose: Choose): Part {
  return { type: 'tool-result', toolCallId: id, toolName: name, output: writeOutput(result, isError, choose) };
}

function writeOutput(result: string, isError: boolean, choose: Choose): object {
  if (isError) return { type: 'error-text', value: result || 'It failed.' };
  if (sometimes(choose, 9)) return { type: 'execution-denied' };
  const image = { type: 'image-data', data: 'aGVsbG8=', mediaType: 'image/png' };
  return oneOf<object>(choose, [
    { type: 'text', value: result },
    { type: 'json', value: { result } },
    { type: 'content', value: [...(result === '' ? [] : [{ type: 'text', text: result }]), image] },
  ]);
}

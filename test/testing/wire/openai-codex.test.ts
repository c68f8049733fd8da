import { describe, expect, it } from 'vitest';
import { validateOpenAiCodex } from '../../../src/testing/wire/openai-codex.ts';

const user = { type: 'message', role: 'user', content: 'Go.' };
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Fine.' }] };
const good = { model: 'gpt-5-codex', instructions: '', input: [user, thought, said, user], store: false, stream: true };

describe('validateOpenAiCodex', () => {
  it('finds nothing in a good body', () => {
    expect(validateOpenAiCodex(good)).toEqual([]);
  });

  it.each<[string, string, object]>([
    ['instructions-missing', 'instructions', { instructions: null }],
    ['stream', 'stream', { stream: false }],
    ['store', 'store', { store: undefined }],
    ['unsupported-parameter', 'max_output_tokens', { max_output_tokens: 500 }],
    ['unsupported-parameter', 'previous_response_id', { previous_response_id: 'resp_1' }],
    ['unsupported-parameter', 'conversation', { conversation: 'conv_1' }],
    ['system-item', 'input[0]', { input: [{ role: 'developer', content: 'Mind the time.' }, user] }],
    ['system-item', 'input[1]', { input: [user, { role: 'system', content: 'Mind the time.' }, user] }],
    ['item-reference', 'input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }, user] }],
    ['item-reference', 'input[0]', { input: [{ type: null, id: 'msg_1' }, user] }],
    ['reasoning-unsealed', 'input[1].encrypted_content', { input: [user, { ...thought, encrypted_content: null }, said, user] }],
  ])('%s at %s', (rule, path, change) => {
    expect(validateOpenAiCodex({ ...good, ...change })).toMatchObject([{ rule, path, message: expect.any(String) }]);
  });

  it('knows the rules of the Responses API, too', () => {
    expect(validateOpenAiCodex({ ...good, input: [] })).toMatchObject([{ rule: 'input-empty' }]);
    expect(validateOpenAiCodex('text')).toMatchObject([{ rule: 'body' }]);
    expect(validateOpenAiCodex({ ...good, input: 'Go.' })).toEqual([]);
  });
});

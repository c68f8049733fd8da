import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { isCompactionError } from '../../src/errors.ts';
import { type NativeOptions, nativeSummarizer } from '../../src/summarize/native.ts';
import { nativeTask } from '../support/native-task.ts';

const calls: string[] = [];
const openai = {
  compact: async () => {
    calls.push('openai');
    return { output: [{ type: 'compaction', encrypted_content: 'x' }] };
  },
};
const anthropic = {
  create: async () => {
    calls.push('anthropic');
    return { content: [{ type: 'compaction', content: 'All is done.' }], stop_reason: 'compaction' };
  },
};
const responses = { model: 'gpt-5', input: [{ type: 'message', role: 'user', content: 'Hello' }] };
const messages = { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };

function codeOf(error: unknown): string {
  return isCompactionError(error) ? error.code : String(error);
}

describe('nativeSummarizer', () => {
  it('V56: is chosen by the client that was given, not by the shape of the request', async () => {
    calls.length = 0;
    const onlyOpenai = nativeSummarizer({ openai });
    const onlyAnthropic = nativeSummarizer({ anthropic, anthropicInline: 'compact' });
    const failures = [
      onlyAnthropic(nativeTask(openaiResponses(), responses)),
      onlyAnthropic(nativeTask(openaiCodex(), responses)),
      onlyOpenai(nativeTask(anthropicMessages(), messages)),
      onlyOpenai(nativeTask(openaiChat(), { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] })),
    ].map((run) => run.then(JSON.stringify, (error: Error) => `${codeOf(error)}: ${error.message}`));
    expect(await Promise.all(failures)).toEqual(
      ['openai-responses', 'openai-codex', 'anthropic', 'openai-chat'].map(
        (name) => `invalid-options: Expected the client of a provider whose adapter is \`${name}\`, but there is none.`,
      ),
    );
    expect(calls).toEqual([]);
  });

  it('V56: serves each provider by its own client', async () => {
    calls.length = 0;
    const both = nativeSummarizer({ openai, anthropic });
    await both(nativeTask(openaiResponses(), responses));
    await both(nativeTask(openaiCodex(), responses));
    await both(nativeTask(anthropicMessages(), messages));
    expect(calls).toEqual(['openai', 'openai', 'anthropic']);
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'Expected `options` to be an object with `openai` or `anthropic`, got undefined.'],
    ['no client', {}, 'Expected `options` to be an object with `openai` or `anthropic`, got an object.'],
    [
      'no client of OpenAI',
      { openai: {} },
      'Expected `openai` to be a client of OpenAI, for instance `client.responses`, got an object.',
    ],
    [
      'a function',
      { openai: () => 0 },
      'Expected `openai` to be a client of OpenAI, for instance `client.responses`, got a function.',
    ],
    [
      'no client of Anthropic',
      { anthropic: openai },
      'Expected `anthropic` to be a client of Anthropic, for instance `client.beta.messages`, got an object.',
    ],
    [
      'another way',
      { anthropic, anthropicInline: 'yes' },
      'Expected `anthropicInline` to be one of compact, clear-and-compact, got "yes".',
    ],
    ['a misspelled option', { openAI: openai, openai }, 'Expected known options only, but there is no option `openAI`.'],
  ])('refuses %s as options', (_name, options, message) => {
    let thrown: unknown;
    try {
      nativeSummarizer(options as NativeOptions); // what JavaScript lets through
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'invalid-options', message });
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { afterAll, describe, expect, it } from 'vitest';
import { validateAnthropic } from '../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { requestTokens } from './support/request-tokens.ts';
import { anthropicRequest, anthropicSteps } from './support/transcripts/anthropic-steps.ts';
import { openaiRequest, openaiSteps } from './support/transcripts/openai-steps.ts';
import { noResult } from './support/transcripts/recorder.ts';
import type { Conversation } from './support/transcripts/recording.ts';
import { loadConversations } from './support/transcripts.ts';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Loads one small transcript, written here in the shape of a recording: a list is JSON Lines. */
function load(shape: string, transcript: object): Conversation {
  const folder = mkdtempSync(join(tmpdir(), 'transcripts-'));
  folders.push(folder);
  mkdirSync(join(folder, 'source'));
  const lines = Array.isArray(transcript) ? transcript : [transcript];
  writeFileSync(join(folder, 'source/one.json'), lines.map((line) => JSON.stringify(line)).join('\n'));
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify([{ source: 'source', file: 'source/one.json', shape }]));
  const [conversation] = loadConversations(folder);
  return conversation!;
}

describe('loading', () => {
  it('gives an empty list where the folder is missing', () => {
    expect(loadConversations(join(tmpdir(), 'no-such-folder'))).toEqual([]);
  });

  it('names the file and the source of a conversation', () => {
    const conversation = load('openai-chat-tau', { traj: [{ role: 'user', content: 'Hi' }] });
    expect(conversation).toMatchObject({ name: 'source/one.json', source: 'source', turns: [], rest: [[{ text: 'Hi' }]] });
  });

  it('refuses a shape that it does not know', () => {
    expect(() => load('unknown-shape', {})).toThrow('Shape unknown-shape of source/one.json, expected one of claude-code-jsonl');
  });

  it('refuses a result without a call', () => {
    const traj = [{ role: 'tool', tool_call_id: 'call_1', content: 'done' }];
    expect(() => load('openai-chat-tau', { traj })).toThrow('Result for call_1, expected an open call with this id');
  });
});

describe('Claude Code', () => {
  const assistant = (id: string, block: object, model = 'claude') => ({
    type: 'assistant',
    message: { id, model, content: [block] },
  });
  const user = (content: unknown) => ({ type: 'user', message: { content } });
  const conversation = load('claude-code-jsonl', [
    { type: 'progress' },
    user('Look at both files.'),
    assistant('m1', { type: 'text', text: '\n\n' }),
    assistant('m1', { type: 'thinking', thinking: 'Two reads.', signature: 'signed' }),
    assistant('m1', { type: 'tool_use', id: 't1', name: 'Read', input: { path: 'a' } }),
    user([{ type: 'tool_result', tool_use_id: 't1', content: 'A' }]),
    assistant('m1', { type: 'tool_use', id: 't2', name: 'Read', input: { path: 'b', lines: 3 } }),
    user([
      { type: 'text', text: 'Be quick.' },
      { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'B' }], is_error: true },
    ]),
    assistant('m2', { type: 'thinking', thinking: 'Hm.', signature: 'signed too' }),
    assistant('m3', { type: 'text', text: 'No response requested.' }, '<synthetic>'),
    user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }]),
    assistant('m4', { type: 'text', text: 'I see.' }),
    user('Thanks.'),
  ]);

  it('becomes requests of Anthropic with results first, thinking and images', () => {
    const { turns, rest, tools, thinking } = anthropicSteps(conversation);
    expect(turns).toHaveLength(2);
    expect(turns[0]?.messages).toEqual([{ role: 'user', content: 'Look at both files.' }]);
    expect(turns[0]?.reply.content).toMatchObject([
      { type: 'thinking', thinking: 'Two reads.', signature: 'signed' },
      { type: 'tool_use', id: 't1', input: { path: 'a' } },
      { type: 'tool_use', id: 't2', input: { path: 'b' } },
    ]);
    expect(turns[1]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'A' },
          { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'B' }], is_error: true },
          { type: 'text', text: 'Be quick.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        ],
      },
    ]);
    expect(turns[1]?.reply.content).toMatchObject([{ type: 'text', text: 'I see.' }]);
    expect(rest).toEqual([{ role: 'user', content: 'Thanks.' }]);
    expect(thinking).toEqual({ type: 'adaptive' });
    expect(tools).toMatchObject([
      {
        name: 'Read',
        input_schema: { properties: { path: { type: 'string' }, lines: { type: 'number' } }, additionalProperties: true },
      },
    ]);
  });

  it('becomes requests of OpenAI without thinking', () => {
    const { turns } = openaiSteps(conversation);
    expect(turns[0]?.reply).toMatchObject({ content: null, tool_calls: [{ id: 't1' }, { id: 't2' }] });
    expect(turns[1]?.messages).toEqual([
      { role: 'tool', tool_call_id: 't1', content: 'A' },
      { role: 'tool', tool_call_id: 't2', content: 'B' },
      { role: 'user', content: 'Be quick.' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] },
    ]);
  });
});

describe('OpenAI Chat', () => {
  const call = (id: string, name = 'look') => ({ id, type: 'function', function: { name, arguments: '{"at": 1}' } });

  it('keeps ids that repeat across replies, and makes them differ for Anthropic', () => {
    const conversation = load('openai-chat-tau', {
      traj: [
        { role: 'system', content: 'Rules' },
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: null, tool_calls: [call('call_1')] },
        { role: 'tool', tool_call_id: 'call_1', content: 'first' },
        { role: 'assistant', content: null, tool_calls: [call('call_1'), call('call_1')] },
        { role: 'tool', tool_call_id: 'call_1', content: 'second' },
        { role: 'user', content: '###STOP###' },
      ],
    });
    const openai = openaiSteps(conversation);
    expect(openai.turns[0]?.messages[0]).toEqual({ role: 'system', content: 'Rules' });
    expect(openai.turns[1]).toEqual({
      messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'first' }],
      reply: { role: 'assistant', content: null, refusal: null, tool_calls: [call('call_1'), call('call_1_2')] },
    });
    expect(openai.rest).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'second' },
      { role: 'tool', tool_call_id: 'call_1_2', content: noResult },
      { role: 'user', content: '###STOP###' },
    ]);
    const anthropic = anthropicSteps(conversation);
    expect(anthropic.system).toBe('Rules');
    expect(anthropic.turns[1]?.reply.content).toMatchObject([{ id: 'call_1_2' }, { id: 'call_1_3' }]);
  });

  it('leaves the last call open where nothing follows it', () => {
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: 'Submit', tool_calls: [call('call_1')] },
      { role: 'exit', content: 'Submitted' },
    ];
    const { turns, rest } = openaiSteps(load('openai-chat-miniswe', { messages }));
    expect(turns[0]?.reply).toMatchObject({ content: 'Submit', tool_calls: [{ id: 'call_1' }] });
    expect(rest).toEqual([]);
  });

  it('takes a protocol of plain text as it is, without tools', () => {
    const history = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: 'ls', action: 'ls' },
      { role: 'user', content: 'a.txt' },
      { role: 'assistant', content: 'submit' },
    ];
    const steps = openaiSteps(load('openai-chat-swe-traj', { history }));
    expect(steps.turns.map(({ messages }) => messages)).toEqual([[history[0]], [history[2]]]);
    expect(steps).not.toHaveProperty('tools');
  });
});

describe('other agents', () => {
  it('pi: cuts joined ids, drops unsigned thinking, closes a call that was cut off', () => {
    const message = (message: object) => ({ type: 'message', message });
    const toolCall = (id: string) => ({ type: 'toolCall', id, name: 'bash', arguments: { command: 'ls' } });
    const steps = anthropicSteps(
      load('pi-session-jsonl', [
        { type: 'session' },
        message({ role: 'user', content: [{ type: 'text', text: 'Go' }] }),
        message({
          role: 'assistant',
          api: 'openai-responses',
          content: [{ type: 'thinking', thinking: 'x', thinkingSignature: '{"encrypted":1}' }, toolCall('call_1|fc_1')],
        }),
        message({ role: 'toolResult', toolCallId: 'call_1|fc_1', content: [{ type: 'text', text: 'a' }], isError: false }),
        { type: 'compaction', summary: 'left out' },
        message({ role: 'assistant', api: 'openai-responses', stopReason: 'aborted', content: [toolCall('call_2|fc_2')] }),
        message({ role: 'bashExecution', command: 'pwd', output: '/' }),
        message({ role: 'assistant', api: 'anthropic-messages', content: [] }),
        message({ role: 'user', content: [{ type: 'text', text: 'Again' }] }),
        message({ role: 'assistant', api: 'anthropic-messages', content: [{ type: 'text', text: 'Yes' }] }),
      ]),
    );
    expect(steps.turns.map(({ reply }) => reply.content)).toMatchObject([
      [{ type: 'tool_use', id: 'call_1' }],
      [{ type: 'tool_use', id: 'call_2' }],
      [{ type: 'text', text: 'Yes' }],
    ]);
    expect(steps.turns[2]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_2', content: noResult, is_error: true },
          { type: 'text', text: 'Ran `pwd`\n```\n/\n```' },
          { type: 'text', text: 'Again' },
        ],
      },
    ]);
    expect(steps).not.toHaveProperty('thinking');
  });

  it('OpenCode: takes call and result from one part, and cleans ids for Anthropic', () => {
    const state = { status: 'completed', input: { command: 'ls' }, output: 'a' };
    const conversation = load('opencode-export-json', {
      messages: [
        { info: { role: 'user', id: 'm1' }, parts: [{ type: 'text', text: 'Go' }] },
        {
          info: { role: 'assistant', id: 'm2' },
          parts: [
            { type: 'tool', callID: 'functions.bash:0', tool: 'bash', state },
            { type: 'text', text: 'Listing' },
            { type: 'tool', callID: 'functions.bash:1', tool: 'bash', state: { status: 'error', input: {}, error: 'no' } },
          ],
        },
      ],
    });
    const openai = openaiSteps(conversation);
    expect(openai.turns[0]?.reply.tool_calls).toMatchObject([{ id: 'functions.bash:0' }, { id: 'functions.bash:1' }]);
    const anthropic = anthropicSteps(conversation);
    expect(anthropic.turns[0]?.reply.content).toMatchObject([
      { text: 'Listing' },
      { id: 'functions_bash_0' },
      { id: 'functions_bash_1' },
    ]);
    expect(anthropic.rest[0]?.content).toMatchObject([{ content: 'a' }, { content: 'no', is_error: true }]);
  });

  it('Gemini CLI: leaves notes out and puts the fragments of a reply together', () => {
    const result = [{ functionResponse: { response: { output: 'a' } } }];
    const toolCalls = [{ id: `${'x'.repeat(20)}-${'1'.repeat(30)}`, name: 'list', args: {}, status: 'success', result }];
    const { turns, rest } = openaiSteps(
      load('gemini-cli-json', {
        messages: [
          { type: 'user', content: 'Go' },
          { type: 'gemini', content: 'First' },
          { type: 'info', content: 'Update available' },
          { type: 'gemini', content: 'Then', toolCalls },
        ],
      }),
    );
    expect(turns).toHaveLength(1);
    expect(turns[0]?.reply.content).toBe('First\n\nThen');
    expect(rest).toEqual([{ role: 'tool', tool_call_id: `${'x'.repeat(9)}-${'1'.repeat(30)}`, content: 'a' }]);
  });

  it('OpenHands: reads the reply from the metadata, and an error without a call as input', () => {
    const tool_calls = [{ id: 't1', function: { name: 'run', arguments: '{}' } }];
    const tool_call_metadata = { tool_call_id: 't1', model_response: { choices: [{ message: { content: 'Run', tool_calls } }] } };
    const { turns, rest } = openaiSteps(
      load('openhands-events-json', {
        history: [
          { action: 'system', args: { content: 'Rules' } },
          { action: 'message', source: 'user', args: { content: 'Go' } },
          { action: 'recall' },
          { observation: 'recall', content: 'Added workspace context' },
          { action: 'run', tool_call_metadata },
          { observation: 'run', content: 'done', tool_call_metadata },
          { observation: 'error', content: 'Bad parameter' },
        ],
      }),
    );
    expect(turns[0]?.messages).toEqual([
      { role: 'system', content: 'Rules' },
      { role: 'user', content: 'Go' },
    ]);
    expect(turns[0]?.reply).toMatchObject({ content: 'Run', tool_calls: [{ id: 't1' }] });
    expect(rest).toEqual([
      { role: 'tool', tool_call_id: 't1', content: 'done' },
      { role: 'user', content: 'Bad parameter' },
    ]);
  });

  it('plugsuits: text before a call is the same reply', () => {
    const { turns } = openaiSteps(
      load('plugsuits-events-jsonl', [
        { type: 'user', content: 'Go' },
        { type: 'assistant', content: 'Reading' },
        { type: 'tool_call', tool_call_id: 'c1', tool_name: 'read', tool_input: { path: 'a' } },
        { type: 'tool_result', tool_call_id: 'c1', output: 'A' },
        { type: 'assistant', content: 'Done' },
      ]),
    );
    expect(turns.map(({ reply }) => reply)).toMatchObject([
      { content: 'Reading', tool_calls: [{ function: { name: 'read', arguments: '{"path":"a"}' } }] },
      { content: 'Done' },
    ]);
  });
});

const conversations = loadConversations();
console.log(`transcripts: ${conversations.length} conversations run`);

// The recordings are not part of the project: where they are absent there is nothing to run, and the count above says so.
describe.skipIf(conversations.length === 0)('every request of every recorded conversation', () => {
  it('is valid for OpenAI Chat', () => {
    for (const conversation of conversations) {
      const steps = openaiSteps(conversation);
      const history: ChatCompletionMessageParam[] = [];
      for (const { messages, reply } of steps.turns) {
        expect(messages, conversation.name).not.toEqual([]);
        history.push(...messages);
        expect(validateOpenAiChat(openaiRequest(steps, history)), conversation.name).toEqual([]);
        history.push(reply);
        for (const { id } of reply.tool_calls ?? []) expect(id.length, conversation.name).toBeLessThanOrEqual(40);
      }
      expect(steps.turns, conversation.name).not.toEqual([]);
    }
  });

  it('is valid for Anthropic, with user and assistant in turn and no id twice', () => {
    for (const conversation of conversations) {
      const steps = anthropicSteps(conversation);
      const history: MessageParam[] = [];
      const ids: string[] = [];
      for (const { messages, reply } of steps.turns) {
        expect(messages, conversation.name).toMatchObject([{ role: 'user' }]);
        history.push(...messages);
        expect(validateAnthropic(anthropicRequest(steps, history)), conversation.name).toEqual([]);
        history.push(reply);
        for (const block of reply.content) if (block.type === 'tool_use') ids.push(block.id);
        expect(reply.content.at(-1)?.type, conversation.name).not.toBe('thinking');
      }
      expect(new Set(ids).size, conversation.name).toBe(ids.length);
    }
  });
});

describe('requestTokens', () => {
  it('counts text, calls, results and tools, and four for each message', () => {
    const user = { role: 'user', content: 'Hello' };
    const openaiCall = { role: 'assistant', content: null, tool_calls: [{ function: { name: 'Hello', arguments: 'Hello' } }] };
    const anthropicCall = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Hello', input: 'Hello' }] };
    const result = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'Hello' }] }],
    };
    expect(requestTokens({ messages: [user] })).toBe(5);
    expect(requestTokens({ messages: [user, user, openaiCall] })).toBe(16);
    expect(requestTokens({ system: 'Hello', messages: [result] })).toBe(6);
    expect(requestTokens({ messages: [anthropicCall] })).toBeGreaterThan(5);
    expect(requestTokens({ tools: [{ name: 'Hello' }], messages: [] })).toBeGreaterThan(3);
    expect(requestTokens(undefined)).toBe(0);
  });

  it('counts an image the same whatever its data', () => {
    const data = 'A'.repeat(100_000);
    const openai = { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] };
    const anthropic = { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] };
    expect(requestTokens({ messages: [openai] })).toBe(1504);
    expect(requestTokens({ messages: [anthropic] })).toBe(1504);
  });

  it('takes special tokens and endless runs as text', () => {
    expect(requestTokens({ messages: [{ role: 'user', content: '<|endoftext|>' }] })).toBeGreaterThan(5);
    expect(requestTokens({ messages: [{ role: 'user', content: '😀'.repeat(50_000) }] })).toBeGreaterThan(50_000 / 4);
  });
});

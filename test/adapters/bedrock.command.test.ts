import {
  ConverseCommand,
  type ConverseCommandInput,
  type ConverseCommandOutput,
  ConverseStreamCommand,
  type ConverseStreamCommandOutput,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { bedrockConverse } from '../../src/adapters/bedrock.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { type BedrockServer, startBedrockServer } from '../support/bedrock-server.ts';
import { lifecycleOf } from '../support/harness.ts';
import { goodSummary } from '../support/scripted-model.ts';

const adapter = bedrockConverse();
const user = (text: string): Message => ({ role: 'user', content: [{ text }] });
const input: ConverseCommandInput = { modelId: 'anthropic.claude', messages: [user('Hello.')] };

/** A finished tool turn, long enough for a summary to be worth it. */
const image = { image: { format: 'png' as const, source: { bytes: Uint8Array.from([1, 2, 3]) } } };
const conversation: Message[] = [
  { role: 'user', content: [{ text: 'Read a.ts.' }, image] },
  { role: 'assistant', content: [{ toolUse: { toolUseId: 't1', name: 'read', input: { path: 'a.ts' } } }] },
  { role: 'user', content: [{ toolResult: { toolUseId: 't1', content: [{ text: 'x'.repeat(6000) }] } }] },
];
const toolConfig = { tools: [{ toolSpec: { name: 'read', inputSchema: { json: { type: 'object' } } } }] };

let server: BedrockServer;

beforeAll(async () => {
  server = await startBedrockServer();
  server.answer = (_body, streamed) =>
    streamed
      ? {
          frames: [
            ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: goodSummary } }],
            ['contentBlockStop', { contentBlockIndex: 0 }],
            ['messageStop', { stopReason: 'end_turn' }],
            ['metadata', { usage: { inputTokens: 2000, outputTokens: 9, totalTokens: 2009 } }],
          ],
          ending: 'end',
        }
      : {
          output: {
            output: { message: { role: 'assistant', content: [{ text: goodSummary }] } },
            stopReason: 'end_turn',
            usage: { inputTokens: 2000, outputTokens: 9, totalTokens: 2009 },
            metrics: { latencyMs: 1 },
          },
        };
});

beforeEach(() => {
  server.bodies.length = 0;
  server.headers.length = 0;
});

afterAll(() => server.close());

it('reads a command as its input', () => {
  const command = new ConverseCommand({ ...input, inferenceConfig: { maxTokens: 7 }, system: [{ text: 'Be exact.' }] });
  expect(adapter.items(command)).toBe(command.input.messages);
  expect(adapter.context(command)).toMatchObject({
    model: 'anthropic.claude',
    outputCap: 7,
    system: [{ text: 'Be exact.' }],
  });
});

it('gives back a command of the same class, and leaves the one that came in as it was', async () => {
  class OwnCommand extends ConverseCommand {
    readonly note = 'mine';
  }
  for (const command of [new ConverseCommand(input), new ConverseStreamCommand(input), new OwnCommand(input)]) {
    const { request: fork } = adapter.forkForSummary(command, 'Summarize.', { maxTokens: 100 });
    const changed = adapter.withSystem(adapter.withItems(command, [...conversation]), 'Be quick.');
    for (const copy of [fork, changed]) {
      expect(copy.constructor).toBe(command.constructor);
      expect(copy).not.toBe(command);
      expect(Object.keys(copy)).toEqual(Object.keys(command));
    }
    expect(command.input).toEqual(input);
    expect(changed.input).toMatchObject({ messages: conversation, system: [{ text: 'Be quick.' }] });
    await server.client.send(fork as ConverseCommand); // the loop forgets which class it is
  }
  expect(server.bodies.map(({ messages }) => messages)).toEqual(
    Array.from({ length: 3 }, () => [{ role: 'user', content: [{ text: 'Hello.' }, { text: 'Summarize.' }] }]),
  );
});

it('keeps the middleware of a command, once for each time it is sent', async () => {
  const command = new ConverseCommand(input);
  let calls = 0;
  command.middlewareStack.add(
    (next) => async (args) => {
      calls++;
      Object.assign((args.request as { headers: object }).headers, { 'x-mine': 'yes' }); // the request of the build step
      return next(args);
    },
    { step: 'build' },
  );
  await server.client.send(command);
  const copy = adapter.withItems(command, [user('Other.')]);
  await server.client.send(copy);
  await server.client.send(copy);
  await server.client.send(command);
  expect(calls).toBe(4);
  expect(server.headers.map((headers) => headers['x-mine'])).toEqual(['yes', 'yes', 'yes', 'yes']);
  expect(server.bodies.map(({ messages }) => messages)).toEqual(
    ['Hello.', 'Other.', 'Other.', 'Hello.'].map((said) => [user(said)]),
  );
});

it('compacts commands of either kind, and what comes back is sent', async () => {
  const events: CompactionEvent[] = [];
  const options = {
    adapter,
    contextWindow: 20_000,
    budget: { threshold: 1000 },
    onEvent: (event: CompactionEvent) => void events.push(event),
  };
  const converse = withAutoCompaction(
    (command: ConverseCommand, { signal }): Promise<ConverseCommandOutput> =>
      server.client.send(command, { abortSignal: signal }),
    options,
  );
  const stream = withAutoCompaction(
    (command: ConverseStreamCommand, { signal }): Promise<ConverseStreamCommandOutput> =>
      server.client.send(command, { abortSignal: signal }),
    options,
  );
  const whole = { ...input, messages: conversation, toolConfig };
  const reply = await converse(new ConverseCommand(whole));
  expect(reply.output?.message?.content).toEqual([{ text: goodSummary }]);
  const streamed = await stream(new ConverseStreamCommand(whole));
  expect(await adapter.readReply(streamed)).toMatchObject({ text: goodSummary, usage: { inputTokens: 2000 } });
  expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
  const [summary, turn] = server.bodies;
  expect(server.bodies).toEqual([summary, turn, summary, turn]);
  // Bytes go over the wire as base64: of an image that went through JSON nothing would be left.
  const sent = { image: { format: 'png', source: { bytes: 'AQID' } } };
  expect(summary?.messages).toMatchObject([{ content: [{ text: 'Read a.ts.' }, sent] }, {}, {}]);
  expect(turn?.messages).toMatchObject([{ role: 'user', content: [{}, { text: 'Read a.ts.' }, sent, {}] }]);
});

it('sends a command that needs no compaction as the very same object', async () => {
  const command = new ConverseCommand(input);
  const compactor = createCompactor({ adapter, send: (other: ConverseCommand) => server.client.send(other) });
  expect(await compactor.prepare(command)).toBe(command);
});

// Compiled, never run: the SDK's own types fit the adapter's bounds without a cast.
import {
  type BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  type ConverseCommandOutput,
  ConverseStreamCommand,
  type ConverseStreamCommandInput,
  type ConverseStreamCommandOutput,
  type ConverseStreamOutput,
  type Message,
  type SystemContentBlock,
} from '@aws-sdk/client-bedrock-runtime';
import { expectTypeOf } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { type BedrockMessage, type BedrockReply, type BedrockRequest, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { createCompactor } from '../../src/compactor.ts';
import { withAutoCompaction } from '../../src/wrap.ts';

expectTypeOf(bedrockConverse).returns.toEqualTypeOf<ProviderAdapter<BedrockRequest, BedrockMessage, BedrockReply>>();

expectTypeOf<ConverseCommandInput>().toExtend<BedrockRequest>();
expectTypeOf<ConverseStreamCommandInput>().toExtend<BedrockRequest>();
expectTypeOf<ConverseCommand>().toExtend<BedrockRequest>();
expectTypeOf<ConverseStreamCommand>().toExtend<BedrockRequest>();
expectTypeOf<Message>().toExtend<BedrockMessage>();
expectTypeOf<ConverseCommandOutput>().toExtend<BedrockReply>();
expectTypeOf<ConverseStreamCommandOutput>().toExtend<BedrockReply>();
expectTypeOf<AsyncIterable<ConverseStreamOutput>>().toExtend<BedrockReply>();

/** Requests keep their own type on the way through the adapter. */
export async function sendThrough(client: BedrockRuntimeClient, input: ConverseCommandInput): Promise<void> {
  const adapter = bedrockConverse();
  const rebuilt = adapter.withItems(input, adapter.items(input));
  const { request: fork } = adapter.forkForSummary(adapter.withSystem(rebuilt, 'Be brief.'), 'Summarize.', { maxTokens: 1000 });
  expectTypeOf(fork).toEqualTypeOf<ConverseCommandInput>();
  const reply = await client.send(new ConverseCommand(fork));
  await adapter.readReply(reply);
  adapter.usage(reply);
  const command = adapter.withItems(new ConverseStreamCommand(input), adapter.items(input));
  expectTypeOf(command).toEqualTypeOf<ConverseStreamCommand>();
  await adapter.readReply(await client.send(command));
}

/** The types of the SDK are inferred from what is sent. */
export async function wrapCalls(client: BedrockRuntimeClient, messages: Message[], system: SystemContentBlock[]): Promise<void> {
  const options = { adapter: bedrockConverse(), contextWindow: 200_000 };
  const converse = withAutoCompaction(
    (input: ConverseCommandInput, { signal }) => client.send(new ConverseCommand(input), { abortSignal: signal }),
    options,
  );
  expectTypeOf(await converse({ modelId: 'anthropic.claude', messages, system })).toEqualTypeOf<ConverseCommandOutput>();

  const stream = withAutoCompaction(
    (input: ConverseStreamCommandInput, { signal }) => client.send(new ConverseStreamCommand(input), { abortSignal: signal }),
    options,
  );
  for await (const event of (await stream({ modelId: 'anthropic.claude', messages })).stream ?? [])
    expectTypeOf(event).toEqualTypeOf<ConverseStreamOutput>();

  const send = withAutoCompaction(
    (command: ConverseCommand, { signal }) => client.send(command, { abortSignal: signal }),
    options,
  );
  expectTypeOf(await send(new ConverseCommand({ modelId: 'anthropic.claude', messages }))).toEqualTypeOf<ConverseCommandOutput>();
  const sendStream = withAutoCompaction(
    (command: ConverseStreamCommand, { signal }) => client.send(command, { abortSignal: signal }),
    options,
  );
  expectTypeOf(
    await sendStream(new ConverseStreamCommand({ modelId: 'anthropic.claude', messages })),
  ).toEqualTypeOf<ConverseStreamCommandOutput>();

  const compactor = createCompactor({
    ...options,
    send: (input: ConverseCommandInput, { signal }) => client.send(new ConverseCommand(input), { abortSignal: signal }),
  });
  expectTypeOf(await compactor.prepare({ modelId: 'anthropic.claude', messages })).toExtend<ConverseCommandInput>();
  const loop = compactor.loop({ modelId: 'anthropic.claude', messages });
  loop.append([{ role: 'user', content: [{ text: 'Go on.' }] }]);
  expectTypeOf(await loop.send()).toEqualTypeOf<ConverseCommandOutput>();
}

import type { FinishReason } from '../../adapters/adapter.ts';
import { type Choose, oneOf, sometimes } from '../choose.ts';
import { waitingConversation } from '../conversation.ts';
import type { Ending, ReplyScript } from '../provider-kit.ts';
import { type Check, expectThat, expectValid, freeze, isSame, preview } from './check.ts';

const usage = { inputTokens: 1000, outputTokens: 50, cachedInputTokens: 400, cacheWriteTokens: 100 };

const everyEnding: readonly Ending[] = ['stop', 'length', 'tool-calls', 'refusal', 'content-filter', 'cut'];

/** What an ending may be read as. Only a natural end is `stop`. */
const readings: Record<Ending, readonly FinishReason[]> = {
  stop: ['stop'],
  length: ['length'],
  'tool-calls': ['tool-calls'],
  refusal: ['refusal', 'content-filter'],
  'content-filter': ['content-filter', 'refusal'],
  cut: ['incomplete', 'other'],
};

export const replyChecks: readonly Check[] = [
  {
    name: 'a reply is read whole: text, calls, ending and usage, from an object and from a stream alike',
    random: true,
    async holds(kit, choose) {
      const script = scriptReply(choose, kit.endings);
      const { text = '', calls = [], ending = calls.length > 0 ? 'tool-calls' : 'stop' } = script;
      const heard: string[] = [];
      const whole = await kit.adapter.readReply(freeze(kit.reply(script)), { onText: (piece) => heard.push(piece) });
      const read = [whole];
      const pieces: string[] = [];
      if (kit.stream) read.push(await kit.adapter.readReply(kit.stream(script), { onText: (piece) => pieces.push(piece) }));
      for (const reply of read) {
        expectThat(readings[ending].includes(reply.finish), () => `Expected ${ending} to be read, got ${reply.finish}.`);
        expectThat(
          ending === 'refusal' || calls.length > 0 || reply.text === text,
          () => `Expected the text ${preview(text)}, got ${preview(reply.text)}.`,
        );
        expectThat(
          isSame(
            reply.calls.map(({ name, input }) => ({ name, input })),
            calls.map(({ name, input }) => ({ name, input })),
          ),
          () => `Expected the calls ${preview(calls)}, got ${preview(reply.calls)}.`,
        );
        if (ending !== 'cut')
          expectThat(
            reply.usage?.inputTokens === script.usage?.inputTokens && reply.usage?.outputTokens === script.usage?.outputTokens,
            () => `Expected the usage ${preview(script.usage)}, got ${preview(reply.usage)}.`,
          );
      }
      if (kit.stream && ending !== 'refusal') expectThat(pieces.join('') === text, 'Expected each piece of text once, in order.');
      if (calls.length === 0)
        expectThat(heard.join('') === whole.text, 'Expected `onText` to be told the text of an object, too.');
    },
  },
  {
    name: 'what a reply adds to the conversation can be sent back, with its results',
    random: true,
    async holds(kit, choose) {
      const { adapter } = kit;
      const script: ReplyScript = { ...scriptReply(choose, kit.endings), ending: undefined };
      const conversation = waitingConversation(kit, choose);
      const goOn = adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: 'Go on.' }] });
      for (const reply of [kit.reply(script), ...(kit.stream ? [kit.stream(script)] : [])]) {
        const { items, calls } = await adapter.readReply(reply);
        const results = calls.flatMap(({ id, name }) =>
          adapter.writeMessage({
            role: 'tool',
            parts: [{ type: 'toolResult', callId: id, name, content: [{ type: 'text', text: 'Done.' }] }],
          }),
        );
        const request = kit.request(conversation);
        const grown = [...adapter.items(request), ...items, ...(calls.length > 0 ? results : goOn)];
        expectValid(kit, 'The conversation with the reply', adapter.withItems(request, grown));
      }
    },
  },
  {
    name: 'the usage of a reply counts each token of the input once; that of a stream is not read',
    random: false,
    async holds(kit) {
      expectThat(
        isSame(kit.adapter.usage(kit.reply({ text: 'Hello.', usage }))?.inputTokens, usage.inputTokens),
        () => `Expected ${usage.inputTokens} tokens, cached ones among them.`,
      );
      expectThat(kit.adapter.usage(kit.reply({ text: 'Hello.' })) === undefined, 'Expected no usage where none is reported.');
      if (!kit.stream) return;
      const stream = kit.stream({ text: 'Hello.', usage });
      expectThat(kit.adapter.usage(stream) === undefined, 'Expected the usage of a stream to be left alone.');
      const { text } = await kit.adapter.readReply(stream);
      expectThat(text === 'Hello.', () => `Expected the stream to be there to be read, got ${preview(text)}.`);
    },
  },
  {
    name: 'a reply is not read on after an abort, and the reason comes back',
    random: false,
    async holds(kit) {
      if (!kit.stream) return;
      const controller = new AbortController();
      const reason = new Error('enough');
      const outcome = await kit.adapter
        .readReply(kit.stream({ text: 'Hello, world.' }), { signal: controller.signal, onText: () => controller.abort(reason) })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      expectThat(outcome === reason, () => `Expected the reason of the abort, got ${String(outcome)}.`);
    },
  },
];

function scriptReply(choose: Choose, endings: readonly Ending[] = everyEnding): ReplyScript {
  const calls = Array.from({ length: choose(3) }, (_, index) => ({
    id: `call_reply_${index}`,
    name: 'read',
    input: { path: `${index}.ts` },
  }));
  const plain = endings.filter((ending) => ending !== 'tool-calls' && ending !== 'stop');
  const ending = calls.length > 0 ? undefined : oneOf<Ending>(choose, ['stop', ...plain]);
  return {
    text: calls.length > 0 && sometimes(choose, 2) ? undefined : oneOf(choose, ['Half of it is done.', '📦 你好', 'a'] as const),
    reasoning: sometimes(choose, 3) ? 'Let me think.' : undefined,
    calls,
    ending,
    usage: sometimes(choose, 2) ? usage : undefined,
  };
}

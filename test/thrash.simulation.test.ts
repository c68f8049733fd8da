import { describe, expect, it } from 'vitest';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../src/adapters/openai-chat.ts';
import { contextBudget } from '../src/budget/context-budget.ts';
import type { CompactionEvent } from '../src/events.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import { lifecycleOf, noticesOf } from './support/harness.ts';
import { countTokens, says } from './support/scripted-model.ts';
import { loadConversations } from './support/transcripts.ts';

const turnsEach = 500;
const windows = [16_000, 64_000];
/** Here the instructions leave a fiftieth of the budget beside a short input and the cap of a summary. */
const crampedWindow = 24_000;
/** The provider's tokens for each that is counted here. */
const providerRatio = 1.1;

/** How large the parts of a recorded conversation are, in characters. */
interface SessionShape {
  system: number;
  turns: { input: number; text: number; calls: { input: number; result: number }[] }[];
}

const conversations = loadConversations();

function shapeOf({ system = '', turns }: (typeof conversations)[number]): SessionShape {
  const sizeOf = (parts: unknown): number => (typeof parts === 'string' ? parts.length : JSON.stringify(parts).length);
  const sizes = turns.map(({ input, reply, results }) => ({
    input: input.flat().reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0),
    text: reply.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0),
    calls: results.map(({ call, content }) => ({ input: call.json.length, result: sizeOf(content) })),
  }));
  // A session begins with something the user said.
  return {
    system: system.length,
    turns: sizes.map((turn, index) => (index === 0 ? { ...turn, input: turn.input || 100 } : turn)),
  };
}

/** Where no recording is there: each input is followed by a long run of tool turns, with a large result among them. */
const madeUp: SessionShape = {
  system: 6000,
  turns: Array.from({ length: 12 }, (_, index) => ({
    input: index === 0 ? 400 : 0,
    text: 300,
    calls: index === 11 ? [] : [{ input: 120, result: index === 5 ? 20_000 : 2500 }],
  })),
};
const sessions = [
  { name: 'a made-up session', shape: madeUp },
  ...conversations.map((conversation) => ({ name: conversation.name, shape: shapeOf(conversation) })),
];

const words = 'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor '.repeat(20_000);
let texts = 0;
/** A text of this size that no other text is like. */
const write = (size: number): string => `${texts++} ${words.slice(0, Math.max(0, size - 6))}`;

const sizes = new WeakMap<ChatMessage, number>();

/** The provider's tokens of a message, which is counted once. */
function sizeOf(message: ChatMessage): number {
  const known = sizes.get(message) ?? countTokens(JSON.stringify([message.content, message.tool_calls])) * providerRatio;
  sizes.set(message, known);
  return known;
}

/** What happened while one input of the user was the newest. */
interface Stretch {
  /** What a compaction leaves of the threshold, in the provider's tokens. */
  room: number;
  grown: number;
  calls: number;
}

interface Session {
  stretches: Stretch[];
  inputBudget: number;
  events: CompactionEvent[];
}

async function simulate(shape: SessionShape, contextWindow: number, summarySize: number): Promise<Session> {
  const { inputBudget, threshold } = contextBudget({ contextWindow });
  const cap = Math.min(8192, Math.floor(inputBudget / 5));
  const stretches: Stretch[] = [];
  const events: CompactionEvent[] = [];
  const adapter = openaiChat();
  const system: ChatMessage = { role: 'system', content: write(shape.system) };
  const tokensOf = (content: string): number => countTokens(content) * providerRatio;
  let reply: ChatReply = says('Done.');
  const loop = new AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>(
    { model: 'gpt-5', messages: [system] },
    {
      adapter,
      contextWindow,
      budget: { countTokens },
      onEvent: (event) => void events.push(event),
      async send(request, { purpose }) {
        if (purpose === 'summary') {
          stretches.at(-1)!.calls++;
          return says(`## Goal\n${write((cap * summarySize * 4) / providerRatio - 8)}`);
        }
        const tokens = Math.ceil(request.messages.reduce((sum, message) => sum + sizeOf(message), 0));
        return { ...reply, usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 } };
      },
    },
  );
  const grow = (content: string): string => {
    stretches.at(-1)!.grown += tokensOf(content);
    return content;
  };

  for (let index = 0; index < turnsEach; index++) {
    const { input, text, calls } = shape.turns[index % shape.turns.length]!;
    if (input > 0) {
      const content = write(input);
      const room = threshold - tokensOf(String(system.content)) - tokensOf(content) - cap;
      stretches.push({ room, grown: tokensOf(content), calls: 0 });
      loop.append([{ role: 'user', content }]);
    }
    const tool_calls = calls.map((call, position) => ({
      id: `call_${index}_${position}`,
      type: 'function',
      function: { name: 'run', arguments: JSON.stringify({ input: grow(write(call.input)) }) },
    }));
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    reply = says(grow(write(text)), finish, calls.length > 0 ? { tool_calls } : {});
    await loop.appendReply(await loop.send());
    loop.append(
      calls.map(({ result }, position) => ({
        role: 'tool',
        tool_call_id: `call_${index}_${position}`,
        content: grow(write(result)),
      })),
    );
  }
  return { stretches, inputBudget, events };
}

/** Characters of a system text that leaves hardly any room. */
function crampedSystem(): number {
  const { inputBudget, threshold } = contextBudget({ contextWindow: crampedWindow });
  const tokens = threshold - Math.floor(inputBudget / 5) - inputBudget / 50;
  return Math.floor((tokens * 4) / providerRatio);
}

/** Calls that the growth of a session is worth, and calls for inputs that leave hardly any room. */
function judge({ stretches, inputBudget }: Session): { calls: number; most: number; cramped: number; mostForOne: number } {
  const isCramped = ({ room }: Stretch): boolean => room < inputBudget * 0.05;
  const roomy = stretches.filter((stretch) => !isCramped(stretch));
  const cramped = stretches.filter(isCramped);
  return {
    calls: roomy.reduce((sum, { calls }) => sum + calls, 0),
    most: 1 + 1.2 * roomy.reduce((sum, { grown, room }) => sum + grown / room, 0),
    cramped: cramped.length,
    mostForOne: Math.max(0, ...cramped.map(({ calls }) => calls)),
  };
}

describe('500 turns of the shape of a session', () => {
  it('are run for each recording', () => {
    console.log(
      `thrash simulation: ${conversations.length} recordings, ${turnsEach} turns each, windows ${[...windows, crampedWindow].join(', ')}`,
    );
  });

  it.each(sessions.map((session, index) => ({ ...session, index })))(
    '$name',
    async ({ name, shape, index }) => {
      const figures = [];
      for (const window of [...windows, crampedWindow]) {
        const sized = window === crampedWindow ? { ...shape, system: crampedSystem() } : shape;
        const session = await simulate(sized, window, index % 2 === 0 ? 1 : 0.1); // summaries as long as they may be, or short
        const { calls, most, cramped, mostForOne } = judge(session);
        figures.push(
          `${window / 1000}k: ${calls} of ${most.toFixed(1)} calls${cramped > 0 ? `, cramped ${cramped} inputs, ${mostForOne} of 3 calls for one` : ''}`,
        );
        expect(calls).toBeLessThanOrEqual(most);
        expect(mostForOne).toBeLessThanOrEqual(3);
        // Each summary was asked for once, and what cannot be reduced is told once for an input.
        expect(session.stretches.reduce((sum, stretch) => sum + stretch.calls, 0)).toBe(
          lifecycleOf(session.events).filter((type) => type === 'started').length,
        );
        const told = noticesOf(session.events).filter((code) => code === 'irreducible').length;
        expect(told).toBeLessThanOrEqual(cramped);
      }
      console.log(`${name}: ${figures.join('; ')}`);
    },
    60_000,
  );
});

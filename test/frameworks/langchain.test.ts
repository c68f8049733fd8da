import { MemorySaver } from '@langchain/langgraph';
import {
  AIMessage,
  createAgent,
  createMiddleware,
  FakeToolCallingModel,
  fakeModel,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  tool,
} from 'langchain';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { CompactionEvent } from '../../src/events.ts';
import { type LangchainMiddlewareOptions, langchainMiddleware } from '../../src/frameworks/langchain.ts';
import type { CompactionCommit } from '../../src/options.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

const messageClasses = { HumanMessage, AIMessage, ToolMessage, SystemMessage };
const page = `a page: ${'nothing happened. '.repeat(700)}`;
const read = tool(async () => page, { name: 'read', description: 'Reads a page.', schema: z.object({ page: z.number() }) });
const start = { messages: [new HumanMessage('Read the log.')] };

let events: CompactionEvent[];
beforeEach(() => {
  events = [];
});

function compacting(options: Partial<LangchainMiddlewareOptions> = {}) {
  return langchainMiddleware({
    messageClasses,
    contextWindow: 20_000,
    budget: { threshold: 6000, countTokens },
    onEvent: (event) => void events.push(event),
    ...options,
  });
}

/** Reads so many pages, answers, and writes a summary whenever it is asked for one. */
function reader(steps: number) {
  const model = fakeModel();
  let step = 0;
  for (let turn = 0; turn < 40; turn++)
    model.respond((messages) => {
      const response_metadata = { finish_reason: 'stop' };
      if (String(messages.at(-1)?.content).startsWith('This is a context compaction request.'))
        return new AIMessage({ content: goodSummary, response_metadata });
      const tool_calls = [{ id: `call_${step}`, name: 'read', args: { page: step } }];
      return step++ < steps ? new AIMessage({ content: '', tool_calls }) : new AIMessage({ content: 'Done.', response_metadata });
    });
  return model;
}

describe('the middleware', () => {
  it('compacts the calls of an agent with any model, and leaves its state whole', async () => {
    const model = reader(7);
    const { messages } = await createAgent({ model, tools: [read], middleware: [compacting()] }).invoke(start);
    expect(messages).toHaveLength(16);
    expect(messages.at(-1)?.text).toBe('Done.');
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied', 'started', 'applied']);
    expect(noticesOf(events)).toEqual([]);
    expect(model.callCount).toBe(8 + 3);
    const summaries = model.calls.filter(({ messages: sent }) =>
      String(sent.at(-1)?.content).includes('context compaction request'),
    );
    expect(summaries).toHaveLength(3);
    const rebuilt = model.calls.filter(({ messages: sent }) => String(JSON.stringify(sent[0])).includes('<compacted_context>'));
    expect(rebuilt.length).toBeGreaterThan(3);
  });

  it('works beside others, whatever their place', async () => {
    const seen: number[] = [];
    const looking = createMiddleware({
      name: 'Looking',
      wrapModelCall: async (request, handler) => {
        seen.push(request.messages.length);
        return handler(request);
      },
    });
    for (const middleware of [
      [looking, compacting()],
      [compacting(), looking],
    ]) {
      seen.length = 0;
      const { messages } = await createAgent({ model: reader(5), tools: [read], middleware }).invoke(start);
      expect(messages).toHaveLength(12);
      // The summary goes past every other middleware.
      expect(seen).toHaveLength(6);
    }
    expect(lifecycleOf(events).filter((type) => type === 'applied')).toHaveLength(4);
  });

  it('takes a model that makes calls up', async () => {
    const model = new FakeToolCallingModel({ toolCalls: [[{ id: 'call_1', name: 'read', args: { page: 1 } }], []] });
    const { messages } = await createAgent({ model, tools: [read], middleware: [compacting()] }).invoke(start);
    expect(messages).toHaveLength(4);
    expect(events).toEqual([]);
  });

  it('asks a model for the summary with the options that are bound to it', async () => {
    const bound: unknown[] = [];
    const model = reader(3);
    const bindTools = model.bindTools.bind(model);
    model.bindTools = (given, ...options: unknown[]) => {
      bound.push(options[0]);
      return bindTools(given);
    };
    const settings = { metadata: { mine: true }, stop: ['Goal'] };
    await createAgent({ model: model.withConfig(settings), tools: [read], middleware: [compacting()] }).invoke(start);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(bound).toContainEqual({
      metadata: { mine: true },
      maxTokens: expect.any(Number),
      stop: undefined,
      tool_choice: undefined,
    });
  });

  it('hands the very same request and reply on where nothing is due', async () => {
    const reply = new AIMessage('Hi.');
    const request = { model: fakeModel(), messages: [new HumanMessage('Hello')], tools: [] };
    let handed: unknown;
    const given = await compacting().wrapModelCall(request, (sent) => {
      handed = sent;
      return reply;
    });
    expect(handed).toBe(request);
    expect(given).toBe(reply);
  });

  it('throws what the handler throws, once', async () => {
    let sent = 0;
    const request = { model: fakeModel(), messages: [new HumanMessage('Hello')] };
    const error = new Error('refused');
    const calling = compacting().wrapModelCall(request, () => {
      sent++;
      throw error;
    });
    await expect(calling).rejects.toBe(error);
    expect(sent).toBe(1);
  });

  it('learns from the usage of the replies, also beside a structured response', async () => {
    const usage = { usage_metadata: { input_tokens: 1000, output_tokens: 5, total_tokens: 1005 } };
    for (const wrap of [(reply: AIMessage) => reply, (reply: AIMessage) => ({ structuredResponse: {}, messages: [reply] })]) {
      const middleware = compacting();
      const request = { model: fakeModel(), messages: [new HumanMessage('Hello. '.repeat(200))] };
      await middleware.wrapModelCall(request, () => wrap(Object.assign(new AIMessage('Hi.'), usage)));
      expect(middleware.compactor.estimate(request)).toMatchObject({ tokens: 1000, sources: { tokens: 'usage' } });
    }
  });
});

describe('the conversation of a request', () => {
  const namesOf = () => new Set(events.map(({ conversation }) => conversation));
  const run = (options: Partial<LangchainMiddlewareOptions> = {}) =>
    createAgent({ model: reader(3), tools: [read], middleware: [compacting(options)] }).invoke(start, {
      configurable: { thread_id: 'one' },
    });

  it('is named by its thread', async () => {
    await run();
    expect(namesOf()).toEqual(new Set(['one']));
  });

  it('is named by the host where it wants to', async () => {
    await run({ conversation: ({ messages }) => `about ${messages.length}` });
    expect([...namesOf()].every((name) => name?.startsWith('about '))).toBe(true);
  });

  it('is found by its content where the host fails to name it, which is told', async () => {
    await run({
      conversation() {
        throw new Error('no name');
      },
    });
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(noticesOf(events)).toContain('unreadable-request');
  });

  it('is taken up in another process by its snapshot', async () => {
    const commits: CompactionCommit<unknown>[] = [];
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: 'one' } };
    const first = createAgent({
      model: reader(4),
      tools: [read],
      checkpointer,
      middleware: [compacting({ commit: (commit) => void commits.push(commit) })],
    });
    await first.invoke(start, config);
    const snapshot = commits.at(-1)?.snapshot;
    if (!snapshot) throw new Error('Expected a commit.');
    const middleware = compacting();
    middleware.compactor.restore(JSON.parse(JSON.stringify(snapshot)));
    const model = reader(0);
    events.length = 0;
    await createAgent({ model, tools: [read], checkpointer, middleware: [middleware] }).invoke(
      { messages: [new HumanMessage('And now?')] },
      config,
    );
    expect(lifecycleOf(events)).toEqual([]);
    expect(model.callCount).toBe(1);
    expect(JSON.stringify(model.calls[0]?.messages[0])).toContain('<compacted_context>');
  });
});

describe('options', () => {
  it.each([
    [{}, '`messageClasses.HumanMessage`'],
    [{ messageClasses: { ...messageClasses, ToolMessage: 7 } }, '`messageClasses.ToolMessage`'],
    [{ messageClasses, conversation: 'one' }, '`conversation`'],
    [{ messageClasses, contextWindow: -1 }, 'contextWindow'],
    [{ messageClasses, window: 1 }, '`window`'],
  ])('that are wrong are named: %o', (options, name) => {
    // What JavaScript lets through.
    expect(() => langchainMiddleware(options as unknown as LangchainMiddlewareOptions)).toThrow(name);
  });

  it('let another model write the summary', async () => {
    const cheap = fakeModel().respond(new AIMessage({ content: goodSummary, response_metadata: { finish_reason: 'stop' } }));
    const model = reader(3);
    const send = ({ messages }: { readonly messages: readonly object[] }) => cheap.invoke(messages as HumanMessage[]);
    await createAgent({ model, tools: [read], middleware: [compacting({ summary: { send } })] }).invoke(start);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(cheap.callCount).toBe(1);
    expect(model.callCount).toBe(4);
  });

  it('are needed for a summary outside of any call', async () => {
    const request = { messages: [...start.messages, new AIMessage(page), new HumanMessage('And now?')] };
    await expect(compacting().compactor.compact(request)).rejects.toThrow('summary.send');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { isCompactionError } from '../../src/errors.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { type Message, type Part, type ToolResultPart, textOf } from '../../src/message.ts';
import { aiSdkKit } from '../../src/testing/kits/ai-sdk.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { freezeDeep } from '../support/freeze.ts';
import { brokenHistory, cutsOfHistory, type Event, eventsFrom, validHistory, writeEvents } from '../support/report-histories.ts';
import { countTokens, longItems, reportModel, smallBudget, smallOptions, told, transcript } from '../support/report-model.ts';
import { onAllShapes, type ReportShape } from '../support/report-shapes.ts';

const missing = /No result was recorded for this call/;
const orphan = /Recorded output of a tool whose call is missing/;

/**
 * What is sent where a compaction covers the first `cut` items and the rest came after it; undefined where there was nothing to
 * compact. The summary request has been accepted by the provider.
 */
async function sendAfterCut<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
  items: readonly Item[],
  cut: number,
): Promise<{ sent: Request; replaced: number } | undefined> {
  const { send } = reportModel(shape);
  const compactor = createCompactor({ adapter: shape.adapter, send, contextWindow: 100_000, budget: { countTokens } });
  const conversation = 'cut';
  try {
    const { request } = await compactor.compact(shape.request(items.slice(0, cut)), { conversation });
    const leading = shape.adapter.items(shape.request([])).length;
    const sent = await compactor.prepare(shape.request(items), { conversation });
    return { sent, replaced: shape.adapter.items(request).length - leading };
  } catch (error) {
    if (isCompactionError(error) && (error.code === 'nothing-to-compact' || error.code === 'not-smaller')) return undefined;
    throw error;
  }
}

/** The same where the cut is after so many steps, each of which may be several items. */
function sendAfterSteps<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
  steps: readonly (readonly Item[])[],
  cut: number,
): Promise<{ sent: Request; replaced: number } | undefined> {
  return sendAfterCut(shape, steps.flat(), steps.slice(0, cut).flat().length);
}

function resultsIn<Request extends object, Item extends object, Reply>(
  { adapter }: ReportShape<Request, Item, Reply>,
  items: readonly Item[],
): string[] {
  return items
    .flatMap((item) => adapter.readItem(item))
    .flatMap(({ parts }) => parts.filter((part): part is ToolResultPart => part.type === 'toolResult'))
    .map(({ callId, content }) => `${callId} ${JSON.stringify(content)}`)
    .filter((result) => !missing.test(result));
}

/** Which result answers which call, by what was said before the call. */
function pairsIn<Request extends object, Item extends object, Reply>(
  { adapter }: ReportShape<Request, Item, Reply>,
  items: readonly Item[],
): string[] {
  let calling = '';
  const waiting: { id: string; calling: string }[] = [];
  return items
    .flatMap((item) => adapter.readItem(item))
    .flatMap((message) => {
      // One step may be several items: what was said, and then the calls.
      if (message.role === 'assistant') calling = textOf(message) || calling;
      return message.parts.flatMap((part) => {
        if (part.type === 'toolCall') waiting.push({ id: part.id, calling });
        if (part.type !== 'toolResult') return [];
        const call = waiting.findIndex(({ id }) => id === part.callId);
        return resultTexts([part]).map((text) => `${waiting.splice(call, 1)[0]?.calling} <- ${text}`);
      });
    })
    .filter((pair) => !missing.test(pair))
    .sort();
}

/** The same for any history: a result answers the nearest call of its id that still waits. */
function pairsOf(events: readonly Event[]): string[] {
  const waiting = new Map<string, string[]>();
  return events
    .flatMap((event) => {
      if (event.kind === 'calls') for (const id of event.ids) waiting.set(id, [...(waiting.get(id) ?? []), event.text]);
      if (event.kind !== 'results') return [];
      return event.entries.flatMap(([id, text]) => {
        const calling = waiting.get(id)?.pop();
        return calling === undefined ? [] : [`${calling} <- ${text}`];
      });
    })
    .sort();
}

/**
 * For each call without a result: in which turn of the assistant it is, and how many turns there are. Messages of the assistant in a row
 * are one.
 */
function openCallsIn(messages: readonly Message[]): { open: number[]; turns: number } {
  const waiting: { id: string; turn: number }[] = [];
  let turns = 0;
  let before: string | undefined;
  for (const { role, parts } of messages) {
    if (role === 'assistant' && before !== 'assistant') turns++;
    before = role;
    for (const part of parts) {
      if (part.type === 'toolCall') waiting.push({ id: part.id, turn: turns });
      if (part.type === 'toolResult') {
        const answered = waiting.findIndex(({ id }) => id === part.callId);
        if (answered !== -1) waiting.splice(answered, 1);
      }
    }
  }
  return { open: waiting.map(({ turn }) => turn), turns: turns + 1 };
}

/**
 * True where an id is called again while it waits: where results need not stand behind their calls, nobody can tell which one they answer.
 */
function callsTwice(events: readonly Event[]): boolean {
  const waiting = new Set<string>();
  return events.some((event) => {
    if (event.kind === 'results') for (const [id] of event.entries) waiting.delete(id);
    if (event.kind !== 'calls') return false;
    const again = event.ids.some((id) => waiting.has(id));
    for (const id of event.ids) waiting.add(id);
    return again;
  });
}

function resultTexts(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.type === 'toolResult' ? [textOf({ role: 'tool', parts: part.content })] : []));
}

/** How often each of the unique sentences is in a text. */
function countSentences(value: unknown): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [sentence] of JSON.stringify(value).matchAll(/[\w ]+ told once and never again|[\w ]+, told once and never again/g))
    counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  return counts;
}

onAllShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;
  const validate = (request: Parameters<typeof shape.validate>[0] | undefined) => shape.validate(request!);

  it('the property: whatever the history and wherever the cut, the request is legal and no result is invented, moved to another call or lost', async () => {
    const history = fc.oneof(validHistory, brokenHistory);
    await fc.assert(
      fc.asyncProperty(history, fc.nat(40), async (events, at) => {
        const closed = [
          ...events,
          { kind: 'assistant', text: 'An end of all calls.' } as const,
          { kind: 'user', text: 'Go on.' } as const,
        ];
        const items = freezeDeep(writeEvents(shape, closed));
        const cuts = cutsOfHistory(shape, closed);
        const cut = cuts[at % cuts.length]!;
        const after = await sendAfterCut(shape, items, cut);
        if (!after) return;
        expect(validate(after.sent)).toEqual([]);
        const tail = items.slice(cut);
        const kept = adapter.items(after.sent);
        // Ids may be told apart; which call a result answers is looked at below.
        const withoutId = (result: string) => result.slice(result.indexOf(' '));
        const available = resultsIn(shape, tail).map(withoutId);
        for (const result of resultsIn(shape, kept).map(withoutId)) {
          expect(available).toContain(result);
          available.splice(available.indexOf(result), 1);
        }
        expect(countSentences(kept)).toEqual(countSentences(tail));
        const tailEvents = eventsFrom(shape, closed, cut);
        if (tailEvents && (!adapter.pairItems || !callsTwice(tailEvents)))
          expect(pairsIn(shape, kept)).toEqual(pairsOf(tailEvents));
      }),
      { numRuns: 300 },
    );
  });

  it('the property: a call that is open at the very end stays open, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(validHistory, brokenHistory), fc.nat(40), async (events, at) => {
        const items = writeEvents(shape, events);
        const cuts = [...cutsOfHistory(shape, events), items.length];
        const cut = cuts[at % cuts.length]!;
        const after = await sendAfterCut(shape, items, cut);
        if (!after) return;
        const messages = adapter.items(after.sent).flatMap((item) => adapter.readItem(item));
        const wrong = validate(after.sent).filter(({ rule }) => !/^last-(message|turn)$|^ends-with/.test(rule));
        // Everything that is wrong is wrong with calls of the last turn, whose newest calls wait.
        const { open, turns } = openCallsIn(messages);
        if (wrong.length > 0) expect(open.length).toBeGreaterThan(0);
        for (const turn of open) expect(turn).toBeGreaterThanOrEqual(turns - 1);
      }),
      { numRuns: 300 },
    );
  });

  it('B001: a result that is written for an aborted call after the compaction never stands without its call', async () => {
    const steps = [
      [user('Build the project and tell me what fails.')],
      calls(['T1'], 'I will build it now, which takes a while.'),
      results([['T1', 'Aborted by the user.']]),
      [user('Go on.'), assistant('The build works.'), user('Thanks.')],
    ];
    const after = await sendAfterSteps(shape, steps, 2); // between the call and its result
    expect(validate(after?.sent)).toEqual([]);
    expect(resultsIn(shape, adapter.items(after!.sent))).toEqual([]);
    expect(JSON.stringify(after?.sent)).toContain('Aborted by the user.');
    const whole = await sendAfterSteps(shape, steps, 3);
    expect(validate(whole?.sent)).toEqual([]);
    expect(JSON.stringify(whole?.sent)).not.toContain('T1');
  });

  it('B002: a call without a result, then input of the user: compaction leaves no open call behind', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const loop = new AutoCompactingLoop(
      shape.request([...longItems(shape), assistant('Read.'), user('More.'), ...calls(['X']), user('Go on.')]),
      {
        ...options,
        send: model.send,
      },
    );
    await loop.send();
    expect(told(events)).toEqual(['started', 'notice repaired', 'notice prefix-changed', 'applied']);
    expect(JSON.stringify(model.summaries[0]?.request)).toMatch(missing);
    expect(JSON.stringify(model.turns[0]?.request)).not.toContain('"X"');
  });

  it('B005: a compaction right after the results of a tool puts no bare result beside the summary', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const loop = new AutoCompactingLoop(shape.request(longItems(shape)), { ...options, send: model.send });
    await loop.send();
    expect(model.summaries).toHaveLength(1);
    const sent = model.turns[0]!.request;
    expect(validate(sent)).toEqual([]);
    expect(resultsIn(shape, adapter.items(sent))).toEqual([]);
    expect(transcript(shape, sent)).toHaveLength(1);
  });

  it('B006: results that answer two assistant messages are each kept with their own call, or not as results', async () => {
    const answered = [
      [user('Look at both files, please, and say what is in them.')],
      calls(['c1'], 'The first file is the larger one of them.'),
      calls(['c2'], 'And the second file is the smaller one.'),
      results([['c1', 'first content']]),
      results([['c2', 'second content']]),
      [user('And?')],
    ];
    for (const cut of [2, 3, 4]) {
      const after = await sendAfterSteps(shape, answered, cut);
      expect(validate(after?.sent)).toEqual([]);
      const text = JSON.stringify(after?.sent);
      expect(text.includes('first content')).toBe(cut < 4);
      expect(text).toContain('second content');
    }
    const { sent } = (await sendAfterSteps(shape, answered, 2))!;
    expect(resultsIn(shape, adapter.items(sent))).toEqual([expect.stringMatching(/^c2 .*second content/)]);
  });

  it('B009: a parallel result that was stored late goes with its call', async () => {
    const steps = [
      [user('Look at both files, please, and say what is in them.')],
      calls(['c1', 'c2'], 'Looking at both of them at the same time.'),
      results([['c2', 'second content']]),
      [assistant('The second file is fine.')],
      results([['c1', 'first content']]),
      [user('And the first?')],
    ];
    for (let cut = 2; cut < steps.length; cut++) {
      const after = await sendAfterSteps(shape, steps, cut);
      expect(validate(after?.sent)).toEqual([]);
      expect(resultsIn(shape, adapter.items(after!.sent))).toEqual([]);
    }
    // Where the call is there, its results are, too, before anything else.
    const whole = [[...longItems(shape), assistant('Read.')], ...steps];
    const { sent } = (await sendAfterSteps(shape, whole, 1))!;
    expect(validate(sent)).toEqual([]);
    expect(resultsIn(shape, adapter.items(sent)).sort()).toEqual([
      expect.stringMatching(/^c1 .*first content/),
      expect.stringMatching(/^c2 .*second content/),
    ]);
  });

  it('B010: the kept history never begins with a result, wherever the cut', async () => {
    const steps = [
      [user('Look at all three files, please, and say what is in them.')],
      calls(['c1', 'c2', 'c3'], 'Looking at all three of them at once.'),
      results([['c1', 'one']]),
      results([['c2', 'two']]),
      results([['c3', 'three']]),
      [assistant('Done.')],
      [user('Thanks.')],
    ];
    for (let cut = 2; cut < steps.length; cut++) {
      const after = await sendAfterSteps(shape, steps, cut);
      expect(validate(after?.sent)).toEqual([]);
      expect(resultsIn(shape, adapter.items(after!.sent))).toEqual([]);
    }
  });

  it('B013: calls that still run put automatic compaction off, and stay last and open', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const compactor = createCompactor({ ...options, send: model.send });
    const request = shape.request([...longItems(shape), ...calls(['run_1', 'run_2'])]);
    expect(await compactor.plan(request)).toMatchObject({ wouldCompact: false, gate: 'open-call' });
    expect(await compactor.prepare(request)).toBe(request);
    expect(events).toEqual([]);
    expect(model.summaries).toEqual([]);
    const answered = shape.request([
      ...longItems(shape),
      ...calls(['run_1', 'run_2']),
      ...results([
        ['run_1', 'x'],
        ['run_2', 'y'],
      ]),
    ]);
    await compactor.prepare(answered);
    expect(told(events)).toEqual(['started', 'applied']);
  });

  it('B015: a reply with a call that crosses the threshold compacts nothing before its result is there', async () => {
    const { options, events } = smallOptions(shape);
    const text = 'I will look at it. '.repeat(150);
    const model = reportModel(shape, [], () => shape.reply({ text, calls: ['c1'], inputTokens: 5000 }));
    const loop = new AutoCompactingLoop(shape.request([user('Look.')]), { ...options, send: model.send });
    const { calls: run } = await loop.appendReply(await loop.send());
    expect(run).toMatchObject([{ id: 'c1' }]);
    await loop.prepare();
    expect(loop.estimate().overThreshold).toBe(true);
    expect(events).toEqual([]);
    loop.append(results([['c1', 'nothing special']]));
    await loop.prepare();
    expect(told(events)).toEqual(['started', 'applied']);
    expect(transcript(shape, model.summaries[0]!.request).join('\n')).toContain('nothing special');
  });

  it('B017: a history that is broken both ways comes out legal, and the repair is reported', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const broken = [
      user('Start.'),
      ...results([['lost_call', 'output of a lost call']]),
      assistant('Hm.'),
      user('Go on.'),
      ...calls(['lost_result']),
      assistant('Let me try again.'),
      ...longItems(shape),
    ];
    const loop = new AutoCompactingLoop(shape.request(broken), { ...options, send: model.send });
    await loop.send();
    expect(told(events)).toContain('notice repaired');
    const asked = JSON.stringify(model.summaries[0]!.request);
    expect(asked).toMatch(missing);
    expect(asked).toMatch(orphan);
    expect(asked).toContain('output of a lost call');
    expect(transcript(shape, model.turns[0]!.request)).toHaveLength(1);
  });

  it('B018: a dead call at the end is put off by an automatic compaction and closed by a manual one', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const loop = new AutoCompactingLoop(shape.request([...longItems(shape), ...calls(['dead'])]), {
      ...options,
      send: model.send,
    });
    await loop.prepare();
    expect(events).toEqual([]);
    await loop.compact();
    loop.append([user('Are you still there?')]);
    await loop.send();
    expect(JSON.stringify(model.summaries[0]!.request)).toMatch(missing);
    expect(JSON.stringify(model.turns[0]!.request)).not.toContain('dead');
  });

  it('B019: calls for structured output that nobody answers are closed, and what they said is summarized', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, options);
    const items = [
      user('Extract the names.'),
      ...calls(['S1']),
      user('And the places.'),
      ...calls(['S2']),
      user('d'.repeat(4000)),
    ];
    await create.compactor.compact(shape.request(items), { conversation: 'a' });
    const asked = JSON.stringify(model.summaries[0]!.request);
    for (const said of ['S1.ts', 'S2.ts']) expect(asked).toContain(said);
    await create(shape.request([...items, user('The dates.'), ...calls(['S3']), user('And now?')]), { conversation: 'a' });
    expect(JSON.stringify(model.turns[0]!.request)).toContain('S3.ts');
  });
});

it('B011: an approval, its call and what came of it are kept together, or not at all', async () => {
  const { adapter, request: requestOf, validate } = aiSdkKit;
  const call = (toolCallId: string, fields: object = {}) => ({
    ...{ type: 'tool-call', toolCallId, toolName: 'deploy', input: {} },
    ...fields,
  });
  const result = (toolCallId: string) => ({
    ...{ type: 'tool-result', toolCallId, toolName: 'deploy' },
    output: { type: 'json', value: `made by ${toolCallId}` },
  });
  const answer = { type: 'tool-approval-response', approvalId: 'p1', approved: true };
  const text = (words: string) => ({ type: 'text', text: words });
  const steps = [
    { role: 'user', content: [text('Deploy it, and tell me how that goes. '.repeat(100))] },
    { role: 'assistant', content: [call('c0'), call('c1', { providerExecuted: true })] },
    { role: 'tool', content: [result('c0'), answer] },
    { role: 'assistant', content: [call('c2', { providerExecuted: true }), result('c2'), text('Done.')] },
    { role: 'user', content: [text('Thanks.')] },
  ];
  for (let cut = 2; cut < steps.length; cut++) {
    const compactor = createCompactor({ ...smallBudget, adapter, when: 'never', send: scriptedModel(aiSdkKit).send });
    await compactor.compact(requestOf(steps.slice(0, cut)), { conversation: 'one' });
    const sent = await compactor.prepare(requestOf(steps), { conversation: 'one' });
    expect(validate(sent)).toEqual([]);
    expect(JSON.stringify(sent)).not.toMatch(/"(?:p1|c0|c1)"/);
    expect(JSON.stringify(sent).includes('made by c0')).toBe(cut === 2); // as text
    for (const step of steps.slice(Math.max(cut, 3))) expect(adapter.items(sent)).toContain(step);
  }
  // Where the call stays its approval does, the very same message.
  const [opening, ...rest] = steps;
  const asked = [
    { role: 'user', content: [text('What is there? '.repeat(100))] },
    { role: 'assistant', content: [text('Much.')] },
  ];
  const compactor = createCompactor({ ...smallBudget, adapter, when: 'never', send: scriptedModel(aiSdkKit).send });
  await compactor.compact(requestOf(asked), { conversation: 'one' });
  const sent = await compactor.prepare(requestOf([...asked, opening!, ...rest]), { conversation: 'one' });
  expect(adapter.items(sent).slice(-4)).toEqual(rest);
  expect(sent.prompt).toContain(steps[2]);
});

describe('sentences', () => {
  it('are counted where they are', () => {
    expect(countSentences(['a x told once and never again', { b: 'y, told once and never again' }]).size).toBe(2);
  });
});

import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { createMeter } from '../src/budget/meter.ts';
import { CompactionError } from '../src/errors.ts';
import { createTrack, type Overlay } from '../src/overlay.ts';
import { buildReplacement } from '../src/prompt/replacement.ts';
import { type ConversationSnapshot, createSnapshot, restoreSnapshot } from '../src/snapshot.ts';
import { createWrapper } from './support/harness.ts';
import { longConversation } from './support/scripted-model.ts';

const meter = createMeter('openai');
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const replacement = buildReplacement({
  summary: 'S',
  lastUserMessage: [
    { type: 'text', text: 'What is this?' },
    { type: 'media', kind: 'image', value: image },
  ],
});
const overlay: Overlay<object> = {
  covered: { count: 5, hash: 'c' },
  rebuilt: { count: 1, hash: 'r' },
  rebased: 5,
  replacement: [replacement],
  items: openaiChat().writeMessage(replacement),
  compactionId: 'id',
};
const state = {
  overlay,
  replacements: new Set(['r1', 'r2']),
  trigger: {
    attempt: { count: 5, hash: 'c' },
    tries: 1,
    failures: 1,
    failure: { said: '1 x', model: 'gpt-5', surroundings: 's', until: 'input' as const },
    sizeAfter: 100,
    inDoubt: 'id',
    reported: ['irreducible'],
    provenWindow: { model: 'gpt-5', tokens: 90_000 },
  },
  anchor: { mark: { count: 1, hash: 'r' }, surroundings: 's', tokens: 100 },
  before: undefined,
  held: {
    mark: { count: 1, hash: 'h' },
    tokens: 120,
    replaceable: true,
    lastUserMessage: { role: 'user' as const, parts: [{ type: 'text' as const, text: 'So?' }] },
  },
};

describe('a snapshot', () => {
  it('is plain data: it survives JSON, and the state with it', () => {
    const snapshot = createSnapshot(meter, 'mine', state);
    const stored: ConversationSnapshot = JSON.parse(JSON.stringify(snapshot));
    expect(stored).toEqual(snapshot);
    const track = restoreSnapshot({ adapter: openaiChat(), meter }, stored);
    expect(track).toMatchObject({ ...state, conversation: 'mine', flight: undefined, doubt: undefined });
    expect(createSnapshot(meter, track.conversation, track)).toEqual(snapshot);
  });

  it('holds no items, and writes the replacement anew with the same bytes', () => {
    const snapshot = createSnapshot(meter, undefined, state);
    expect(snapshot.overlay).not.toHaveProperty('items');
    const restored = restoreSnapshot({ adapter: openaiChat(), meter }, JSON.parse(JSON.stringify(snapshot))).overlay?.items;
    expect(JSON.stringify(restored)).toBe(JSON.stringify(overlay.items));
    expect(restoreSnapshot({ adapter: anthropicMessages(), meter }, snapshot).overlay?.items).toHaveLength(1);
  });

  it('is a copy, and so is what is restored from it', () => {
    const snapshot = createSnapshot(meter, 'mine', state);
    snapshot.replacements.push('r3');
    snapshot.trigger.reported.push('repaired');
    Object.assign(snapshot.overlay?.covered ?? {}, { count: 99 });
    expect(state.replacements).toEqual(new Set(['r1', 'r2']));
    expect(state.trigger.reported).toEqual(['irreducible']);
    expect(overlay.covered.count).toBe(5);
    const track = restoreSnapshot({ adapter: openaiChat(), meter }, snapshot);
    snapshot.trigger.reported.push('irreducible');
    expect(track.trigger.reported).toEqual(['irreducible', 'repaired']);
  });

  it('of a new conversation is empty', () => {
    const empty = createTrack<object, object>();
    const snapshot = createSnapshot(meter, undefined, empty);
    expect(snapshot).toEqual({ version: 1, replacements: [], trigger: { failures: 0, reported: [] } });
    expect(restoreSnapshot({ adapter: openaiChat(), meter }, JSON.parse(JSON.stringify(snapshot)))).toEqual(empty);
  });

  it('finds its conversation by the furthest it is known to have come', () => {
    const seen = (part: Partial<typeof state>) => {
      const { overlay: _overlay, ...rest } = state;
      return restoreSnapshot(
        { adapter: openaiChat(), meter },
        createSnapshot(meter, undefined, { ...rest, overlay: undefined, ...part }),
      ).seen;
    };
    expect(seen({ overlay })).toEqual(overlay.covered);
    expect(seen({})).toEqual(state.trigger.attempt);
    expect(seen({ trigger: { failures: 0, reported: [] } as never })).toEqual(state.anchor.mark);
  });

  it('carries what usage taught, and the process that knows better keeps what it knows', () => {
    const lessons = [{ counter: 'custom', model: 'gpt-5', reported: 3000, counted: 2000 }] as const;
    const taught = createMeter('openai', () => 100);
    taught.adopt(lessons);
    const snapshot = JSON.parse(JSON.stringify(createSnapshot(taught, 'mine', state)));
    const fresh = createMeter('openai', () => 100);
    restoreSnapshot({ adapter: openaiChat(), meter: fresh }, snapshot);
    expect(fresh.lessons()).toEqual(lessons);
    const hello = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello.' }] }];
    expect(fresh.countMessages(hello, 'gpt-5')).toBe(taught.countMessages(hello, 'gpt-5'));
    expect(fresh.countMessages(hello, 'gpt-5')).toBeGreaterThan(fresh.countMessages(hello, 'other'));

    fresh.adopt([{ counter: 'custom', model: 'gpt-5', reported: 1000, counted: 1000 }]);
    expect(fresh.lessons()).toEqual(lessons);
  });

  it('cannot teach what no provider says', () => {
    const fresh = createMeter('openai', () => 100);
    fresh.adopt([
      { counter: 'custom', model: 'a', reported: 1e9, counted: 1 },
      { counter: 'custom', model: 'b', reported: 1, counted: 0 },
    ]);
    expect(fresh.lessons()).toEqual([{ counter: 'custom', model: 'a', reported: 2.5, counted: 1 }]);
  });

  it('of a commit is the state that is installed with it', async () => {
    const { create, stored } = createWrapper();
    await create(longConversation());
    expect(create.compactor.snapshot(longConversation()).overlay).toEqual(stored[0]?.snapshot.overlay);
    expect(stored[0]?.snapshot).toMatchObject({ version: 1, overlay: { compactionId: stored[0]?.compactionId } });
  });
});

describe('what is no snapshot', () => {
  const sound = JSON.parse(JSON.stringify(createSnapshot(meter, 'mine', state)));

  it.each([[null], [undefined], ['text'], [{}], [{ ...sound, version: 2 }], [{ ...sound, version: '1' }]])(
    'has no version 1: %j',
    (value) => {
      const restoring = () => restoreSnapshot({ adapter: openaiChat(), meter }, value as never);
      expect(restoring).toThrow(CompactionError);
      expect(restoring).toThrow('Expected a snapshot of version 1');
    },
  );

  it.each<[string, object]>([
    ['trigger', { trigger: undefined }],
    ['trigger.failures', { trigger: { reported: [] } }],
    ['trigger.reported', { trigger: { failures: 0 } }],
    ['replacements', { replacements: null }],
    ['replacements.1', { replacements: ['a', 5] }],
    ['overlay.covered', { overlay: { ...sound.overlay, covered: undefined } }],
    ['overlay.rebuilt.hash', { overlay: { ...sound.overlay, rebuilt: { count: 1 } } }],
    ['overlay.rebased', { overlay: { ...sound.overlay, rebased: undefined } }],
    ['overlay.replacement', { overlay: { ...sound.overlay, replacement: { role: 'user', parts: [] } } }],
    ['overlay.replacement.0', { overlay: { ...sound.overlay, replacement: [{ role: 'user' }] } }],
    ['lessons.0.counter', { lessons: [{ counter: 'guess', reported: 1, counted: 1 }] }],
    ['anchor.tokens', { anchor: { ...sound.anchor, tokens: '5' } }],
    ['held.tokens', { held: { ...sound.held, tokens: null } }],
    ['held.lastUserMessage', { held: { ...sound.held, lastUserMessage: 'So?' } }],
    ['conversation', { conversation: 5 }],
  ])('lost its `%s` on the way, and says so', (path, change) => {
    const restoring = () => restoreSnapshot({ adapter: openaiChat(), meter }, { ...sound, ...change });
    expect(restoring).toThrow(CompactionError);
    expect(restoring).toThrow(`\`${path}\``);
  });
});

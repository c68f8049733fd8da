import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../src/adapters/openai-chat.ts';
import { endMark, type RequestView } from '../src/history/view.ts';
import { createTrack, type Overlay, type Track } from '../src/overlay.ts';
import { buildReplacement } from '../src/prompt/replacement.ts';
import { createTrackStore, type TrackStore } from '../src/track-store.ts';
import { createWrapper, isCompacted, lifecycleOf } from './support/harness.ts';
import { longConversation, toolTurn } from './support/scripted-model.ts';
import { chatView } from './support/views.ts';

type ChatTrack = Track<ChatRequest, ChatMessage>;
type ChatStore = TrackStore<ChatRequest, ChatMessage>;

/** A conversation of so many messages. */
function talk(name: string, length: number): ChatMessage[] {
  return Array.from({ length }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `${name} ${index}` }));
}

const written: ChatMessage = { role: 'user', content: 'What was said so far.' };

/** What a compaction of the whole view would install. */
function overlayOf(view: RequestView<ChatRequest, ChatMessage>): Overlay<ChatMessage> {
  return {
    covered: endMark(view),
    rebuilt: endMark(chatView([written])),
    rebased: endMark(view).count,
    replacement: [buildReplacement({ summary: 'What was said so far.' })],
    items: [written],
    compactionId: 'c1',
  };
}

function compacted(store: ChatStore, messages: ChatMessage[], conversation?: string): ChatTrack {
  const view = chatView(messages);
  return Object.assign(store.find(view, conversation), { overlay: overlayOf(view) });
}

const start = (): ChatStore => createTrackStore<ChatRequest, ChatMessage>(endMark);

describe('a conversation without a name', () => {
  it('is found again by what it begins with, also as a clone with another system prompt and other cache markers', () => {
    const store = start();
    const messages = talk('a', 4);
    const track = store.find(chatView([{ role: 'system', content: 'Monday' }, ...messages]), undefined);
    const next = [...messages, ...talk('a', 6).slice(4)].map((message) => ({
      role: message.role,
      content: [{ type: 'text', text: message.content, cache_control: { type: 'ephemeral' } }],
    }));
    expect(store.find(chatView([{ role: 'system', content: 'Tuesday' }, ...next]), undefined)).toBe(track);
    expect(track.seen.count).toBe(6);
  });

  it('is another one where the beginning differs', () => {
    const store = start();
    const track = store.find(chatView(talk('a', 4)), undefined);
    expect(store.find(chatView(talk('b', 4)), undefined)).not.toBe(track);
    expect(store.tracks()).toHaveLength(2);
  });

  it('is the same one when a request is sent again', () => {
    const store = start();
    const track = store.find(chatView(talk('a', 4)), undefined);
    expect(store.find(chatView(talk('a', 4)), undefined)).toBe(track);
  });

  it('is found by the longest beginning of several that fit', () => {
    const store = start();
    const short = store.find(chatView(talk('a', 2)), undefined);
    const long = store.find(chatView([...talk('a', 1), ...talk('b', 5)]), undefined);
    expect(store.find(chatView([...talk('a', 1), ...talk('b', 5), ...talk('c', 2)]), undefined)).toBe(long);
    expect(store.find(chatView([...talk('a', 2), ...talk('c', 2)]), undefined)).toBe(short);
  });

  it('never matches a request without a conversation', () => {
    const store = start();
    const empty = store.find(chatView([]), undefined);
    expect(store.find(chatView(talk('a', 2)), undefined)).not.toBe(empty);
  });
});

describe('a fork', () => {
  it('behind the covered part shares the replacement and goes its own way', () => {
    const store = start();
    const track = compacted(store, talk('a', 4));
    track.trigger = { ...track.trigger, failures: 2 };
    store.find(chatView([...talk('a', 4), ...talk('one', 3)]), undefined);
    const fork = store.find(chatView([...talk('a', 4), ...talk('two', 1)]), undefined);
    expect(fork).not.toBe(track);
    expect(fork.overlay).toBe(track.overlay);
    expect(fork.trigger.failures).toBe(2); // they are lifted by what the user says
    expect(fork.anchor).toBeUndefined();
    expect(store.find(chatView([...talk('a', 4), ...talk('one', 5)]), undefined)).toBe(track);
    expect(store.find(chatView([...talk('a', 4), ...talk('two', 2)]), undefined)).toBe(fork);
  });

  it('inside the covered part is a conversation of its own', () => {
    const store = start();
    compacted(store, talk('a', 6));
    expect(store.find(chatView(talk('a', 4)), undefined).overlay).toBeUndefined();
    expect(store.find(chatView([...talk('a', 3), ...talk('other', 5)]), undefined).overlay).toBeUndefined();
  });
});

describe('a conversation that changes in its covered part', () => {
  it('loses its replacement', () => {
    const store = start();
    compacted(store, talk('a', 4));
    const edited = talk('a', 6);
    edited[1] = { role: 'assistant', content: 'edited' };
    expect(store.find(chatView(edited), undefined).overlay).toBeUndefined();
  });

  it('loses it under a name too, with what was measured of it, and has it again once the change is taken back', () => {
    const store = start();
    const track = compacted(store, talk('a', 4), 'named');
    const failure = { said: 'x', surroundings: 's' };
    const attempt = track.overlay?.covered;
    track.trigger = { tries: 1, failures: 2, failure, sizeAfter: 100, attempt, reported: ['repaired'] };
    track.anchor = { mark: endMark(chatView([written])), surroundings: '', tokens: 100 };
    const edited = store.find(chatView([...talk('a', 3), ...talk('b', 4)]), 'named');
    expect(edited).toMatchObject({ overlay: undefined, anchor: undefined });
    expect(edited.trigger).toEqual({ failures: 2, failure, reported: ['repaired'] }); // told, and lifted, by what is said
    expect(store.find(chatView(talk('a', 6)), 'named')).toBe(track);
    expect(track.overlay?.covered.count).toBe(4);
  });

  it('keeps it when its caller splices the replacement into its own array', () => {
    for (const conversation of [undefined, 'named']) {
      const store = start();
      const track = compacted(store, talk('a', 4), conversation);
      const { rebuilt } = track.overlay!;
      const spliced = store.find(chatView([written, ...talk('next', 2)]), conversation);
      expect(spliced).toBe(track);
      expect(spliced.overlay).toBeUndefined(); // it is in the conversation itself now
      expect(spliced.trigger.attempt).toEqual(rebuilt);
    }
  });
});

describe('names', () => {
  it('keep conversations apart that say the same', () => {
    const store = start();
    const view = chatView(talk('a', 4));
    const tracks = [store.find(view, 'one'), store.find(view, 'two'), store.find(view, undefined)];
    expect(new Set(tracks).size).toBe(3);
    expect(store.find(view, 'one')).toBe(tracks[0]);
  });

  it('may be shared: each conversation of a name is found by its content', () => {
    const store = start();
    const main = compacted(store, talk('a', 4), 'shared');
    const other = compacted(store, talk('b', 6), 'shared');
    for (let step = 1; step < 9; step++) {
      store.find(chatView([{ role: 'user', content: `A title for step ${step}.` }]), 'shared');
      expect(store.find(chatView([...talk('a', 4), ...talk('next', step)]), 'shared')).toBe(main);
      expect(store.find(chatView([...talk('b', 6), ...talk('next', step)]), 'shared')).toBe(other);
    }
    expect([main.overlay?.covered.count, other.overlay?.covered.count]).toEqual([4, 6]);
    const fork = store.find(chatView([...talk('a', 4), ...talk('fork', 2)]), 'shared');
    expect(fork).not.toBe(main);
    expect(fork).toMatchObject({ overlay: main.overlay, conversation: 'shared' });
  });

  it('stand for what was used last where a request says nothing', () => {
    const store = start();
    compacted(store, talk('b', 4), 'shared');
    const track = compacted(store, talk('a', 4), 'shared');
    expect(store.peek(chatView([]), 'shared')).toMatchObject({ overlay: track.overlay, seen: { count: 0 } });
    expect(store.peek(chatView([]), 'other').overlay).toBeUndefined();
  });

  it('have no new conversation compacted while a commit of theirs is in doubt, and none that stays in doubt', () => {
    const store = start();
    const track = compacted(store, talk('a', 4), 'shared');
    track.trigger = { ...track.trigger, inDoubt: 'c1' };
    for (const messages of [talk('b', 2), [...talk('a', 3), ...talk('b', 2)]])
      expect(store.find(chatView(messages), 'shared').trigger.inDoubt).toBe('c1');
    expect(store.find(chatView(talk('b', 2)), 'another').trigger.inDoubt).toBeUndefined();
    track.trigger = { ...track.trigger, inDoubt: undefined };
    expect(store.find(chatView(talk('b', 2)), 'shared').trigger.inDoubt).toBeUndefined();
  });
});

describe('a look at a conversation', () => {
  it('gives its state, and takes no notice of the request', () => {
    for (const conversation of [undefined, 'named']) {
      const store = start();
      const track = compacted(store, talk('a', 4), conversation);
      const before = structuredClone(store.tracks());
      const draft = store.peek(chatView([...talk('a', 4), ...talk('draft', 1)]), conversation);
      expect(draft).not.toBe(track);
      expect(draft.overlay).toBe(track.overlay);
      store.peek(chatView(talk('other', 3)), conversation);
      expect(store.tracks()).toEqual(before);
      expect(store.find(chatView([...talk('a', 4), ...talk('next', 1)]), conversation)).toBe(track);
    }
  });

  it('at an unknown one leaves nothing behind', () => {
    const store = start();
    expect(store.peek(chatView(talk('a', 4)), undefined).overlay).toBeUndefined();
    expect(store.peek(chatView(talk('a', 4)), 'named').overlay).toBeUndefined();
    expect(store.tracks()).toEqual([]);
  });
});

describe('the store', () => {
  it('holds the conversations that were used last, named and unnamed each; of the named some for each name', () => {
    const store = createTrackStore<ChatRequest, ChatMessage>(endMark, 3);
    for (const conversation of [undefined, 'one name', 'n']) {
      const find = (name: string, length: number) =>
        store.find(chatView(talk(name, length)), conversation === 'n' ? `n${name}` : conversation);
      const a = find('a', 2);
      const b = find('b', 2);
      const limit = conversation ? 12 : 3;
      for (let others = 2; others < limit; others++) find(`c${others}`, 2);
      expect(find('a', 4)).toBe(a);
      find('d', 2);
      expect(find('a', 6)).toBe(a);
      expect(find('b', 4)).not.toBe(b);
    }
    expect(store.tracks()).toHaveLength(15);
  });

  it('takes up the newer of two states, though it knew the conversation further without a replacement', () => {
    for (const conversation of [undefined, 'named']) {
      const store = start();
      store.find(chatView(talk('a', 8)), conversation);
      const restored: ChatTrack = createTrack(conversation);
      const { covered } = overlayOf(chatView(talk('a', 6)));
      store.add(Object.assign(restored, { overlay: overlayOf(chatView(talk('a', 6))), seen: covered }));
      expect(store.find(chatView(talk('a', 9)), conversation).overlay).toBe(restored.overlay);
    }
  });
});

describe('300 conversations through one wrapper', () => {
  const conversation = (number: number, extra = 0): ChatRequest => {
    const { messages, ...rest } = longConversation();
    const turns = Array.from({ length: extra }, (_, index) => toolTurn(`extra_${index}`, 'short')).flat();
    return {
      ...rest,
      messages: [...messages.slice(0, 1), { role: 'user', content: `Conversation ${number}.` }, ...messages.slice(1), ...turns],
    };
  };

  it('are each compacted once, and the last 256 stay so', async () => {
    const { create, model } = createWrapper();
    for (let number = 0; number < 300; number++) await create(conversation(number));
    expect(model.summaries).toHaveLength(300);
    for (let number = 299; number >= 44; number--) await create(structuredClone(conversation(number, 1)));
    expect(model.summaries).toHaveLength(300);
    expect(model.turns.slice(300).every(({ request }) => isCompacted(request))).toBe(true);
    await create(conversation(0, 1)); // forgotten: evaluated anew, and compacted again
    expect(model.summaries).toHaveLength(301);
    expect(model.turns.at(-1)?.request && isCompacted(model.turns.at(-1)!.request)).toBe(true);
  });
});

describe('the overlay of a wrapper', () => {
  const added = (...texts: string[]): ChatMessage[] =>
    texts.flatMap((text) => [
      { role: 'assistant', content: 'Fine.' },
      { role: 'user', content: text },
    ]);
  const grown = (...messages: ChatMessage[]): ChatRequest => {
    const request = longConversation();
    return { ...request, messages: [...request.messages, ...messages] };
  };

  it('is shared by forks behind the covered part', async () => {
    const { create, model } = createWrapper();
    await create(longConversation());
    await create(grown(...added('One way.')));
    await create(grown(...added('Another way.')));
    await create(grown(...added('One way.', 'Further.')));
    expect(model.summaries).toHaveLength(1);
    const sent = model.turns.map(({ request }) => request.messages.slice(1));
    expect(sent.every((messages) => JSON.stringify(messages[0]) === JSON.stringify(sent[0]?.[0]))).toBe(true);
    expect(JSON.stringify(sent[2])).not.toContain('One way.');
  });

  it('is lost by an edit inside the covered part, and the conversation is evaluated anew', async () => {
    const { create, model } = createWrapper();
    await create(longConversation());
    const edited = grown(...added('Go on.'));
    await create({
      ...edited,
      messages: edited.messages.map((message, index) => (index === 1 ? { role: 'user', content: 'Edited.' } : message)),
    });
    expect(model.summaries).toHaveLength(2);
    expect(JSON.stringify(model.summaries[1]?.request)).toContain('Edited.');
  });

  it('is lost by an edit in place of an object that was seen before', async () => {
    const { create, model } = createWrapper();
    const request = longConversation();
    await create(request);
    Object.assign(request.messages[1]!, { content: 'Edited in place.' });
    await create(request);
    expect(JSON.stringify(model.summaries[1]?.request)).toContain('Edited in place.');
  });

  it('is not lost by another request under its name, nor by another conversation there', async () => {
    const { create, model, events } = createWrapper();
    const conversation = 'thread';
    const other: ChatRequest = {
      ...longConversation(),
      messages: [
        ...longConversation().messages.slice(0, 1),
        { role: 'user', content: 'Other.' },
        ...longConversation().messages.slice(2),
      ],
    };
    await create(longConversation(), { conversation });
    await create(other, { conversation });
    for (let step = 1; step < 5; step++) {
      await create(
        { ...longConversation(), messages: [{ role: 'user', content: `A title of step ${step}.` }] },
        { conversation },
      );
      const further = added(...Array.from({ length: step }, (_, index) => `Step ${index}.`));
      await create(grown(...further), { conversation });
      await create({ ...other, messages: [...other.messages, ...further] }, { conversation });
      const [main, second] = model.turns.slice(-2).map(({ request }) => JSON.stringify(request));
      expect([main, second].map((sent) => sent?.includes('<compacted_context>'))).toEqual([true, true]);
    }
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
    expect(create.compactor.snapshot(longConversation(), { conversation }).overlay).toBeDefined();
    expect(create.compactor.snapshot({ ...longConversation(), messages: [] }, { conversation }).overlay).toBeDefined();
  });

  it('is no longer needed by a caller that splices its own array from the commit', async () => {
    for (const conversation of [undefined, 'named']) {
      const { create, model, stored, events } = createWrapper();
      await create(longConversation(), { conversation });
      let { messages } = stored[0]!.request;
      for (let step = 0; step < 5; step++) {
        messages = [...messages, ...toolTurn(`next_${step}`, 'short')];
        await create({ ...longConversation(), messages }, { conversation });
        expect(model.turns.at(-1)?.request.messages).toEqual(messages);
      }
      expect(model.summaries).toHaveLength(1);
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    }
  });

  it('covers as many items of the caller’s own array as the commit says', async () => {
    const { create, model, stored } = createWrapper();
    const request = longConversation();
    await create(request);
    const { covered, request: rebuilt } = stored[0]!;
    expect(covered).toBe(request.messages.length);
    // Splicing by the number, with the system message in front, gives what the commit's request holds.
    const spliced = [request.messages[0]!, ...rebuilt.messages.slice(1), ...request.messages.slice(covered)];
    expect(model.turns[0]?.request.messages).toEqual(spliced);
  });
});

import { describe, expect, it } from 'vitest';
import { watchBody } from '../../src/fetch/watch-body.ts';

/** A body of which it is known how far it was read, and with what it was cancelled. */
function createBody(pieces: readonly string[], failure?: Error) {
  const state = { pulled: 0, cancelled: undefined as unknown };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[state.pulled++];
        if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece));
        else if (failure) controller.error(failure);
        else controller.close();
      },
      cancel(reason) {
        state.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  return { state, response: new Response(stream as BodyInit, { status: 201, statusText: 'Made', headers: { 'x-a': 'b' } }) };
}

/** The response, and what was heard of it. */
function watch(response: Response) {
  const heard = { text: '', ended: false };
  const watched = watchBody(response, (texts) => {
    void (async () => {
      for await (const text of texts) heard.text += text;
      heard.ended = true;
    })();
  });
  return { watched, heard };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('watchBody', () => {
  it('hears what the caller reads, and no more', async () => {
    const { state, response } = createBody(['one ', 'two ', 'three']);
    const { watched, heard } = watch(response);
    await settle();
    expect(state.pulled).toBe(0);
    const reader = watched.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('one ');
    await settle();
    expect(heard).toEqual({ text: 'one ', ended: false });
    expect(state.pulled).toBe(1);
    await reader.read();
    await reader.read();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    await settle();
    expect(heard).toEqual({ text: 'one two three', ended: true });
  });

  it('a cancel reaches the provider, with its reason, also before anything was read', async () => {
    for (const reads of [0, 1]) {
      const { state, response } = createBody(['one', 'two', 'three']);
      const { watched, heard } = watch(response);
      const reader = watched.body!.getReader();
      for (let read = 0; read < reads; read++) await reader.read();
      await reader.cancel('enough');
      await settle();
      expect(state).toEqual({ pulled: reads, cancelled: 'enough' });
      expect(heard).toEqual({ text: reads ? 'one' : '', ended: true });
    }
  });

  it('a body that breaks breaks for the caller in the same way', async () => {
    const failure = new Error('connection lost');
    const { watched, heard } = watch(createBody(['one'], failure).response);
    await expect(watched.text()).rejects.toBe(failure);
    await settle();
    expect(heard).toEqual({ text: 'one', ended: true });
  });

  it('a listener that stops listening, or never begins, is in nobody’s way', async () => {
    const pieces = Array.from({ length: 20 }, (_, index) => `piece ${index} `);
    const leaving = watchBody(createBody(pieces).response, (texts) => {
      void (async () => {
        for await (const _text of texts) break;
      })();
    });
    expect(await leaving.text()).toBe(pieces.join(''));
    expect(await watchBody(createBody(pieces).response, () => undefined).text()).toBe(pieces.join(''));
  });

  it('a character that was cut in two is heard whole', async () => {
    const bytes = new TextEncoder().encode('grün 漢');
    const stream = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    const { watched, heard } = watch(new Response(stream));
    expect(await watched.text()).toBe('grün 漢');
    await settle();
    expect(heard.text).toBe('grün 漢');
  });

  it('looks like the response that it stands for, and so does its clone', async () => {
    const { response } = createBody(['{"a":1}']);
    for (const [name, value] of Object.entries({
      url: 'https://provider.test/x',
      redirected: true,
      type: 'basic',
      statusText: '成功',
    }))
      Object.defineProperty(response, name, { value });
    const { watched } = watch(response);
    const clone = watched.clone();
    for (const seen of [watched, clone, clone.clone()]) {
      expect(seen).toBeInstanceOf(Response);
      expect(seen.headers.get('x-a')).toBe('b');
      expect(seen).toMatchObject({ status: 201, ok: true });
      expect(seen).toMatchObject({ url: 'https://provider.test/x', redirected: true, type: 'basic', statusText: '成功' });
      expect(await seen.json()).toEqual({ a: 1 });
      expect(seen.bodyUsed).toBe(true);
    }
  });

  it('a response without a body of the web is given back as it is', () => {
    const empty = new Response(null, { status: 204 });
    expect(watchBody(empty, () => undefined)).toBe(empty);
  });

  it('what is no bytes reaches the caller all the same', async () => {
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue('text');
        controller.close();
      },
    });
    const { watched, heard } = watch(new Response(stream));
    expect(await watched.body!.getReader().read()).toEqual({ done: false, value: 'text' });
    await settle();
    expect(heard.text).toBe('');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeReply, formatOf } from '../../src/fetch/decode-reply.ts';
import { readText } from '../../src/fetch/read-text.ts';

const valuesOf = async (reply: unknown): Promise<unknown[]> => {
  const values = [];
  for await (const value of reply as AsyncIterable<unknown>) values.push(value);
  return values;
};

/** A response whose body comes in these pieces. */
const responseOf = (pieces: readonly Uint8Array[], contentType = 'text/event-stream'): Response => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Response(body as BodyInit, { headers: { 'content-type': contentType } });
};

const decode = (text: string, contentType?: string, request: object = {}): Promise<unknown> => {
  const response = responseOf([new TextEncoder().encode(text)], contentType);
  return decodeReply(readText(response), formatOf(response, request));
};

describe('decodeReply', () => {
  it('gives the same events however the bytes are cut, whatever ends a line', async () => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    const event = fc.record({
      value: fc.record({ type: fc.constantFrom('a', 'message_start', 'ü'), text: fc.string({ unit: 'grapheme' }) }),
      named: fc.boolean(),
      comment: fc.boolean(),
      spaced: fc.boolean(),
      pretty: fc.boolean(),
      end: lineEnd,
    });
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(event), cuts, fc.boolean(), fc.boolean(), async (events, sizes, mark, done) => {
        const text = events.map(({ value, named, comment, spaced, pretty, end }) => {
          const json = JSON.stringify(value, null, pretty ? 2 : 0);
          const data = json.split('\n').map((line) => `data:${spaced ? ' ' : ''}${line}${end}`);
          return `${comment ? `: keep alive${end}` : ''}${named ? `event: ${value.type}${end}` : ''}id: 7${end}${data.join('')}${end}`;
        });
        const bytes = new TextEncoder().encode(`${mark ? '\uFEFF' : ''}${text.join('')}${done ? 'data: [DONE]\n\n' : '\n'}`);
        const pieces = [];
        for (let start = 0, cut = 0; start < bytes.length; cut++) {
          const size = sizes[cut % sizes.length]!;
          pieces.push(bytes.slice(start, start + size));
          start += size;
        }
        const response = responseOf(pieces);
        const reply = await decodeReply(readText(response), formatOf(response, {}));
        expect(await valuesOf(reply)).toEqual(events.map(({ value }) => value));
      }),
      { numRuns: 300 },
    );
  });

  it('an event that was cut off is none', async () => {
    expect(await valuesOf(await decode('data: {"a":1}\n\ndata: {"a":2'))).toEqual([{ a: 1 }]);
    expect(await valuesOf(await decode('data: {"a":1}\n\ndata: {"a":2}\n'))).toEqual([{ a: 1 }]);
  });

  it('pieces that are no JSON are an error, not a gap', async () => {
    await expect(valuesOf(await decode('data: {"a":1}\n\ndata: {"a":\n\n'))).rejects.toBeInstanceOf(SyntaxError);
  });

  it('errors have the form that adapters read, however the server writes them', async () => {
    const ofAnthropic = { type: 'error', error: { type: 'overloaded_error' } };
    const flat = { type: 'error', code: 'rate_limit_exceeded' };
    const nested = { error: { message: 'busy' } };
    for (const error of [ofAnthropic, flat, nested])
      expect(await valuesOf(await decode(`event: error\ndata: ${JSON.stringify(error)}\n\n`))).toEqual([error]);
    expect(await valuesOf(await decode('event: error\ndata: {"message":"busy"}\n\n'))).toEqual([
      { type: 'error', error: { message: 'busy' } },
    ]);
    expect(await valuesOf(await decode('event: error\ndata: upstream failed\n\n'))).toEqual([
      { type: 'error', error: 'upstream failed' },
    ]);
  });

  it('an object stays one, an array is a stream of its entries', async () => {
    expect(await decode('{"a":1}', 'application/json; charset=utf-8')).toEqual({ a: 1 });
    expect(await valuesOf(await decode('[{"a":1},{"a":2}]', 'application/json'))).toEqual([{ a: 1 }, { a: 2 }]);
    await expect(decode('<html>', 'text/html')).rejects.toBeInstanceOf(SyntaxError);
  });

  it('where the server does not say what it sends, the request tells what it asked for', async () => {
    expect(await valuesOf(await decode('data: {"a":1}\n\n', 'text/plain', { stream: true }))).toEqual([{ a: 1 }]);
    expect(await decode('{"a":1}', 'text/plain', { stream: false })).toEqual({ a: 1 });
    expect(await decode('{"a":1}', 'application/json', { stream: true })).toEqual({ a: 1 });
  });

  it('an event of any length comes whole', async () => {
    const text = 'x'.repeat(8_000_000);
    const bytes = new TextEncoder().encode(`data: "${text}"\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, index) =>
      bytes.slice(index * 1000, (index + 1) * 1000),
    );
    const response = responseOf(pieces);
    expect(await valuesOf(await decodeReply(readText(response), 'events'))).toEqual([text]);
  });

  it('reads bodies that are no streams of the web as a whole', async () => {
    // What `node-fetch` gives, as far as it is looked at.
    const response = { body: { pipe() {} }, text: async () => '{"a":1}', headers: new Headers() } as unknown as Response;
    expect(await decodeReply(readText(response), formatOf(response, {}))).toEqual({ a: 1 });
  });
});

/** A reply with thinking, text and two calls, as providers stream it. */
export const recordedStreams: Record<string, readonly object[] | undefined> = {
  'openai-chat': [
    chunk({ role: 'assistant', content: '', reasoning_content: 'The user ' }),
    chunk({ reasoning_content: 'wants it.' }),
    chunk({ content: 'I will look ' }),
    chunk({ content: 'at both 📦 files.' }),
    chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"call_1.ts"}' } }] }),
    chunk({
      tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'read', arguments: '{"path":"call_2.ts"}' } }],
    }),
    chunk({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 900, completion_tokens: 50, total_tokens: 950 } },
  ],
  anthropic: [
    {
      type: 'message_start',
      message: { id: 'm1', role: 'assistant', content: [], usage: { input_tokens: 900, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...blockEvents(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: 'The user ' },
      { type: 'thinking_delta', thinking: 'wants it.' },
      { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
    ]),
    ...blockEvents(1, { type: 'redacted_thinking', data: 'b3BhcXVl' }, []),
    ...blockEvents(2, { type: 'text', text: '' }, [
      { type: 'text_delta', text: 'I will look ' },
      { type: 'text_delta', text: 'at both 📦 files.' },
    ]),
    ...blockEvents(3, { type: 'tool_use', id: 'call_1', name: 'read', input: {} }, [
      { type: 'input_json_delta', partial_json: '{"path":' },
      { type: 'input_json_delta', partial_json: '"call_1.ts"}' },
    ]),
    ...blockEvents(4, { type: 'tool_use', id: 'call_2', name: 'read', input: {} }, [
      { type: 'input_json_delta', partial_json: '{"path":"call_2.ts"}' },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 50 } },
    { type: 'message_stop' },
  ],
};

function chunk(delta: object, finish: string | null = null): object {
  return { id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] };
}

function blockEvents(index: number, block: object, deltas: readonly object[]): object[] {
  return [
    { type: 'content_block_start', index, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** The pieces of a reply: some shapes have them in a field of their own. */
export async function piecesOf(reply: unknown): Promise<object[]> {
  const pieces: object[] = [];
  for await (const piece of streamIn(reply)) pieces.push(piece);
  return pieces;
}

/** Other pieces in the same form of a reply. */
export function playLike<Reply>(reply: Reply, pieces: readonly object[] | AsyncIterable<object>): Reply {
  const stream = play(pieces);
  // A reply is its stream, or has it in a field: the kit made one of the same kind.
  if (typeof reply !== 'object' || reply === null || !('stream' in reply)) return stream as Reply;
  return { ...reply, stream: reply.stream instanceof ReadableStream ? webStreamOf(stream) : stream };
}

function webStreamOf(pieces: AsyncGenerator<object>): ReadableStream<object> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

function streamIn(reply: unknown): AsyncIterable<object> {
  // Either is what the kits make.
  const { stream = reply } = Object(reply) as { stream?: unknown };
  return stream as AsyncIterable<object>;
}

async function* play(pieces: readonly object[] | AsyncIterable<object>): AsyncGenerator<object> {
  yield* pieces;
}

/** Every way in which a stream can end early: after each piece, and inside each text of a piece. */
export function cutsOf(pieces: readonly object[]): object[][] {
  return pieces.flatMap((piece, index) => {
    const before = pieces.slice(0, index);
    return [before.concat([]), ...shortened(piece).map((part) => [...before, part])];
  });
}

const growing = new Set([
  ...['text', 'thinking', 'signature', 'partial_json', 'content', 'reasoning_content', 'arguments'],
  ...['delta', 'input'],
]);

/** The piece with one of its texts cut at each place. */
function shortened(value: unknown): object[] {
  if (typeof value !== 'object' || value === null || isWhole(value)) return [];
  return Object.entries(value).flatMap(([key, entry]): object[] => {
    const versions =
      typeof entry === 'string' && growing.has(key)
        ? Array.from({ length: Math.max(0, entry.length - 1) }, (_, length) => entry.slice(0, length + 1))
        : shortened(entry);
    return versions.map((version) =>
      Array.isArray(value)
        ? value.map((other, index) => (String(index) === key ? version : other))
        : Object.assign(Object.create(Object.getPrototypeOf(value)), value, { [key]: version }),
    );
  });
}

/** Responses tells the same once more, as a whole: that comes whole or not at all. */
function isWhole(piece: object): boolean {
  return 'type' in piece && /^response\.(?!.*delta$)/.test(String(piece.type));
}

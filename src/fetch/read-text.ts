/** The chunks of a stream. Whoever leaves early cancels it. */
export async function* readChunks<Chunk>(stream: ReadableStream<Chunk>): AsyncGenerator<Chunk, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader.cancel().catch(() => undefined); // nothing to cancel where it has ended or failed
  }
}

/** The text of a body, as it comes. */
export async function* readText(response: Response): AsyncGenerator<string, void> {
  const { body } = response;
  if (!isWebStream(body)) return yield await response.text();
  const decoder = new TextDecoder();
  for await (const chunk of readChunks(body)) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** Not every `fetch` gives a stream of the web. */
export function isWebStream(body: Response['body']): body is ReadableStream<Uint8Array<ArrayBuffer>> {
  return typeof body?.getReader === 'function';
}

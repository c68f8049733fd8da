import type { StreamBreak } from '../provider-kit.ts';

/** The pieces up to where the stream breaks off; all of them where it does not. */
export async function* breakOff<Piece>(pieces: AsyncIterable<Piece>, breaks: StreamBreak | undefined): AsyncGenerator<Piece> {
  let left = breaks?.after ?? Number.POSITIVE_INFINITY;
  if (left > 0)
    for await (const piece of pieces) {
      yield piece;
      if (--left <= 0) break;
    }
  if (breaks && 'error' in breaks) throw breaks.error;
}

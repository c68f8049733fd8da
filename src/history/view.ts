import type { ProviderAdapter, RequestContext } from '../adapters/adapter.ts';
import { isError } from '../any-realm.ts';
import { CompactionError, isCompactionError } from '../errors.ts';
import { memoizeByContent } from './content-memo.ts';
import { fingerprint, linkFingerprints } from './fingerprint.ts';
import type { HeldHistory } from './held.ts';
import { countLeadingSystem, type ItemReader, type Reading } from './reading.ts';

/** A request, read: what the planning looks at. */
export interface RequestView<Request, Item> {
  readonly request: Request;
  readonly context: RequestContext;
  /** Standing instructions at the start. They always come from the current request and belong to no prefix. */
  readonly leading: readonly Reading<Item>[];
  /** The conversation after them. */
  readonly body: readonly Reading<Item>[];
  /** Fingerprints of the prefixes of `body`: entry n stands for its first n items. */
  readonly chain: readonly string[];
  /** What the first item stands for, where the server holds it and all of it was seen. */
  readonly held?: HeldHistory | undefined;
}

/** A place in a conversation: so many items of its body, with this content. */
export interface Mark {
  count: number;
  hash: string;
}

/**
 * Reads a request. Costs what is new in it, apart from a walk over its items.
 *
 * @throws CompactionError `invalid-request`, naming what cannot be read.
 */
export function readRequest<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  read: ItemReader<Item>,
  request: Request,
): RequestView<Request, Item> {
  const items = readNamed(
    () => 'The request',
    () => adapter.items(request),
  );
  const readings: Reading<Item>[] = [];
  // One guard around all items: which of them failed is known by how many were read.
  readNamed(
    () => `Item ${readings.length} of the conversation`,
    () => {
      for (const item of items) readings.push(read(item));
    },
  );
  const leadingCount = countLeadingSystem(readings);
  const body = readings.slice(leadingCount);
  return {
    request,
    context: readNamed(
      () => 'The request',
      () => soundContext(adapter.context(request)),
    ),
    leading: readings.slice(0, leadingCount),
    body,
    chain: chainReadings(body),
  };
}

/** Without a model that is no name and a cap that is no number of tokens: what is odd for the provider alone is not in our way. */
function soundContext(context: RequestContext): RequestContext {
  const { model, outputCap } = context;
  return {
    ...context,
    model: typeof model === 'string' ? model : undefined,
    outputCap: typeof outputCap === 'number' && Number.isFinite(outputCap) && outputCap > 0 ? outputCap : undefined,
  };
}

/** Reads a part of a request: getters and proxies may throw anything, and a walk does not know where it is. */
export function readNamed<Result>(name: () => string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    if (isCompactionError(cause) && cause.provider !== undefined) throw cause; // the adapter's own words are better
    const reason = isError(cause) ? cause.message : 'no error was given';
    throw new CompactionError('invalid-request', `${name()} cannot be read: ${reason}`, { cause });
  }
}

/** A conversation that only grew is chained again at the price of looking. */
function chainReadings(readings: readonly Reading<unknown>[]): string[] {
  const chain = [''];
  let previous = '';
  for (const { place, fingerprint } of readings) {
    if (place.previous !== previous) {
      place.link = linkFingerprints(previous, fingerprint);
      place.previous = previous;
    }
    previous = place.link;
    chain.push(previous);
  }
  return chain;
}

/** The end of a conversation as it is now, or a place so many items before it. */
export function endMark(view: RequestView<unknown, unknown>, before = 0): Mark {
  const count = view.body.length - before;
  return { count, hash: view.chain[count] ?? '' };
}

/** True where the conversation begins with exactly what the mark stands for. */
export function startsWith(view: RequestView<unknown, unknown>, mark: Mark): boolean {
  return view.chain[mark.count] === mark.hash;
}

/** What surrounds the conversation, as one fingerprint: tools, system text, standing instructions. */
export function fingerprintSurroundings(view: RequestView<unknown, unknown>): string {
  const { model, system, tools } = view.context;
  return fingerprint([
    model,
    fingerprintOnce(system),
    fingerprintOnce(tools),
    view.leading.map((reading) => reading.fingerprint),
  ]);
}

const fingerprintObject = memoizeByContent((value: object) => fingerprint(value));

function fingerprintOnce(value: unknown): string {
  return typeof value === 'object' && value !== null ? fingerprintObject(value) : fingerprint(value);
}

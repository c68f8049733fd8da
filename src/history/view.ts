import type { ProviderAdapter, RequestContext } from '../adapters/adapter.ts';
import { memoizeByContent } from './content-memo.ts';
import { chainFingerprints, fingerprint } from './fingerprint.ts';
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
}

/** A place in a conversation: so many items of its body, with this content. */
export interface Mark {
  count: number;
  hash: string;
}

/**
 * Reads a request. Costs what is new in it, apart from a walk over its items.
 *
 * @throws CompactionError `invalid-request`
 */
export function readRequest<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  read: ItemReader<Item>,
  request: Request,
): RequestView<Request, Item> {
  const readings = adapter.items(request).map(read);
  const leadingCount = countLeadingSystem(readings);
  const body = readings.slice(leadingCount);
  return {
    request,
    context: adapter.context(request),
    leading: readings.slice(0, leadingCount),
    body,
    chain: chainFingerprints(body.map((reading) => reading.fingerprint)),
  };
}

/** The end of a conversation as it is now. */
export function endMark(view: RequestView<unknown, unknown>): Mark {
  return { count: view.body.length, hash: view.chain[view.body.length] ?? '' };
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

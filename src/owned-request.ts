import { isCheckpoint } from './history/reading.ts';
import { repairItems } from './history/repair.ts';
import { readNamed } from './history/view.ts';
import { readRaw } from './inspection.ts';
import { render } from './machine.ts';
import { applyOverlay, type Overlay, type Track } from './overlay.ts';
import { reportOnce } from './report.ts';
import type { Settings } from './settings.ts';

/** The native request whose conversation a loop owns: nobody else adds to its array, and the items are the very same. */
export class OwnedRequest<Request, Item, Reply> {
  readonly #settings: Settings<Request, Item, Reply>;
  #request: Request;

  /**
   * @throws CompactionError `invalid-request`
   */
  constructor(settings: Settings<Request, Item, Reply>, request: Request) {
    this.#settings = settings;
    this.#request = this.#take(request);
  }

  /** As it stands now, its conversation a fresh array; with other fields where they are given. */
  current(params?: Partial<Request>): Request {
    return this.#withParams(this.#copy(this.#request), params);
  }

  get length(): number {
    return this.#settings.adapter.items(this.#request).length;
  }

  append(items: readonly Item[]): void {
    const { adapter, read } = this.#settings;
    for (const item of items) read(item);
    this.#request = adapter.withItems(this.#request, [...adapter.items(this.#request), ...items]);
  }

  update({ system, params }: { system?: string | undefined; params?: Partial<Request> | undefined }): void {
    const changed = this.#withParams(this.#request, params);
    this.#request = system === undefined ? changed : this.#settings.adapter.withSystem(changed, system);
  }

  /** Takes another request, by default the same without its conversation. */
  reset(request?: Request): void {
    this.#request = this.#take(request ?? this.#withoutConversation());
  }

  /** Takes a replacement in, and tells what had to be repaired. */
  fold(overlay: Overlay<Item>): readonly string[] {
    const { view, repairs } = applyOverlay(readRaw(this.#settings, this.#request), overlay, this.#settings);
    this.#request = view.request;
    return repairs;
  }

  /** As it is sent. */
  render(track: Track<Request, Item>, params?: Partial<Request>): Request {
    return this.#withParams(this.#rendered(track), params);
  }

  #rendered(track: Track<Request, Item>): Request {
    const request = this.current();
    try {
      const rendered = render(this.#settings, track, request).request;
      return track.replacements.size > 0 ? this.#repaired(track, rendered) : rendered;
    } catch {
      return request; // what was made unreadable in place goes out as it is: the check has reported it
    }
  }

  /** A result may come after its call went into a summary: what goes out has it as a record. The history stays: more may come. */
  #repaired(track: Track<Request, Item>, request: Request): Request {
    const { leading, body } = readRaw(this.#settings, request);
    const { items, repairs } = repairItems([...leading, ...body], this.#settings, { closeOpen: false });
    if (repairs.length === 0) return request;
    reportOnce(this.#settings, track, { code: 'repaired', message: repairs.join(' ') });
    return this.#settings.adapter.withItems(request, items);
  }

  #take(request: Request): Request {
    readRaw(this.#settings, request);
    return readNamed(
      () => 'The request',
      () => this.#copy(request),
    );
  }

  #copy(request: Request): Request {
    const { adapter } = this.#settings;
    return adapter.withItems(request, [...adapter.items(request)]);
  }

  #withoutConversation(): Request {
    const { leading } = readRaw(this.#settings, this.#request);
    const standing = leading.filter((reading) => !isCheckpoint(reading)).map(({ item }) => item);
    return this.#settings.adapter.withItems(this.#request, standing);
  }

  /** The request with other fields, its conversation untouched. */
  #withParams(request: Request, params: Partial<Request> | undefined): Request {
    const { adapter } = this.#settings;
    return params ? adapter.withItems({ ...request, ...params }, adapter.items(request)) : request;
  }
}

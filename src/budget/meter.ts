import type { TokenFamily } from '../adapters/adapter.ts';
import { BoundedMap } from '../history/bounded-map.ts';
import { memoizeByContent } from '../history/content-memo.ts';
import type { Reading } from '../history/reading.ts';
import { endMark, fingerprintSurroundings, type Mark, type RequestView, readNamed, startsWith } from '../history/view.ts';
import type { Message } from '../message.ts';
import {
  addBreakdown,
  type Breakdown,
  countMessages,
  emptyBreakdown,
  scaleBreakdown,
  stringifyForCounting,
  sumBreakdown,
} from './breakdown.ts';
import { type Calibration, createCalibration } from './calibration.ts';
import type { NumberSource } from './context-budget.ts';
import { type ActiveCounter, activeCounter, type CounterKind, loadDefaultCounter } from './default-counter.ts';
import { checkCounter, type TokenCounter, utf8Length } from './token-counter.ts';
import { tokenRatio } from './token-ratio.ts';

/** What the provider said of a request that was sent: the next estimates build on it. */
export interface UsageAnchor {
  mark: Mark;
  surroundings: string;
  tokens: number;
}

/** What usage taught of a model's tokenizer: a counter gave `counted` tokens where the provider reported `reported`. */
export interface CounterLessons {
  counter: CounterKind;
  model?: string | undefined;
  reported: number;
  counted: number;
}

export interface Measurement {
  tokens: number;
  /** The part of them that is an estimate; the rest is the provider's count. */
  estimated: number;
  /** `usage` where the provider's count of an earlier request is the larger part of it. */
  source: NumberSource;
  counter: CounterKind;
}

type AnyView = RequestView<unknown, unknown>;

/** Sizes requests. Each item is counted once; a step costs what is new. */
export interface Meter {
  measure(view: AnyView, anchor?: UsageAnchor): Measurement;
  /** No tokenizer gives more tokens than this: bytes instead of tokens. Costs no tokenizing. */
  upperBound(view: AnyView, anchor?: UsageAnchor): number;
  /** By category, scaled so that the sum is `total`. */
  breakdown(view: AnyView, total: number): Breakdown;
  countMessages(messages: readonly Message[], model: string | undefined): number;
  countReadings(readings: readonly Reading<unknown>[], model: string | undefined): number;
  count: TokenCounter;
  /** Makes the tokenizer available, unless the caller brought a counter. */
  load(): Promise<void>;
  /** Takes the provider's count of a request that was sent. Undefined where it cannot be trusted. */
  anchor(view: AnyView, tokens: number, previous?: UsageAnchor): UsageAnchor | undefined;
  /** What usage taught so far. */
  lessons(): CounterLessons[];
  /** Takes up what usage taught elsewhere. */
  adopt(lessons: readonly CounterLessons[]): void;
}

const rememberedItems = 20_000;
const rememberedTexts = 8;
/** Ordinary text has 2 to 5 bytes a token. A report of fewer tokens than this is not about the request. */
const mostBytesPerToken = 16;
/** What providers add out of sight. A request of plain text cannot have more tokens than bytes and this. */
const mostHiddenTokens = 32_768;
/** Opaque tokens for each token of text up to which a growth says something of the tokenizer. */
const mostOpaque = 0.05;

/** What one counter said. */
interface Counts {
  reading: (reading: Reading<unknown>, model: string | undefined) => Breakdown;
  /** A text around the conversation: such texts stay for many requests. */
  text: (text: string) => number;
}

export function createMeter(family: TokenFamily, countTokens?: TokenCounter): Meter {
  const custom = countTokens && checkCounter(countTokens);
  const countsByKind = new Map<CounterKind | 'upper-bound', Counts>();
  const calibrations = new Map<CounterKind, Calibration>();
  const surroundingsText = memoizeByContent((value: object) => stringifyForCounting(value));
  const upperBoundCounter: TokenCounter = utf8Length;

  /** Counts of one counter: by the reading, and by content for callers that clone their history. */
  function countsOf(kind: CounterKind | 'upper-bound', count: TokenCounter): Counts {
    const known = countsByKind.get(kind);
    if (known) return known;
    const byReading = new WeakMap<Reading<unknown>, { model: string | undefined; breakdown: Breakdown }>();
    const byContent = new BoundedMap<string, Breakdown>(rememberedItems);
    const byText = new BoundedMap<string, number>(rememberedTexts);
    const counts: Counts = {
      reading(reading, model) {
        const known = byReading.get(reading);
        if (known && known.model === model) return known.breakdown;
        const key = `${model}\n${reading.fingerprint}`;
        const breakdown = byContent.get(key) ?? countMessages(reading.messages, { count, family, model });
        byReading.set(reading, { model, breakdown });
        byContent.set(key, breakdown);
        return breakdown;
      },
      text(text) {
        const tokens = byText.get(text) ?? count(text);
        byText.set(text, tokens);
        return tokens;
      },
    };
    countsByKind.set(kind, counts);
    return counts;
  }

  function calibrationOf(kind: CounterKind): Calibration {
    let calibration = calibrations.get(kind);
    if (!calibration) {
      calibration = createCalibration((model) => (kind === 'tokenizer' ? tokenRatio(family, model) : 1));
      calibrations.set(kind, calibration);
    }
    return calibration;
  }

  function countSurroundings({ context }: AnyView, counts: Counts): { system: number; tools: number } {
    const counted = (name: string, value: unknown): number => {
      const isObject = typeof value === 'object' && value !== null;
      const read = (): string => (isObject ? surroundingsText(value) : stringifyForCounting(value));
      const text = readNamed(() => name, read);
      return text === '' || text === '[]' ? 0 : counts.text(text);
    };
    return { system: counted('The system text', context.system), tools: counted('The list of tools', context.tools) };
  }

  /** Everything in the view, or what comes after the first `from` items of its body. */
  function countView(view: AnyView, kind: CounterKind | 'upper-bound', count: TokenCounter, from?: number): Breakdown {
    const counts = countsOf(kind, count);
    const total = emptyBreakdown();
    const readings = from === undefined ? [...view.leading, ...view.body] : view.body.slice(from);
    for (const reading of readings) addBreakdown(total, counts.reading(reading, view.context.model));
    if (from === undefined) {
      const { system, tools } = countSurroundings(view, counts);
      total.system += system;
      total.tools += tools;
    }
    return total;
  }

  /** Media are priced by the provider's own rules: the factor is for text. */
  function calibrate(breakdown: Breakdown, kind: CounterKind, model: string | undefined): number {
    const factor = calibrationOf(kind).factor(model);
    return Math.ceil((sumBreakdown(breakdown) - breakdown.media) * factor + breakdown.media);
  }

  function holds(view: AnyView, anchor: UsageAnchor | undefined): anchor is UsageAnchor {
    return !!anchor && startsWith(view, anchor.mark) && fingerprintSurroundings(view) === anchor.surroundings;
  }

  const active = (): ActiveCounter => activeCounter(custom);

  return {
    measure(view, anchor) {
      const { kind, count } = active();
      const anchored = holds(view, anchor);
      const rest = countView(view, kind, count, anchored ? anchor.mark.count : undefined);
      // No tokenizer gives more tokens than bytes, whatever the factor says; a caller's counter may.
      const most = countView(view, 'upper-bound', upperBoundCounter, anchored ? anchor.mark.count : undefined);
      const bound = Math.max(sumBreakdown(most), sumBreakdown(rest));
      const estimated = Math.min(calibrate(rest, kind, view.context.model), bound);
      const tokens = estimated + (anchored ? anchor.tokens : 0);
      return { tokens, estimated, source: anchored ? 'usage' : 'estimate', counter: kind };
    },
    upperBound(view, anchor) {
      const anchored = holds(view, anchor);
      const rest = countView(view, 'upper-bound', upperBoundCounter, anchored ? anchor.mark.count : undefined);
      return sumBreakdown(rest) + (anchored ? anchor.tokens : 0);
    },
    breakdown(view, total) {
      const { kind, count } = active();
      return scaleBreakdown(countView(view, kind, count), total);
    },
    countMessages(messages, model) {
      const { kind, count } = active();
      return calibrate(countMessages(messages, { count, family, model }), kind, model);
    },
    countReadings(readings, model) {
      const { kind, count } = active();
      const counts = countsOf(kind, count);
      const total = emptyBreakdown();
      for (const reading of readings) addBreakdown(total, counts.reading(reading, model));
      return calibrate(total, kind, model);
    },
    count: (text) => active().count(text),
    load: () => (custom ? Promise.resolve() : loadDefaultCounter()),
    anchor(view, tokens, previous) {
      if (!(Number.isFinite(tokens) && tokens > 0)) return undefined;
      const bytes = countView(view, 'upper-bound', upperBoundCounter);
      const most = bytes.media + bytes.opaque > 0 ? Number.POSITIVE_INFINITY : sumBreakdown(bytes) + mostHiddenTokens;
      if (tokens * mostBytesPerToken < sumBreakdown(bytes) || tokens > most) return undefined;
      if (holds(view, previous)) {
        const { kind, count } = active();
        const added = countView(view, kind, count, previous.mark.count);
        const { media, opaque } = added;
        const text = sumBreakdown(added) - media - opaque;
        // How a provider counts what is opaque is not known: a lesson is about text.
        if (opaque <= text * mostOpaque)
          calibrationOf(kind).learn(view.context.model, tokens - previous.tokens - media - opaque, text);
      }
      return { mark: endMark(view), surroundings: fingerprintSurroundings(view), tokens };
    },
    lessons: () =>
      [...calibrations].flatMap(([counter, calibration]) => calibration.lessons().map((lessons) => ({ counter, ...lessons }))),
    adopt(all) {
      for (const { counter, ...lessons } of all) calibrationOf(counter).adopt(lessons);
    },
  };
}

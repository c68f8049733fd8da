import { BoundedMap } from '../history/bounded-map.ts';

const smallestFactor = 0.5;
const largestFactor = 2.5;
/** Below this many tokens a difference says more about rounding than about the tokenizer. */
const smallestLesson = 50;
/** What the prior weighs, in counted tokens: it is only a guess by the model's name. */
const priorWeight = 1000;
/** No single lesson weighs more: it may be about something else, for instance thinking that the provider dropped. */
const heaviestLesson = 4000;
/** Lessons fade when this many counted tokens came after them. */
const memory = 50_000;

/** What was learnt of one model, in tokens. */
interface Lessons {
  model?: string | undefined;
  reported: number;
  counted: number;
}

/** Learns by how much a model's tokenizer differs from the counter in use. */
export interface Calibration {
  /** Tokens of the provider for each counted one. */
  factor(model: string | undefined): number;
  /** Between two requests the provider's count grew by `reported`, ours by `counted`. Differences cancel what is hidden and constant. */
  learn(model: string | undefined, reported: number, counted: number): void;
  lessons(): Lessons[];
  /** Takes up what was learnt elsewhere, of models of which nothing is known here. */
  adopt(lessons: Lessons): void;
}

/**
 * `prior` is the factor before anything is learnt. Lessons weigh by their size: in small ones what a provider adds around messages and
 * calls is most of the difference, and many of them would spoil the estimate of one large tool output.
 */
export function createCalibration(prior: (model: string | undefined) => number): Calibration {
  const learnt = new BoundedMap<string, Lessons>(64);
  const sums = (model: string | undefined): Lessons =>
    learnt.get(model ?? '') ?? { model, reported: prior(model) * priorWeight, counted: priorWeight };
  return {
    factor(model) {
      const { reported, counted } = sums(model);
      return reported / counted;
    },
    learn(model, reported, counted) {
      if (!(counted >= smallestLesson) || !Number.isFinite(reported)) return;
      const known = sums(model);
      const weight = Math.min(counted, heaviestLesson);
      const lesson = weight * clampFactor(reported / counted);
      const kept = Math.min(1, memory / (known.counted + weight));
      learnt.set(model ?? '', { model, reported: (known.reported + lesson) * kept, counted: (known.counted + weight) * kept });
    },
    lessons: () => [...learnt.values()],
    adopt({ model, reported, counted }) {
      if (learnt.get(model ?? '') || !(counted > 0)) return;
      learnt.set(model ?? '', { model, reported: counted * clampFactor(reported / counted), counted });
    },
  };
}

function clampFactor(factor: number): number {
  return Math.min(largestFactor, Math.max(smallestFactor, factor));
}

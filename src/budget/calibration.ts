import { BoundedMap } from '../history/bounded-map.ts';

const learningRate = 0.2;
const smallestFactor = 0.5;
const largestFactor = 2.5;
/** Below this many tokens a difference says more about rounding than about the tokenizer. */
const smallestLesson = 50;

/** Learns by how much a model's tokenizer differs from the counter in use. */
export interface Calibration {
  /** Tokens of the provider for each counted one. */
  factor(model: string | undefined): number;
  /** Between two requests the provider's count grew by `reported`, ours by `counted`. Differences cancel what is hidden and constant. */
  learn(model: string | undefined, reported: number, counted: number): void;
}

/** `prior` is the factor before anything is learnt. */
export function createCalibration(prior: (model: string | undefined) => number): Calibration {
  const factors = new BoundedMap<string, number>(64);
  const factor = (model: string | undefined): number => factors.get(model ?? '') ?? prior(model);
  return {
    factor,
    learn(model, reported, counted) {
      if (!(counted >= smallestLesson) || !Number.isFinite(reported)) return;
      const lesson = Math.min(largestFactor, Math.max(smallestFactor, reported / counted));
      // A first lesson stands in for a prior that is only a guess by the model's name.
      const known = factors.get(model ?? '');
      factors.set(model ?? '', known === undefined ? (prior(model) + lesson) / 2 : known + learningRate * (lesson - known));
    },
  };
}

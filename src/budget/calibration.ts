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

/** `prior` is the factor before anything is learnt. Early lessons count for more: the prior is only a guess by the model's name. */
export function createCalibration(prior: (model: string | undefined) => number): Calibration {
  const learnt = new BoundedMap<string, { factor: number; lessons: number }>(64);
  const state = (model: string | undefined) => learnt.get(model ?? '') ?? { factor: prior(model), lessons: 0 };
  return {
    factor: (model) => state(model).factor,
    learn(model, reported, counted) {
      if (!(counted >= smallestLesson) || !Number.isFinite(reported)) return;
      const { factor, lessons } = state(model);
      const lesson = Math.min(largestFactor, Math.max(smallestFactor, reported / counted));
      const rate = Math.max(learningRate, 1 / (lessons + 2));
      learnt.set(model ?? '', { factor: factor + rate * (lesson - factor), lessons: lessons + 1 });
    },
  };
}

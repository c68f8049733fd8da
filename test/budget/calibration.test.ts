import { describe, expect, it } from 'vitest';
import { createCalibration } from '../../src/budget/calibration.ts';

describe('calibration', () => {
  it('B131: five reports of twice the estimate bring the factor within a tenth of it', () => {
    const calibration = createCalibration(() => 1);
    for (let report = 0; report < 5; report++) calibration.learn('m', 2000, 1000);
    expect(Math.abs(calibration.factor('m') - 2)).toBeLessThan(0.2);
  });

  it('starts from the prior of each model and keeps models apart', () => {
    const calibration = createCalibration((model) => (model === 'a' ? 1.5 : 1));
    calibration.learn('b', 100, 200);
    expect(calibration.factor('a')).toBe(1.5);
    expect(calibration.factor('b')).toBeLessThan(1);
    expect(calibration.factor(undefined)).toBe(1);
  });

  it('weighs a lesson by its size, so that what is added around many small messages does not spoil a large estimate', () => {
    const calibration = createCalibration(() => 1);
    for (let round = 0; round < 10; round++) {
      for (let step = 0; step < 10; step++) calibration.learn('m', 80, 100);
      calibration.learn('m', 4000, 4000);
    }
    expect(calibration.factor('m')).toBeGreaterThan(0.95);
  });

  it('learns nothing from small or senseless differences, and nothing beyond its bounds', () => {
    const calibration = createCalibration(() => 1);
    calibration.learn('m', 500, 49);
    calibration.learn('m', Number.NaN, 1000);
    calibration.learn('m', 1000, Number.NaN);
    calibration.learn('m', 1000, -5);
    expect(calibration.factor('m')).toBe(1);
    for (let report = 0; report < 50; report++) calibration.learn('m', 1e9, 100);
    expect(calibration.factor('m')).toBeLessThanOrEqual(2.5);
    for (let report = 0; report < 200; report++) calibration.learn('m', -1e9, 100);
    expect(calibration.factor('m')).toBeGreaterThanOrEqual(0.5);
  });
});

import type { ErrorClass } from '../../adapters/adapter.ts';
import type { ErrorScript } from '../provider-kit.ts';
import { type Check, expectThat, preview } from './check.ts';

const kinds: Record<ErrorScript, ErrorClass['kind']> = {
  overflow: 'overflow',
  'rate-limit': 'retryable',
  overloaded: 'retryable',
  connection: 'retryable',
  invalid: 'fatal',
  unauthorized: 'fatal',
};

const oddities = [undefined, null, 0, '', 'overflow', {}, [], Object.create(null), new Error(''), { message: null, status: 'x' }];

export const errorChecks: readonly Check[] = [
  {
    name: 'errors are told apart: an overflow, what may pass, and what no retry mends',
    random: false,
    holds(kit) {
      // The keys are the scripts, all of them.
      for (const script of Object.keys(kinds) as ErrorScript[]) {
        const error = kit.error(script);
        if (error === undefined) continue;
        const { kind } = kit.adapter.classifyError(error);
        expectThat(kind === kinds[script], () => `Expected ${script} to be ${kinds[script]}, got ${kind}: ${String(error)}`);
      }
    },
  },
  {
    name: 'how long to wait after an error is told in milliseconds',
    random: false,
    holds({ adapter, error, retryAfter }) {
      const read = adapter.classifyError(error('rate-limit'));
      const told = read.kind === 'retryable' ? read.retryAfter : undefined;
      expectThat(told === retryAfter, () => `Expected ${retryAfter} milliseconds, got ${told}.`);
    },
  },
  {
    name: 'whatever is thrown can be classified, and is no overflow without saying so',
    random: false,
    holds(kit) {
      for (const thrown of oddities)
        expectThat(kit.adapter.classifyError(thrown).kind !== 'overflow', () => `Expected no overflow in ${preview(thrown)}.`);
    },
  },
];

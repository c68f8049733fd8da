import { entries } from './entries.mjs';

export default {
  // Nothing imports the examples, the type tests and what tests run as a process: tsx runs the ones, tsc reads the others.
  entry: [
    ...entries.map(({ source }) => source),
    'examples/*.ts',
    'bench/*.ts',
    'test/types/*.ts',
    'test/support/*-child.ts',
    'test/support/session-worker.ts',
  ],
  project: ['{src,test,demo,examples,bench}/**/*.ts', '*.{ts,js,mjs}'],
  // Types that a signature names are exported so that declarations and documentation can name them too.
  ignoreExportsUsedInFile: { interface: true, type: true },
};

import { entries } from './entries.mjs';

export default {
  // Nothing imports the examples and the type tests: tsx runs the ones, tsc reads the others.
  entry: [...entries.map(({ source }) => source), 'examples/*.ts', 'test/types/*.ts'],
  project: ['{src,test,demo,examples,bench}/**/*.ts', '*.{ts,js,mjs}'],
  // Types that a signature names are exported so that declarations and documentation can name them too.
  ignoreExportsUsedInFile: { interface: true, type: true },
};

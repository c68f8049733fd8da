import { defineConfig, type Options } from 'tsup';
import { entries } from './entries.mjs';

const shared: Options = {
  entry: Object.fromEntries(entries.map(({ name, source }) => [name, source])),
  target: 'es2022',
  platform: 'neutral',
};

const code: Options = {
  ...shared,
  // Without shared chunks each CommonJS entry would have its own CompactionError, and `instanceof` would fail between entries.
  splitting: true,
  treeshake: true,
  sourcemap: true,
  // The sources are in the package.
  esbuildOptions: (options) => {
    options.sourcesContent = false;
  },
};

// Jest refuses `import()` in CommonJS, so what is loaded on demand is required on demand.
const requireOnDemand: NonNullable<Options['plugins']>[number] = {
  name: 'require-on-demand',
  renderChunk: (text) => ({ code: text.replace(/\bimport\(("[^"]+")\)/g, 'Promise.resolve().then(() => require($1))') }),
};

export default defineConfig([
  { ...code, format: 'esm' },
  // p-retry and its one dependency are ESM only, so `require` of them fails in Jest and in older bundlers.
  { ...code, format: 'cjs', noExternal: ['p-retry', 'is-network-error'], plugins: [requireOnDemand] },
  // The types of both formats are the same: made here, they are computed once.
  { ...shared, format: ['esm', 'cjs'], dts: { only: true } },
]);

import { readFileSync, writeFileSync } from 'node:fs';
import { entries } from './entries.mjs';

// Writes the public entries of tsconfig.json to the two files that need them in a form of their own.

/** @param {string} file @param {(content: Record<string, unknown>) => Record<string, unknown>} change */
function rewrite(file, change) {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, `${JSON.stringify({ ...content, ...change(content) }, null, 2)}\n`);
}

const exports = entries.map(({ specifier, name }) => [
  specifier.replace('context-compactor', '.'),
  {
    import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
    require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
  },
]);

rewrite('package.json', () => ({ exports: { ...Object.fromEntries(exports), './package.json': './package.json' } }));
rewrite('typedoc.json', () => ({ entryPoints: entries.map(({ source }) => source) }));

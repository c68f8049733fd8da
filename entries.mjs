import { readFileSync } from 'node:fs';

// The public entries are listed once, as `paths` of tsconfig.json, because TypeScript and tsx read them there. The build, the tests
// and the documentation take them from here; test/package.test.ts compares `exports` of package.json with them.
const { compilerOptions } = JSON.parse(readFileSync(new URL('tsconfig.json', import.meta.url), 'utf8'));

/** @type {{ specifier: string, name: string, source: string }[]} for instance `context-compactor/anthropic`, `anthropic`, `src/adapters/anthropic.ts` */
export const entries = Object.entries(compilerOptions.paths).map(([specifier, [source]]) => ({
  specifier,
  name: specifier.split('/')[1] ?? 'index',
  source: source.replace(/^\.\//, ''),
}));

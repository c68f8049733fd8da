import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { entries } from './entries.mjs';

// Set by .ci/run: where the counts of passed, failed and skipped tests go.
const report = process.env.VITEST_REPORT;

export default defineConfig(({ mode }) => ({
  resolve: {
    alias: entries.map(({ specifier, source }) => ({
      find: new RegExp(`^${specifier}$`),
      replacement: fileURLToPath(new URL(source, import.meta.url)),
    })),
  },
  test: {
    projects: [
      { extends: true, mode, test: { name: 'node', include: ['test/**/*.test.ts'], exclude: ['test/realm/**'] } },
      { extends: true, mode, test: { name: 'realm', include: ['test/realm/**/*.test.ts'], pool: 'vmThreads' } },
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
}));

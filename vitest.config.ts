import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^context-compactor$/, replacement: source('index.ts') },
      { find: 'context-compactor/openai-chat', replacement: source('adapters/openai-chat.ts') },
      { find: 'context-compactor/anthropic', replacement: source('adapters/anthropic.ts') },
      { find: 'context-compactor/extractive', replacement: source('summarize/extractive.ts') },
      { find: 'context-compactor/tokenizer', replacement: source('budget/tokenizer.ts') },
      { find: 'context-compactor/testing', replacement: source('testing/index.ts') },
    ],
  },
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, typecheck: { enabled: false } },
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { jsonlStore } from '../../../src/session/stores/jsonl-store.ts';
import { memoryStore } from '../../../src/session/stores/memory-store.ts';
import { storeConformance } from '../../../src/testing/store-conformance.ts';

const directory = mkdtempSync(join(tmpdir(), 'conformance-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('memoryStore', () => {
  const store = memoryStore();
  storeConformance(() => store, { test: it });
});

describe('jsonlStore', () => {
  storeConformance(() => jsonlStore({ directory }), { test: it });
});

describe('jsonlStore that syncs batches', () => {
  storeConformance(() => jsonlStore({ directory, sync: 'batch' }), { test: it });
});

import fc from 'fast-check';
import { describe, it } from 'vitest';
import { chooseFromList } from '../../src/testing/choose.ts';
import { openaiCodexKit } from '../../src/testing/kits/openai-codex.ts';
import { openaiResponsesKit } from '../../src/testing/kits/openai-responses.ts';
import { runConversation } from '../support/kit-run.ts';

describe.each([openaiResponsesKit, openaiCodexKit])('any conversation of $name', (kit) => {
  it('is compacted, goes on, and everything that is sent is valid', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 20, maxLength: 120 }), (numbers) =>
        runConversation(kit, chooseFromList(numbers)),
      ),
      { numRuns: 1000 },
    );
  }, 60_000);
});

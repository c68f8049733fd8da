// Proves an adapter of your own: say how your provider's requests, replies and errors are made and what it refuses. The adapter of the
// made-up provider is in support/parrot-adapter.ts. In a test file, `adapterConformance(kit, { test })` registers the same cases.
import { adapterConformance, type ProviderKit } from 'context-compactor/testing';
import { type Line, parrotAdapter, type Squawk, type Talk } from './support/parrot-adapter.ts';

const endings = { stop: 'well', length: 'early', 'tool-calls': 'asking', refusal: 'unwilling' } as const;
const errors = { overflow: 'too much talk', 'rate-limit': 'asleep', overloaded: 'asleep', connection: 'gone' };

const kit: ProviderKit<Talk, Line, Squawk> = {
  name: 'parrot',
  endings: ['stop', 'length', 'tool-calls', 'refusal', 'cut'],
  adapter: parrotAdapter(),
  request: (lines, { system = 'Be exact.', tools = true, outputCap = 1000 } = {}) => ({
    ...(system && { persona: system }),
    ...(tools && { abilities: ['read', 'write'] }),
    limit: outputCap,
    lines,
  }),
  validate: ({ lines }) =>
    lines.flatMap(({ who, key }, index) => {
      const asked = lines.slice(0, index).some(({ use }) => use?.some((one) => one.key === key));
      if (who !== 'ability' || asked) return [];
      return [{ rule: 'unasked', path: `lines[${index}]`, message: `Expected a use with the key ${key}.` }];
    }),
  reply: ({ text, calls = [], ending = calls.length > 0 ? 'tool-calls' : 'stop', usage }) => ({
    line: {
      who: 'parrot',
      ...(text && { say: text }),
      ...(calls.length > 0 && { use: calls.map(({ id, name, input }) => ({ key: id, ability: name, with: input })) }),
    },
    ...(ending in endings && { ended: Reflect.get(endings, ending) }),
    ...(usage && { read: usage.inputTokens, wrote: usage.outputTokens }),
  }),
  error: (script) => new Error(script in errors ? Reflect.get(errors, script) : 'no such bird'),
};

for (const { name, run } of adapterConformance(kit)) await run().then(() => console.log(`ok  ${name}`));

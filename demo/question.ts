import { contextBudget } from 'context-compactor';
import { runTool } from './tools.ts';

export const systemPrompt = `You are a careful engineer who answers questions about the repository you are in.
Use the tools to look at the files; never guess. Whenever you find a fact that the answer needs, state it at once in a line of its own
that begins with "Noted:", because older tool results may be summarized away. Call tools until you have all you need, then answer.`;

export const question = `Three things about this repository, please:
1. Which file defines the function "contextBudget"?
2. How many tokens is its smallest safety margin?
3. Does the test file of that very file pass (src/x/y.ts is tested by test/x/y.test.ts), and with how many tests?

Find these out first. Then read the larger files of src as well, in case one of them says otherwise, and answer in one line each.`;

/** The test file that mirrors a source file. */
export function testOf(sourceFile: string): string {
  return sourceFile.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');
}

/** Finds the facts without the agent: by the same tools and by calling the function itself. Each must stand in a right answer. */
export async function findExpectedFacts(): Promise<string[]> {
  const { text } = await runTool('grep', { text: 'export function contextBudget', path: 'src' });
  const file = text.slice(0, text.indexOf(':'));
  const smallWindow = 10_000;
  const margin = smallWindow - contextBudget({ contextWindow: smallWindow }).inputBudget;
  const outcome = (await runTool('run_test', { path: testOf(file) })).text;
  const [, passed = '', failed = ''] = /(\d+) passed, (\d+) failed/.exec(outcome) ?? [];
  return [file, String(margin), failed === '0' ? 'pass' : 'fail', passed];
}

/** True when the answer holds every fact as a word or number of its own, however its numbers are written. */
export function isCorrect(answer: string, facts: readonly string[]): boolean {
  const plain = answer.replace(/(\d)[_,](?=\d{3})/g, '$1');
  return facts.every((fact) =>
    /^\d+$/.test(fact) ? plain.match(/\d+/g)?.includes(fact) === true : fact !== '' && plain.includes(fact),
  );
}

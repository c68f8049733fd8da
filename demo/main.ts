import { parseArgs } from 'node:util';
import { findExpectedFacts } from './question.ts';
import { anthropic, type DemoRun, type Facts, openai, runLive, runScripted } from './run.ts';
import { createTerminal, type Terminal } from './terminal.ts';

const help = `A small agent with real tools explores this repository in a window that is far too small for it.

npm run demo                          with a scripted model, once for each provider
npm run demo -- --live                with the real provider: needs OPENAI_API_KEY or ANTHROPIC_API_KEY;
                                      OPENAI_BASE_URL, OPENAI_MODEL, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL are optional
npm run demo -- --verbose             shows each step of the second provider's run too
npm run --silent demo -- --json       prints the figures as JSON, in the last line
`;

const { values: given } = parseArgs({
  options: { live: { type: 'boolean' }, json: { type: 'boolean' }, verbose: { type: 'boolean' }, help: { type: 'boolean' } },
});

if (given.help) process.stdout.write(help);
else process.exitCode = await main();

async function main(): Promise<number> {
  const terminal = given.json ? undefined : createTerminal(process.stdout, process.env, given.verbose);
  if (given.live && !process.env.OPENAI_API_KEY && !process.env.ANTHROPIC_API_KEY) {
    process.stderr.write('--live needs OPENAI_API_KEY or ANTHROPIC_API_KEY\n');
    return 2;
  }
  terminal?.introduction(!given.live);
  const facts = findExpectedFacts();
  const runs = given.live ? await runAllLive(facts, terminal) : await runAllScripted(facts, terminal);
  terminal?.summary(runs);
  if (given.json) process.stdout.write(`${JSON.stringify({ runs })}\n`);
  return runs.every((run) => run.answerCorrect && run.invalidRequests === 0) ? 0 : 1;
}

async function runAllScripted(facts: Facts, terminal?: Terminal): Promise<DemoRun[]> {
  return [await runScripted(openai, facts, terminal), await runScripted(anthropic, facts, terminal)];
}

async function runAllLive(facts: Facts, terminal?: Terminal): Promise<DemoRun[]> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL } = process.env;
  const runs: DemoRun[] = [];
  if (OPENAI_API_KEY) {
    const baseURL = OPENAI_BASE_URL || 'https://api.openai.com/v1';
    runs.push(await runLive(openai, { baseURL, apiKey: OPENAI_API_KEY, model: OPENAI_MODEL || 'gpt-4.1-mini' }, facts, terminal));
  }
  if (ANTHROPIC_API_KEY) {
    const baseURL = ANTHROPIC_BASE_URL || 'https://api.anthropic.com';
    const model = ANTHROPIC_MODEL || 'claude-haiku-4-5';
    runs.push(await runLive(anthropic, { baseURL, apiKey: ANTHROPIC_API_KEY, model }, facts, terminal));
  }
  return runs;
}

import { parseArgs } from 'node:util';
import { type LiveAccess, type Provider, providers } from './providers.ts';
import { findExpectedFacts } from './question.ts';
import { type DemoRun, runLive, runScripted } from './run.ts';
import { createTerminal } from './terminal.ts';

const help = `A small agent with real tools explores this repository in a window that is far too small for it.

npm run demo                          with a scripted model, once for each provider
npm run demo -- --provider NAME       for this provider only; may be given several times
npm run demo -- --live                with a real model: needs OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY;
                                      OPENAI_BASE_URL, OPENAI_MODEL and the like are optional
npm run demo -- --verbose             shows each step of every run, not of the first alone
npm run --silent demo -- --json       prints the figures as JSON, in the last line
`;

const { values: given } = parseArgs({
  options: {
    provider: { type: 'string', multiple: true },
    live: { type: 'boolean' },
    json: { type: 'boolean' },
    verbose: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

if (given.help) process.stdout.write(help);
else process.exitCode = await main();

async function main(): Promise<number> {
  const unknown = given.provider?.find((name) => !providers.some((provider) => provider.name === name));
  if (unknown !== undefined)
    return fail(`there is no provider ${unknown}; there are ${providers.map(({ name }) => name).join(', ')}`);
  const wanted = providers.filter(({ name }) => given.provider?.includes(name) ?? true);
  const chosen = given.live ? wanted.filter(isLive) : wanted;
  if (chosen.length === 0) return fail('--live needs OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY');

  const terminal = given.json ? undefined : createTerminal(process.stdout, process.env, given.verbose);
  terminal?.introduce(!given.live);
  const facts = findExpectedFacts();
  const runs: DemoRun[] = [];
  for (const provider of chosen) {
    const { live } = provider;
    runs.push(
      given.live && live
        ? await runLive(provider, accessOf(live), facts, terminal)
        : await runScripted(provider, facts, terminal),
    );
  }
  terminal?.conclude(runs);
  if (given.json) process.stdout.write(`${JSON.stringify({ runs })}\n`);
  return runs.every((run) => run.answerCorrect && run.invalidRequests === 0) ? 0 : 1;
}

function fail(reason: string): number {
  process.stderr.write(`${reason}\n`);
  return 2;
}

/** True where there is a key. Without names, each key serves the first provider that it opens. */
function isLive({ live }: Provider, index: number, wanted: readonly Provider[]): boolean {
  if (!live || !process.env[`${live.prefix}_API_KEY`]) return false;
  return given.provider !== undefined || wanted.findIndex((other) => other.live === live) === index;
}

function accessOf({ prefix, baseURL, model }: LiveAccess) {
  const { [`${prefix}_API_KEY`]: apiKey = '', [`${prefix}_BASE_URL`]: base, [`${prefix}_MODEL`]: name } = process.env;
  return { apiKey, baseURL: base || baseURL, model: name || model };
}

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { startModelServer } from '../demo/proxy/model-server.ts';
import { startRecordingProxy } from '../demo/proxy/recording-proxy.ts';
import type { RequestRecord } from '../demo/proxy/request-record.ts';
import { isCorrect } from '../demo/question.ts';
import { contextWindow, type DemoRun } from '../demo/run.ts';
import { createScriptedModel } from '../demo/script.ts';
import { createTerminal } from '../demo/terminal.ts';
import { repository, runTool } from '../demo/tools.ts';

/** Each provider, and in which format its requests go out. */
const wires = {
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai-responses',
  'openai-codex': 'openai-codex',
  anthropic: 'anthropic',
  bedrock: 'bedrock',
  'google-genai': 'google-genai',
  genkit: 'openai-chat',
  'ai-sdk': 'anthropic',
  langchain: 'openai-chat',
} as const;
const providers = Object.keys(wires) as (keyof typeof wires)[]; // Object.keys forgets the key type

/** Milliseconds. The demo runs test files in processes of their own, and those may have to share a busy machine. */
const timeout = 240_000;

interface Outcome {
  code: number | null;
  output: string;
  errors: string;
}

/** Runs the demo as its users do, in a process of its own, without keys but for those that are given. */
function runDemo(parameters: string[], keys: Record<string, string> = {}): Promise<Outcome> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|NODE_ENV$|OPENAI_|ANTHROPIC_|GEMINI_|GOOGLE_)/.test(name),
  );
  const program = join(repository, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, 'demo/main.ts', ...parameters], {
      cwd: repository,
      env: { ...Object.fromEntries(inherited), ...keys },
    });
    const outcome: Outcome = { code: null, output: '', errors: '' };
    child.stdout.on('data', (chunk) => (outcome.output += chunk));
    child.stderr.on('data', (chunk) => (outcome.errors += chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...outcome, code }));
  });
}

function readRuns({ output, errors }: Outcome): DemoRun[] {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  expect(last, errors).toMatch(/^\{"runs":/);
  return JSON.parse(last).runs;
}

/** What every run must show, with a scripted model and with a real one that behaves like it. */
function expectRun(run: DemoRun | undefined, provider: keyof typeof wires): void {
  expect(run).toMatchObject({
    provider,
    wire: wires[provider],
    contextWindow,
    overBudgetRequests: 0,
    invalidRequests: 0,
    latestUserMessageVerbatim: true,
    answerCorrect: true,
  });
  const { compactions, summaryRequests, inputBudget, threshold, steps, toolTurns } = run!;
  expect(compactions).toBeGreaterThanOrEqual(3);
  expect(summaryRequests).toBeGreaterThanOrEqual(compactions);
  expect(run!.prefixReuse).toEqual(Array(summaryRequests).fill(1));
  expect(run!.tokensWithoutCompaction).toBeGreaterThanOrEqual(3 * inputBudget);
  expect(run!.peakTokens).toBeLessThanOrEqual(inputBudget);
  expect(run!.finalTokens).toBeLessThanOrEqual(run!.peakTokens);
  expect(threshold).toBeLessThan(inputBudget);
  expect(toolTurns).toBe(steps - 1);
  expect(steps).toBeGreaterThanOrEqual(25);
}

describe('the demo with a scripted model', () => {
  let outcome: Outcome;
  let plain: Outcome;
  beforeAll(async () => {
    [outcome, plain] = await Promise.all([runDemo(['--json']), runDemo(['--provider', 'genkit', '--provider', 'openai-chat'])]);
  }, timeout);

  it('ends well', () => {
    expect(outcome.errors).toBe('');
    expect(outcome.code).toBe(0);
  });

  it.each(providers)('compacts several times and still answers from the beginning: %s', (provider) => {
    expectRun(
      readRuns(outcome).find((run) => run.provider === provider),
      provider,
    );
  });

  it('has one run for each provider', () => {
    expect(readRuns(outcome).map((run) => run.provider)).toEqual(providers);
  });

  it('says first what is scripted and what the signs mean', () => {
    const [beginning = ''] = plain.output.split('openai-chat (');
    expect(beginning).toMatch(/^Scripted: .*final answer is made only from text in the last request/);
    expect(beginning).toContain('| is the threshold');
    expect(beginning).toContain('may use the safety margin');
    expect(plain.output).toMatch(/\nprefix reused: how much of the turn request/);
  });

  it('shows the beginning of the first summary, once', () => {
    expect(plain.output.match(/^ {4}│ ## Goal$/gm)).toHaveLength(1);
    const shown = plain.output.match(/^ {4}│ .*$/gm) ?? [];
    expect(shown).toHaveLength(13);
    expect(shown.at(-1)).toMatch(/│ … \d+ more lines/);
  });

  it('shows the first run step by step and of each other a row, without colours where there is no terminal', () => {
    const { code, output } = plain;
    expect(code).toBe(0);
    expect(output.match(/^ +\d+ \[[█|·]{32}\] +[\d,]+ \/ [\d,]+ {2}\S/gm)?.length).toBe(readRuns(outcome)[0]!.steps);
    expect(output.match(/compaction started at [\d,]+ tokens/g)?.length).toBeGreaterThanOrEqual(3);
    expect(output.match(/compaction applied: [\d,]+ -> [\d,]+ tokens/g)?.length).toBeGreaterThanOrEqual(3);
    expect(output.match(/^1\. contextBudget is defined in src\//gm)?.length).toBe(1);
    expect(output.match(/^(openai-chat|genkit \(openai-chat\)) +\d+ .* 100% +verbatim +correct$/gm)).toHaveLength(2);
    expect(output).not.toContain('\u001b');
  });

  it('knows no other provider', async () => {
    const { code, errors } = await runDemo(['--provider', 'eliza']);
    expect(code).toBe(2);
    expect(errors).toContain('there is no provider eliza; there are openai-chat, ');
  });
});

describe('the demo with a live model', () => {
  const provided = [
    { provider: 'openai-chat', prefix: 'OPENAI', path: '/v1' },
    { provider: 'anthropic', prefix: 'ANTHROPIC', path: '' },
    { provider: 'google-genai', prefix: 'GEMINI', path: '' },
  ] as const;

  it.each(provided)('talks to the base URL that it is given: $provider', { timeout }, async ({ provider, prefix, path }) => {
    const model = await startModelServer(createScriptedModel());
    const proxy = await startRecordingProxy({ upstream: model.url, contextWindow });
    try {
      const keys = { [`${prefix}_API_KEY`]: 'test', [`${prefix}_BASE_URL`]: proxy.url + path };
      const outcome = await runDemo(['--live', '--json'], keys);
      const runs = readRuns(outcome);
      expect(runs).toHaveLength(1);
      expectRun(runs[0], provider);
      expect(outcome.code).toBe(0);
      expect(proxy.records.filter((record) => record.purpose === 'summary')).toHaveLength(runs[0]!.summaryRequests);
      expectFactsOnlyInSummary(proxy.records);
    } finally {
      await proxy.close();
      await model.close();
    }
  });

  it('says what is missing when there is no key', async () => {
    const { code, errors } = await runDemo(['--live']);
    expect(code).toBe(2);
    expect(errors).toContain('OPENAI_API_KEY');
  });
});

/** The notes were made before the first compaction, and the last request has them in the replacement alone. */
function expectFactsOnlyInSummary(records: readonly RequestRecord[]): void {
  const note = 'Noted: the test test/';
  const firstNote = records.findIndex((record) => record.blocks.some((block) => block.includes(note)));
  const firstSummary = records.findIndex((record) => record.purpose === 'summary');
  expect(firstNote).toBeGreaterThan(-1);
  expect(firstNote).toBeLessThan(firstSummary);

  const last = records.at(-1)!;
  const replacement = last.userTexts[0]!.join('');
  expect(replacement).toMatch(/the test test\/\S+ passed: \d+ passed, 0 failed/);
  const others = last.blocks.filter((block) => !/^\["user",\{("type":"text",)?"text"/.test(block));
  expect(others.join('\n')).not.toMatch(/\d+ passed, 0 failed/);
}

describe('the answer', () => {
  it('is right only with every fact, whole', () => {
    const facts = ['src/a.ts', '4096', 'pass', '12'];
    expect(isCorrect('src/a.ts, 4,096 tokens, passed (12 tests)', facts)).toBe(true);
    expect(isCorrect('src/a.ts, 4_096 tokens, passed (112 tests)', facts)).toBe(false);
    expect(isCorrect('src/b.ts, 4096 tokens, passed (12 tests)', facts)).toBe(false);
    expect(isCorrect('', facts)).toBe(false);
    expect(isCorrect('anything', [''])).toBe(false);
  });

  it('is made only from the notes in the request that the model received', () => {
    const decide = createScriptedModel();
    const reply = () => decide({ all: 'Noted: contextBudget is defined in src/else.ts.', lastResults: [], tools: [] });
    let last = reply();
    while (last.calls.length > 0) last = reply();
    expect(last.text).toBe(
      '1. contextBudget is defined in src/else.ts.\n2. Its smallest safety margin is unknown tokens.\n3. unknown.',
    );
  });
});

describe('the scripted model', () => {
  const received = { all: '', lastResults: ['src/a.ts:1: export function contextBudget'], tools: [] };

  it.each([false, true])('notes a fact with a tool where it has one for that: %s', (hasTool) => {
    const decide = createScriptedModel();
    const reply = () => decide({ ...received, tools: hasTool ? ['list', 'note'] : ['list'] });
    const { text, calls } = [reply(), reply(), reply()].at(-1)!;
    const fact = 'Noted: contextBudget is defined in src/a.ts.';
    expect(text).toBe(hasTool ? '' : fact);
    expect(calls.map(({ name, input }) => [name, input.text])).toEqual([
      ['grep', 'margin'],
      ...(hasTool ? [['note', fact]] : []),
    ]);
  });
});

describe('the terminal', () => {
  const step = { number: 1, tokens: 7500, inputBudget: 8192, threshold: 7373, calls: [] };
  const run: DemoRun = {
    provider: 'genkit',
    wire: 'openai-chat',
    contextWindow,
    inputBudget: 8192,
    threshold: 7373,
    steps: 1,
    toolTurns: 0,
    compactions: 1,
    summaryRequests: 2,
    peakTokens: 7500,
    finalTokens: 7500,
    tokensWithoutCompaction: 39_000,
    overBudgetRequests: 0,
    invalidRequests: 0,
    prefixReuse: [1, 0.9789],
    latestUserMessageVerbatim: true,
    answerCorrect: true,
  };
  const show = (isTTY: boolean, environment: NodeJS.ProcessEnv): string => {
    const output = Object.assign(new PassThrough(), { isTTY });
    createTerminal(output, environment).step(step);
    return String(output.read());
  };

  it('has colours only where there is a terminal that wants them', () => {
    expect(show(true, {})).toContain('\u001b[31m');
    expect(show(true, { NO_COLOR: '1' })).not.toContain('\u001b');
    expect(show(false, {})).not.toContain('\u001b');
  });

  it.each([false, true])('shows the steps of a second run only where it is verbose: %s', (isVerbose) => {
    const output = new PassThrough();
    const terminal = createTerminal(output, {}, isVerbose);
    for (const name of ['openai-chat', 'genkit'] as const) {
      terminal.begin({ name, client: 'a client' }, { model: 'scripted', ...run });
      terminal.step(step);
      terminal.end(run, 'Room 14.');
    }
    terminal.conclude([run, run]);
    const shown = String(output.read());
    const count = (text: string) => shown.split(text).length - 1;
    expect(count('7,500 / 8,192')).toBe(isVerbose ? 2 : 1);
    expect(count('Room 14.')).toBe(isVerbose ? 2 : 1);
    expect(count('provider (on the wire)')).toBe(1);
    expect(count('genkit (openai-chat)')).toBe(2);
    expect(count(' 97% ')).toBe(2);
  });

  it('draws the threshold, the size and what comes next', () => {
    expect(show(false, {})).toBe(`  1 [${'█'.repeat(29)}···]   7,500 / 8,192  answer\n`);
    expect(show(true, { NO_COLOR: '1' })).toBe(show(false, {}));
  });
});

describe('the tools of the demo', () => {
  it.each(['..', '/etc/passwd', '.git/config', 'src/../../..', 'node_modules/zod/package.json'])(
    'stay inside the repository: %s',
    async (path) => {
      for (const name of ['list', 'read', 'grep', 'run_test'])
        expect(await runTool(name, { path, text: 'a' })).toMatchObject({ isError: true });
    },
  );

  it('return no more than a few thousand characters', async () => {
    const { text } = await runTool('grep', { text: 'e', path: 'src' });
    expect(text.length).toBeLessThan(4000);
    expect(text).toMatch(/\[\d+ more lines\]$/);
  });

  it('tell the model what went wrong', async () => {
    expect(await runTool('dance', {})).toEqual({
      text: 'Error: there is no tool dance; there are list, read, grep, run_test',
      isError: true,
    });
    expect(await runTool('read', {})).toMatchObject({ isError: true, text: expect.stringContaining('path') });
    expect(await runTool('run_test', { path: 'src/index.ts' })).toMatchObject({ isError: true });
  });
});

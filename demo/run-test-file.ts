import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the JSON reporter of vitest writes, as far as it is read here. */
interface TestReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { message: string; assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[];
}

const timeout = 60_000;

/** Outcomes by file. The files stay as they are while the demo runs, so that none need run twice. */
const outcomes = new Map<string, Promise<string>>();

/** Runs one test file with vitest and reports in words, without times: the same outcome gives the same text. */
export async function runTestFile(repository: string, file: string): Promise<string> {
  if (!/^test\/.+\.test\.ts$/.test(file)) throw new Error(`${file} is no test file; they are named test/….test.ts`);
  // It would start this demo again.
  if (file === 'test/demo.test.ts') throw new Error('the test of the demo cannot be run from the demo');
  const outcome = outcomes.get(file) ?? runOnce(repository, file);
  outcomes.set(file, outcome);
  return outcome;
}

async function runOnce(repository: string, file: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'demo-test-'));
  const reportFile = join(folder, 'report.json');
  try {
    await runVitest(repository, [file, '--reporter=json', `--outputFile=${reportFile}`]);
    if (!existsSync(reportFile)) throw new Error(`${file} could not be run`);
    // The shape is vitest's own.
    return describeReport(file, JSON.parse(readFileSync(reportFile, 'utf8')) as TestReport);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when vitest ends, whether its tests passed or not. */
function runVitest(repository: string, parameters: string[]): Promise<void> {
  const program = join(repository, 'node_modules', 'vitest', 'vitest.mjs');
  // A run that was itself started by vitest must not hand its settings on.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$|TEST$|FORCE_COLOR$)/.test(name)),
  );
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, 'run', ...parameters], { cwd: repository, env, stdio: 'ignore', timeout });
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

function describeReport(file: string, report: TestReport): string {
  const verdict = report.numFailedTests === 0 && report.numPassedTests > 0 ? 'passed' : 'FAILED';
  const tests = report.testResults.flatMap((result) => result.assertionResults);
  return [
    `${file} ${verdict}: ${report.numPassedTests} passed, ${report.numFailedTests} failed`,
    ...tests.map(
      (test) => `- ${test.status}: ${test.fullName}${test.failureMessages.map((text) => `\n${text.split('\n')[0]}`).join('')}`,
    ),
    ...report.testResults.map((result) => result.message).filter(Boolean),
  ].join('\n');
}

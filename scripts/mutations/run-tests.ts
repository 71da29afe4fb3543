import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';

/** Where tests are run. */
export interface Runner {
  tree: string;
  /** A command before each run of tests, such as one that queues on a shared machine. */
  through: readonly string[];
  /** Number of test files that run at a time. */
  workers: string;
}

/**
 * The first failure of a run. `file` is empty if no file failed: the run did not start, did not end, or an error was
 * not caught.
 */
export interface Failure {
  file: string;
  test: string;
  message: string;
}

/** Result of a run. If it fails without naming a file, all of its files have failed. */
export interface TestRun {
  failed: string[];
  failure: Failure | null;
}

const millisecondsToStart = 120_000;
const millisecondsPerFile = 60_000;

const vitest = (tree: string) => join(tree, 'node_modules/vitest/vitest.mjs');

function environmentOf(tree: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: [join(tree, 'node_modules/.bin'), process.env.PATH].join(delimiter) };
}

/** The test files of a project of vitest. */
export function testFiles({ tree }: Runner, project: string): string[] {
  const args = [vitest(tree), 'list', '--filesOnly', '--json', '--project', project];
  const output = execFileSync(process.execPath, args, { cwd: tree, env: environmentOf(tree), encoding: 'utf8' });
  const files = JSON.parse(output.slice(output.indexOf('['))) as { file: string }[];
  return [...new Set(files.map(({ file }) => relative(tree, file)))].sort();
}

/** Runs vitest to its end, or until it takes too long. The time begins with its first output. */
function vitestRun({ tree, through }: Runner, args: readonly string[], limitMs: number) {
  const [program, ...rest] = [...through, process.execPath, vitest(tree), 'run', ...args];
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const child = spawn(program!, rest, { cwd: tree, env: environmentOf(tree), detached: true, stdio });
  let output = '';
  let isLate = false;
  let timers: NodeJS.Timeout[] = [];
  const end = (signal: NodeJS.Signals) => {
    isLate = true;
    process.kill(-child.pid!, signal);
  };
  const hear = (text: Buffer) => {
    if (output === '') timers = [setTimeout(end, limitMs, 'SIGINT'), setTimeout(end, limitMs + 20_000, 'SIGKILL')];
    output = (output + text.toString()).slice(-2000);
  };
  const endWithThis = () => end('SIGINT');
  process.once('exit', endWithThis);
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return new Promise<{ code: number | null; output: string; isLate: boolean }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      for (const timer of timers) clearTimeout(timer);
      process.off('exit', endWithThis);
      resolve({ code, output, isLate });
    });
  });
}

interface Report {
  testResults: {
    name: string;
    status: 'passed' | 'failed';
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

function failureOf(tree: string, { name, message, assertionResults }: Report['testResults'][number]): Failure {
  const failed = assertionResults.find(({ status }) => status === 'failed');
  const [line = ''] = (failed?.failureMessages[0] ?? message).split('\n');
  return { file: relative(tree, name), test: failed?.fullName ?? '(the file)', message: line };
}

/** Runs test files of a project. */
export async function runTests(
  runner: Runner,
  project: string,
  files: readonly string[],
  options: readonly string[],
): Promise<TestRun> {
  const { tree, workers } = runner;
  const reportFile = join(tree, '../report.json');
  rmSync(reportFile, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const args = [...files, '--project', project, '--maxWorkers', workers, ...reporters, ...options];
  const limitMs = millisecondsToStart + files.length * millisecondsPerFile;
  const { code, output, isLate } = await vitestRun(runner, args, limitMs);
  const whole = (test: string): TestRun => ({ failed: [...files], failure: { file: '', test, message: output } });
  if (isLate) return whole('the run does not end');
  if (!existsSync(reportFile)) return whole('the run does not start');
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  const failed = testResults.filter(({ status }) => status === 'failed');
  if (failed.length > 0)
    return { failed: failed.map(({ name }) => relative(tree, name)), failure: failureOf(tree, failed[0]!) };
  if (code !== 0) return whole('an error is not caught');
  return { failed: [], failure: null };
}

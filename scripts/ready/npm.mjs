import { spawn } from 'node:child_process';
import { basename, delimiter, dirname } from 'node:path';
import { skippedPackages } from './packages.mjs';

const isWindows = process.platform === 'win32';

/** An error for users: its message is the cause, then the remedy. */
export class NotReady extends Error {
  /** Exit code of npm if it failed; null if it did not run, or was stopped before it could undo its changes. */
  npmStatus = null;

  constructor(message, npmStatus = null) {
    super(message);
    this.npmStatus = npmStatus;
  }
}

const children = new Set();
let stoppedBy = null;

/** Passes signals on to every npm, so that none continues without the lock. Their steps fail when they have ended. */
export function stopWithSignals() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      stoppedBy = signal;
      for (const child of children) child.kill(signal);
    });
}

/** Throws once a signal has come. */
export function checkNotStopped() {
  if (stoppedBy !== null) throw new NotReady(`stopped by ${stoppedBy}. Run the same command again.`);
}

/** Runs npm on `node` and returns its status, null when it was killed, and what it printed. */
async function npm(args, cwd, node) {
  checkNotStopped();
  // npm itself tells its scripts where it is; by hand it is found on the path.
  const script = process.env.npm_execpath;
  const isNpm = script !== undefined && basename(script).startsWith('npm-cli');
  const [program, programArgs] = isNpm ? [node, [script, ...args]] : ['npm', args];
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const child = spawn(program, programArgs, {
    cwd,
    env,
    shell: !isNpm && isWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  try {
    const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
    checkNotStopped();
    return { status, output };
  } catch (error) {
    if (error.code === 'ENOENT')
      throw new NotReady('npm was not found. Install npm 10 or later, or put it on the PATH.');
    throw error;
  } finally {
    children.delete(child);
  }
}

// Marks of npm's output if it got no answer.
const noAnswer =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|E\w+TIMEOUT|network timeout|request-timeout|ENOTCACHED)\b/;

// A host that does not answer is given 7 s, twice; npm alone would try for minutes.
const pingOptions = [
  '--fetch-timeout=7000',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=500',
  '--fetch-retry-maxtimeout=500',
];

/** Why no package registry answers; null when one does, with whatever status. Uses npm's own proxies and settings. */
async function registryProblem(cwd) {
  const { status, output } = await npm(['ping', ...pingOptions], cwd, process.execPath);
  const [code] = (status !== 0 && noAnswer.exec(output)) || [];
  if (!code) return null;
  const [, address] = /npm notice PING (\S+)/.exec(output) ?? [];
  return { code, address };
}

const causes = [
  [/\bENOSPC\b/, 'the disk is full', 'Free space on it'],
  [/\b(EACCES|EPERM|EROFS)\b/, 'a file cannot be written', 'Give this user the right to write here'],
  [/\b(E401|E403)\b/, 'the package registry does not let you in', 'Check the credentials in .npmrc'],
  [/\bEINTEGRITY\b/, 'a package is not what the lock file says', 'Run npm cache clean --force'],
  [/\bEUSAGE\b/, 'package.json and package-lock.json do not agree', 'Take both from one commit'],
  [noAnswer, 'the connection to the package registry broke', 'Check the network'],
];

/** npm's own words, without the advice that follows each failure. */
function npmErrors(output) {
  const lines = output.split('\n').filter((line) => /^npm (error|ERR!)/.test(line));
  const own = lines.filter(
    (line) => !/A complete log of this run|behind a proxy|^npm (error|ERR!)( network)?\s*$/.test(line),
  );
  return own.length > 0 ? own.slice(0, 12) : output.trim().split('\n').slice(-12);
}

/** The message of a failed npm: what went wrong, what it said, and what to do. */
function failure(what, output) {
  const [, cause, advice] = causes.find(([pattern]) => pattern.test(output)) ?? [];
  return [
    `${what} failed${cause ? `: ${cause}` : ''}.`,
    ...npmErrors(output).map((line) => `  ${line}`),
    `${advice ?? `Run ${what} to see more`}, then run the same command again.`,
  ].join('\n');
}

function nobodyAnswers({ code, address }) {
  const at = address ? ` at ${address}` : '';
  return [
    `no package registry answers${at} (${code}), and npm's cache does not hold every package.`,
    'Check the network, the proxy, and the registry that npm is set to (npm config get registry).',
    'Then run the same command again.',
  ].join('\n');
}

const notDownloaded = (skipped) =>
  `npm could not download ${skipped.join(', ')}, which this machine needs.\nCheck the network, then run the same command again.`;

// Only what is worth reading when it fails. A download that has begun may be slow.
const quiet = [
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
];

/**
 * A way to run npm's installing commands, on this Node unless another is named: npm leaves out optional packages that
 * are not for the Node it runs on. Whether a registry answers is asked once; without one, npm's cache is tried. Throws
 * `NotReady` when packages cannot be had.
 */
export function openInstaller(cwd) {
  let asked;
  return async (folder, args, node = process.execPath) => {
    asked ??= registryProblem(cwd);
    const problem = await asked;
    const offline = problem === null ? [] : ['--offline'];
    const { status, output } = await npm([...args, '--ignore-scripts', ...quiet, ...offline], folder, node);
    const skipped = status === 0 ? skippedPackages(folder) : [];
    if (status === 0 && skipped.length === 0) return;
    if (problem !== null && (skipped.length > 0 || noAnswer.test(output)))
      throw new NotReady(nobodyAnswers(problem), status);
    if (skipped.length > 0) throw new NotReady(notDownloaded(skipped));
    throw new NotReady(failure(`npm ${args.join(' ')}`, output), status);
  };
}

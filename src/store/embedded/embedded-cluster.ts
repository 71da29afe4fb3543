import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeSuddenEnd } from '../../platform/runtime/sudden-end.ts';
import { storeError } from '../rows/store-error.ts';
import { type EmbeddedLocation, makePrivate, type Owner } from './embedded-location.ts';

/** The server's one user; access is restricted by its socket folder (Windows: its password). */
export const superuser = 'postgres';

/** Maximum time of initdb, ms. */
const longestRunMs = 60_000;
const largestLogBytes = 8 * 1024 * 1024;
const isWindows = process.platform === 'win32';

// Durable like PostgreSQL's defaults, small enough for a laptop. On the command line, so that every start has them.
const settings: Record<string, string> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '200',
  shared_buffers: '128MB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Recovery after a crash replays the log since the last checkpoint, and first flushes every file of the cluster to
  // disk. A small log and one call for all files limit it to a few seconds.
  max_wal_size: '128MB',
  ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
};

/**
 * The password of a Windows server (loopback TCP requires one), created on first use; null if a socket folder protects
 * it.
 */
export function passwordOf(location: EmbeddedLocation): string | null {
  if (!isWindows) return null;
  const file = join(location.home, 'postgres.password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { flag: 'wx', mode: 0o600 });
  return readFileSync(file, 'utf8');
}

/** Number of clusters that this process has started to create. */
let drafts = 0;

/**
 * Creates the cluster if there is none. It is created under another name and renamed, so that neither a crash nor a
 * concurrent process leaves an incomplete one. Rejects with the reason of `stop` if that is aborted before; the files
 * created so far are removed.
 */
export async function createCluster(
  location: EmbeddedLocation,
  stop: AbortSignal = new AbortController().signal,
): Promise<void> {
  if (existsSync(join(location.cluster, 'PG_VERSION'))) return;
  removeDrafts(location);
  const draft = `${location.cluster}.new-${process.pid}.${++drafts}`;
  makePrivate(draft, location.owner);
  try {
    await initialize(location, draft, stop);
    renameSync(draft, location.cluster);
    if (!isWindows) syncFolder(location.home);
  } catch (error) {
    // A killed process may still write for an instant.
    rmSync(draft, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    if (stop.aborted || !existsSync(join(location.cluster, 'PG_VERSION'))) throw error;
  }
}

function initialize(location: EmbeddedLocation, folder: string, stop: AbortSignal): Promise<void> {
  const args = [
    '--pgdata',
    folder,
    '--username',
    superuser,
    '--encoding',
    'UTF8',
    '--no-instructions',
    // The same text order on every machine: by code point.
    '--locale-provider',
    'builtin',
    '--builtin-locale',
    'C.UTF-8',
    '--locale',
    'C',
    ...(isWindows
      ? ['--auth', 'scram-sha-256', '--pwfile', join(location.home, 'postgres.password')]
      : ['--auth-local', 'trust', '--auth-host', 'reject']),
  ];
  return runProgram(location, 'initdb', args, stop);
}

/** A server started by this process. */
export interface SpawnedServer {
  hasEnded(): boolean;
  /** The end of its log output. */
  said(): string;
  /** Asks it to end. */
  stop(): void;
}

/**
 * Starts the server in its own process group, so that Ctrl-C reaches only this process; `others` = settings that differ
 * from the defaults. Does not wait for it.
 */
export function spawnServer(
  location: EmbeddedLocation,
  port: number,
  others: Record<string, string> = {},
): SpawnedServer {
  const startOfLog = prepareLog(location);
  const where = isWindows ? { listen_addresses: '127.0.0.1' } : socketSettings(location);
  const options = Object.entries({ ...where, ...settings, ...others });
  const args = [
    '-D',
    location.cluster,
    '-p',
    String(port),
    ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const log = openSync(location.logFile, 'a');
  let ended = false;
  const said = () => {
    const text = readFileSync(location.logFile).subarray(startOfLog).toString();
    return text.trim().split('\n').slice(-12).join('\n');
  };
  const child = isWindows
    ? // pg_ctl gives up administrator rights, with which the server would not start.
      spawn(
        program(location, 'pg_ctl'),
        ['start', '-W', '-D', location.cluster, '-l', location.logFile, '-o', args.slice(2).join(' ')],
        { stdio: 'ignore', windowsHide: true },
      )
    : spawn(program(location, 'postgres'), args, {
        ...location.owner,
        cwd: '/',
        ...programEnvironment,
        detached: true,
        stdio: ['ignore', log, log],
      });
  closeSync(log);
  child.unref();
  child.on('error', (error) => {
    ended = true;
    writeFileSync(location.logFile, `${programFailed('postgres', error.message)}\n`, { flag: 'a' });
  });
  child.on('exit', (code) => {
    ended = !isWindows || code !== 0;
  });
  const stop = () => {
    if (isWindows) ended = true;
    stopServer(location, child.pid!);
  };
  return { hasEnded: () => ended, said, stop };
}

/** Asks the server to end: transactions in flight are rolled back, everything committed is on disk. Does not wait. */
export function stopServer(location: EmbeddedLocation, pid: number): void {
  if (!isWindows) process.kill(pid, 'SIGINT');
  else {
    const args = ['stop', '-W', '-m', 'fast', '-D', location.cluster];
    // If the program cannot run, the server stays, and the next start joins it.
    spawn(program(location, 'pg_ctl'), args, { stdio: 'ignore', windowsHide: true }).on('error', () => {});
  }
}

// Without the caller's environment: PGPORT and the like would configure the server.
const programEnvironment = isWindows ? {} : { env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' } };

const program = (location: EmbeddedLocation, name: string) =>
  join(location.programs, 'bin', isWindows ? `${name}.exe` : name);

function socketSettings({ socketDir }: EmbeddedLocation): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
  };
}

function prepareLog({ logFile, owner }: EmbeddedLocation): number {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 0 && size < largestLogBytes) return size;
  writeFileSync(logFile, '', { mode: 0o600 });
  chownTo(logFile, owner);
  return 0;
}

function chownTo(path: string, owner: Owner | null): void {
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
}

/** Runs a program of PostgreSQL to its end; kills it, and its children, when `stop` is aborted. */
async function runProgram(location: EmbeddedLocation, name: string, args: string[], stop: AbortSignal): Promise<void> {
  stop.throwIfAborted();
  const child = spawn(program(location, name), args, {
    ...location.owner,
    cwd: isWindows ? location.home : '/',
    ...programEnvironment,
    // A process group of its own, which can be killed as one.
    detached: !isWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const kill = () => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const forget = beforeSuddenEnd(async () => kill());
  const late = setTimeout(kill, longestRunMs);
  stop.addEventListener('abort', kill, { once: true });
  const failure = Promise.withResolvers<Error>();
  child.on('error', failure.resolve);
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const said = Promise.all([text(child.stdout), text(child.stderr)]).then((texts) => texts.join('').trim());
  const ended = await Promise.race([exit, failure.promise]);
  clearTimeout(late);
  forget();
  stop.removeEventListener('abort', kill);
  stop.throwIfAborted();
  if (ended === 0) return;
  if (ended instanceof Error) throw storeError(programFailed(name, ended.message), ended);
  const why = await said;
  if (isLasting(why)) throw dataFolderError(location.home, why);
  throw storeError(programFailed(name, ended === null ? `it did not end in time. ${why}` : why));
}

function killGroup(pid: number): void {
  try {
    process.kill(isWindows ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const programFailed = (name: string, why: string) =>
  `The embedded PostgreSQL's ${name} did not run: ${why}\nRun "node scripts/ready.mjs" if the clone is new; on a system it is not made for (no glibc), set DATABASE_URL to a PostgreSQL server.`;

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Incomplete clusters of killed processes. */
function removeDrafts({ home, cluster }: EmbeddedLocation): void {
  const start = `${basename(cluster)}.new-`;
  for (const name of readdirSync(home).filter((each) => each.startsWith(start))) {
    try {
      process.kill(Number.parseInt(name.slice(start.length), 10), 0);
    } catch {
      rmSync(join(home, name), { recursive: true, force: true });
    }
  }
}

// The system's messages for permanent errors; those of PostgreSQL's programs, which run with LC_ALL=C.
const lasting =
  /No space left on device|Read-only file system|Permission denied|Disk quota exceeded|Not a directory|Input\/output error/;

/** True if the output of a program of PostgreSQL shows that its folder is permanently unusable. */
export function isLasting(said: string): boolean {
  return lasting.test(said);
}

/** The error of an unusable data folder, which names the setting to change. */
export function dataFolderError(dataDir: string, why: string, cause?: unknown): Error {
  return storeError(
    `TAPEGRAPH_DATA: the folder ${dataDir} cannot be used: ${why}. ` +
      'Choose a folder on a disk with free space that this user can write, with TAPEGRAPH_DATA or --data, or set DATABASE_URL to a PostgreSQL server.',
    cause,
  );
}

/** `error` unchanged, or for a file system error, with the setting that its folder comes from. */
export function namingDataFolder(dataDir: string, error: unknown): unknown {
  const { code, path, message } = error as NodeJS.ErrnoException;
  return code === undefined || path === undefined ? error : dataFolderError(dataDir, message, error);
}

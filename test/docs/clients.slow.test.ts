import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { parse, printSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { flakyProxy } from '../access/flaky-proxy.ts';
import { installBuiltPackage } from '../client-packages/built-package.ts';
import { python, pythonPackage } from '../client-packages/python.ts';
import { sampleGateway } from '../client-packages/sample-gateway.ts';
import { generatedFolder, installPackages, programsFolder, typeErrors } from '../clients/own-packages.ts';
import type { TestApp } from '../support/app.ts';
import { handTimers } from '../support/live.ts';
import { notRun } from '../support/not-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const text = readFileSync('docs/clients.md', 'utf8');
/** Programs by the name in their first line. */
const programs = new Map(
  [...text.matchAll(/^```(\w+)\n(.*\n)([\s\S]*?)^```/gm)].map(([, language, first, rest]) => [
    /^(?:#|\/\/) ([\w.-]+)$/m.exec(first!)?.[1] ?? first!,
    { language: language!, source: first! + rest! },
  ]),
);

/** Last output of each program, in the order in which they depend on each other; null = others run it. */
const runs: Record<string, RegExp | null> = {
  'first.sh': /"net_gex":-?\d/,
  'first.py': /\d+ strikes\n$/,
  'first.ts': /^([\d.]+ -?\d.*\n){3}quotes \d+\.\d/,
  'route.sh': /^$/,
  'route.py': /[1-9]\d* captures\n$/,
  'parquet.sh': /"strike":\d+.*"captures":\d/,
  'tool.ts': /^gamma has [1-9]\d* captures\n$/,
  'bars.sh': /36 bars\n200\n304\n$/,
  'patient-fetch.ts': null,
  'generate-types.sh': /openapi\.ts/,
  'bars.ts': /^36 bars\nstill current\n$/,
  'orval.config.ts': null,
  'orval-fetch.ts': null,
  'generate-client.sh': /ready to use orval/,
  'quotes.ts': /^SPY \d.*\nAAPL \d.*\n$/,
  'apollo.ts': /^36 bars\n$/,
  'urql.ts': /^36 bars\n$/,
  'mcp.ts': /^answered \{"data":\[\{"symbol":"SPY"/,
  'bars.py': /invalid_params top\n36 bars\n$/,
  'plain.py': /^36 bars\nstill current\n$/,
  'duckdb.sh': /SPY.*36/,
};

/** Programs that read a stream until they are stopped, and what they print of each connection. */
const follows: Record<string, RegExp> = {
  'stream.sh': /event: gex/,
  'stream.ts': /gex SPY\n/,
  'stream.py': /gex \{.*\n/,
  'subscription.ts': /"symbol":"SPY"/,
  'frames.ts': /"SPY"/,
};

/** Programs that need more than Node, a shell and curl; skipped if that is missing. */
const needs: Record<string, string> = {
  'plain.py': 'python3 --version',
};

/** Programs that are not run here, and why. */
const neverRun: Record<string, string> = {
  'codegen.ts': "its program weighs 280 packages; the plugin runs below with the file's settings",
  'bars.pq': 'only Excel and Power BI run Power Query',
  'sheet.js': 'only Google runs Apps Script',
};

const names = Object.keys(runs).filter((name) => runs[name] !== null);
const ofPackage = new Set(['first.py', 'route.py', 'bars.py', 'stream.py']);
const isMissing = (name: string) =>
  ofPackage.has(name) ? python === null : name in needs && spawnSync(needs[name]!, { shell: true }).status !== 0;
const missing = new Set([...names, ...Object.keys(follows)].filter(isMissing));
// Missing requirements of the package's programs have been reported.
for (const name of missing) if (!ofPackage.has(name)) notRun(`${name} of docs/clients.md`, `${needs[name]} fails here`);

let app: TestApp;
let key: string;
const timers = handTimers();
const files = temporaryFolder();
const folder = generatedFolder('docs');

/** Serves what an example wrote, as a server does that is sent SIGHUP. */
function serveRoutes(): void {
  const routes = join(folder, 'routes');
  app.replaceRoutes(
    Object.fromEntries(readdirSync(routes).map((name) => [name, readFileSync(join(routes, name), 'utf8')])),
  );
}

beforeAll(async () => {
  const starting = sampleGateway(files(), { every: timers.every, routes: {} });
  [{ app, key }] = await Promise.all([starting, installPackages(), installBuiltPackage(folder)]);
  // The market has 36 days with the last session: two pages.
  for (const [name, { source }] of programs)
    writeFileSync(join(folder, name), source.replace(/(?<=limit\W{1,3})100\b/, '20'));
}, 600_000);
afterAll(() => app.close());

const interpreters: Record<string, string> = { ts: process.execPath, sh: 'bash', py: python ?? 'python3' };

function start(name: string, url: string, credential: string): { child: ChildProcess; said: () => string } {
  const child = spawn(interpreters[name.split('.').at(-1)!]!, [name], {
    cwd: folder,
    // npx takes what is installed, and nothing else.
    env: {
      ...process.env,
      PATH: `${programsFolder(folder)}:${process.env.PATH}`,
      TAPEGRAPH_URL: url,
      TAPEGRAPH_KEY: credential,
      PYTHONPATH: pythonPackage,
      PYTHONDONTWRITEBYTECODE: '1',
      npm_config_yes: 'false',
      npm_config_offline: 'true',
    },
  });
  let said = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (bytes) => (said += bytes));
  return { child, said: () => said };
}

describe('docs/clients.md', () => {
  test('has no program that is neither run nor excused', () => {
    expect([...programs.keys()].sort()).toEqual([...Object.keys({ ...runs, ...follows, ...neverRun })].sort());
  });

  test('has no date that goes stale: dates come from the gateway', () => {
    expect(new Set(text.match(/\b\d{4}-\d\d-\d\d\b/g))).toEqual(new Set(['2000-01-01']));
  });

  // In this order: some write what others read.
  test.each(names.filter((name) => !missing.has(name)))('%s', { timeout: 60_000 }, async (name) => {
    // The first request for bars is one too many at a time: 429.
    const acquire = vi.spyOn(app.access.inFlight, 'acquire');
    onTestFinished(() => acquire.mockRestore());
    const waits = name.startsWith('bars.') || name === 'plain.py';
    if (waits) acquire.mockResolvedValueOnce(null);
    const { child, said } = start(name, app.url, key);
    const [code] = await once(child, 'close');
    expect([said(), code]).toEqual([expect.stringMatching(runs[name]!), 0]);
    if (name === 'route.sh') serveRoutes();
    if (waits) expect(await acquire.mock.results[0]!.value).toBeNull();
  });

  test.each(Object.keys(follows).filter((name) => !missing.has(name)))('%s', { timeout: 60_000 }, async (name) => {
    const accountId = await app.account();
    const { key, meta } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const proxy = await flakyProxy('127.0.0.1', Number(new URL(app.url).port));
    onTestFinished(() => proxy.takeAway());
    const { child, said } = start(name, `http://127.0.0.1:${proxy.port}`, key);
    onTestFinished(() => void child.kill());
    const over = once(child, 'close');
    await vi.waitFor(() => expect(said()).toMatch(follows[name]!), 20_000);
    const before = said().length;
    await proxy.takeAway();
    // curl does not come back.
    if (name === 'stream.sh') return void (await over);
    await proxy.bringBack();
    await vi.waitFor(
      () => expect(said().slice(before)).toMatch(name.startsWith('stream') ? /^quotes .*SPY/m : /SPY/),
      20_000,
    );
    // Who resumes is sent the quote as it is now, and no capture a second time.
    await setTimeout(200);
    if (name.startsWith('stream')) expect(said().slice(before)).not.toMatch(/gex (SPY|\{)/);
    await app.access.keys.revoke(meta.id, accountId);
    timers.recheck();
    await over;
  });

  test('has TypeScript without type errors', { timeout: 60_000 }, async () => {
    const files = [...programs.keys()].filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
    expect(await typeErrors(files)).toBe('');
  });

  test('has settings by which every operation gets types', async () => {
    const scalars = /```json\n([\s\S]*?)```/.exec(readFileSync('docs/graph.md', 'utf8'))![1]!;
    writeFileSync(join(folder, 'scalars.json'), scalars);
    const cwd = process.cwd();
    process.chdir(folder);
    onTestFinished(() => process.chdir(cwd));
    const { default: settings } = await import(join(folder, 'codegen.ts'));
    expect(settings.generates['./operations.ts'].plugins).toEqual(['typescript-operations']);
    const [, query] = /gql`([\s\S]*?)`/.exec(programs.get('apollo.ts')!.source)!;
    const types = await codegen({
      schema: parse(printSchema(schema)),
      documents: [{ location: 'bars.graphql', document: parse(query!) }],
      filename: 'operations.ts',
      config: settings.config,
      plugins: [{ typescriptOperations: {} }],
      pluginMap: { typescriptOperations },
    });
    expect(types).toContain('tsMs: number');
  });
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { dataFolder } from '../support/data-folder.ts';
import { notRun } from '../support/not-run.ts';
import { storeForThisTest } from '../support/store.ts';
import { isRunning } from './processes.ts';

/** A Node on the path that cannot run TypeScript by itself; null if there is none. */
function oldNode(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const program = join(folder, 'node');
    if (!existsSync(program)) continue;
    const [major, minor] = spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' })
      .stdout.split('.')
      .map(Number);
    if (major! >= 20 && (major! < 23 || (major === 23 && minor! < 6))) return program;
  }
  return null;
}

const old = oldNode();
if (old === null) notRun('handing over from an older Node', 'no Node from 20 to 23.5 is on the path');
const programs = [['this Node', process.execPath], ...(old === null ? [] : [['an older Node', old]])] as [
  string,
  string,
][];

describe.each(programs)('bin/tapegraph.mjs on %s', (_, program) => {
  it('passes arguments, output and exit codes through', () => {
    const shown = spawnSync(program, ['bin/tapegraph.mjs', 'config', '--json', '--data', '/a b'], { encoding: 'utf8' });
    expect(shown).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(shown.stdout)).toMatchObject({ TAPEGRAPH_DATA: '/a b' });
    expect(spawnSync(program, ['bin/tapegraph.mjs', 'frobnicate'])).toMatchObject({ status: 2 });
  });

  it('gives a command that reads files less space for short-lived objects, unless the heap is chosen', () => {
    const option = '--max-semi-space-size=16';
    const ingest = (nodeOptions: string) => {
      const preload = '--import=data:text/javascript,console.error(process.execArgv.join())';
      const env = { ...process.env, NODE_OPTIONS: `${preload} ${nodeOptions}` };
      return spawnSync(program, ['bin/tapegraph.mjs', 'ingest', '--help'], { encoding: 'utf8', env });
    };
    const shown = ingest('');
    expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage: tapegraph ingest') });
    expect(shown.stderr).toContain(option);
    expect(ingest('--max-old-space-size=500').stderr).not.toContain(option);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('passes %s on, and ends as the server does', async (signal) => {
    const store = await storeForThisTest();
    const env = { ...process.env, DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
    const child = spawn(program, ['bin/tapegraph.mjs', 'serve', '--port', '0', '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [ready] = await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    await expect(fetch(JSON.parse(ready).url)).rejects.toThrow();
  });
});

describe.skipIf(process.platform !== 'linux')('a server whose launcher is ended', { timeout: 120_000 }, () => {
  const parentOf = (pid: number) => Number(/\) . (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1]);

  /** The processes of a server that a program launched: the program, what is between, the server. */
  async function launched(program: string, args: string[], env: Record<string, string>) {
    const child = spawn(program, [...args, 'serve', '--port', '0', '--json'], {
      env: { ...process.env, LOG_LEVEL: 'warn', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    // Whatever became of the parts.
    onTestFinished(() => void spawnSync('kill', ['-KILL', '--', `-${child.pid}`]));
    const [ready] = await once(child.stdout, 'data');
    const pids = [JSON.parse(ready).pid as number];
    while (pids[0] !== child.pid) pids.unshift(parentOf(pids[0]!));
    return pids;
  }
  const npm = { program: 'npm', args: ['run', '--silent', 'tapegraph', '--'] };
  const handedOver = old === null ? [] : [{ program: old, args: ['bin/tapegraph.mjs'], to: 0, signal: 'SIGKILL' }];

  it.each([
    { ...npm, to: 0, signal: 'SIGTERM' },
    // A terminal's Ctrl-C; of SIGINT to npm alone its shell takes no notice.
    { ...npm, to: 'all', signal: 'SIGINT' },
    { ...npm, to: 0, signal: 'SIGKILL' },
    { ...npm, to: 1, signal: 'SIGTERM' },
    { ...npm, to: 1, signal: 'SIGKILL' },
    ...handedOver,
  ])('ends: $signal to $to of the processes from $program down', async ({ program, args, to, signal }) => {
    const store = await storeForThisTest();
    const pids = await launched(program, args, { DATABASE_URL: store.databaseUrl });
    expect(pids.length).toBeGreaterThan(1);
    process.kill(to === 'all' ? -pids[0]! : pids[to as number]!, signal as NodeJS.Signals);
    await vi.waitUntil(() => !pids.some(isRunning), { timeout: 60_000 });
  });

  it('stops the embedded database, which is then as after any end', async () => {
    const data = dataFolder();
    const pids = await launched(npm.program, npm.args, { DATABASE_URL: '', TAPEGRAPH_DATA: data });
    process.kill(pids[0]!, 'SIGTERM');
    await vi.waitUntil(() => !pids.some(isRunning), { timeout: 60_000 });
    expect(existsSync(`${data}/postgres/postmaster.pid`)).toBe(false);
  });
});

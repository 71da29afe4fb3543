import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { storeForThisTest } from '../support/store.ts';

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
if (old === null) console.warn('No Node from 20 to 23.5 is on the path: handing over from one is not tested.');
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

import { describe, expect, it } from 'vitest';
import { planMemory } from '../../src/platform/runtime/memory-plan.ts';
import { storeForThisTest } from '../support/store.ts';
import { launcher } from './command-line.ts';
import { served } from './served.ts';

const mebibyte = 1024 * 1024;
const token = 'a-token-of-sixteen-and-more';

/** A server's figures of memory, bytes, by metric and label. */
async function memoryOf(url: string): Promise<Record<string, number>> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const lines = (await answer.text()).matchAll(/^tapegraph_((?:memory|heap|cache_max)_\S+) (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, Number(value)]));
}

async function started(args: string[], env: Record<string, string>) {
  const { databaseUrl } = await storeForThisTest();
  return served(args, { DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', METRICS_TOKEN: token, ...env }, launcher);
}

const planOf = (settingBytes: number, processes: number) =>
  planMemory({ settingBytes, constrainedBytes: 0, machineBytes: 0, processes });

describe('MEMORY_LIMIT', () => {
  it.each([
    ['the worker of a server', [], '600M', 1],
    ['each of two workers, of whom a spare takes a part', ['--workers', '2'], '1536M', 3],
    ['each of two workers without a spare', ['--workers', '2', '--no-spare-worker'], '1536M', 2],
  ] as const)('bounds heap and caches of %s', async (_, args, limit, processes) => {
    const { child, ended, ready } = await started([...args], { MEMORY_LIMIT: limit });
    const plan = planOf(Number.parseInt(limit, 10) * mebibyte, processes);
    const memory = await memoryOf(ready.url);
    expect(memory['memory_limit_bytes{source="setting"}']).toBe(plan.limitBytes);
    expect(memory['cache_max_bytes{cache="blocks"}']).toBe(plan.caches.blocks);
    expect(memory['cache_max_bytes{cache="documents"}']).toBe(plan.caches.documents);
    // V8 counts the space for new objects in.
    const heap = memory.heap_limit_bytes!;
    expect(heap).toBeGreaterThanOrEqual(Math.floor(plan.heapBytes / mebibyte) * mebibyte);
    expect(heap).toBeLessThanOrEqual(plan.heapBytes + 3 * plan.semiSpaceBytes);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('leaves a heap alone whose size somebody has chosen for Node', async () => {
    const { ready } = await started([], { MEMORY_LIMIT: '600M', NODE_OPTIONS: '--max-old-space-size=1000' });
    expect((await memoryOf(ready.url)).heap_limit_bytes).toBeGreaterThanOrEqual(1000 * mebibyte);
  });

  it('that cannot be used stops the start and is named', async () => {
    const { ended, ready } = await started([], { MEMORY_LIMIT: 'plenty' });
    expect(ready).toEqual({
      error: { message: 'MEMORY_LIMIT: expected a size such as 512M or 2G, 384M or more, got "plenty"' },
    });
    expect((await ended).code).toBe(1);
  });
});

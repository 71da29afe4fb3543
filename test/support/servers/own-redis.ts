import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { notRunOutsideCi } from '../not-run.ts';

/**
 * True if this machine has the program; without it, tests of a Redis that ends are skipped with a message, and fail
 * under CI=true.
 */
export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedisServer) notRunOutsideCi('tests of a Redis that ends', 'redis-server is not installed');

/**
 * A Redis server of a test's own, which writes every command to its file before it answers. Gone when the test ends.
 */
export interface OwnRedis {
  url: string;
  port: number;
  /** Ends at once. */
  kill(): Promise<void>;
  /** Starts it with its file, or again without it. */
  start(file?: 'kept' | 'removed'): Promise<void>;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

async function answers(port: number): Promise<boolean> {
  const redis = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/** Starts a Redis on a port of its own. */
export async function ownRedis(): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph-redis-'));
  const port = await freePort();
  let server: ChildProcess | null = null;
  const own: OwnRedis = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      if (!server) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      server = null;
    },
    async start(file = 'kept') {
      if (file === 'removed') rmSync(join(folder, 'appendonlydir'), { recursive: true, force: true });
      const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
      server = spawn('redis-server', [...args, '--appendonly', 'yes', '--appendfsync', 'always'], { stdio: 'ignore' });
      while (!(await answers(port))) await delay(20);
    },
  };
  onTestFinished(async () => {
    await own.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await own.start();
  return own;
}

import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { notRunOutsideCi } from '../support/not-run.ts';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

async function answers(): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 1000, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/**
 * The Redis that tests use: REDIS_URL, else the local one; null when it does not answer, which is said, and fails under
 * CI=true.
 */
export const redisUrl: string | null = (await answers()) ? url : null;
if (redisUrl === null) notRunOutsideCi('tests of limits shared between processes', `no Redis answers at ${url}`);

/** A key prefix that no other test uses. */
export function ownPrefix(): string {
  return `tapegraph-test:${randomUUID()}:`;
}

/** Removes what a test left under its prefix. */
export async function clean(prefix: string): Promise<void> {
  if (redisUrl === null) return;
  const redis = new Redis(redisUrl);
  const keys = await redis.keys(`${prefix}*`);
  if (keys.length > 0) await redis.del(keys);
  redis.disconnect();
}

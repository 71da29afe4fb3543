import { Redis } from 'ioredis';

/**
 * A Redis that may go away: what counts for all processes is asked of it, and callers fall back on their own counts.
 */
export interface RedisLink {
  /**
   * The result of `work`; null when Redis is not reachable, or was not shortly before. Never throws for that, and never
   * waits long.
   */
  attempt<T extends object>(work: (redis: Redis) => Promise<T>): Promise<T | null>;
  /** True if Redis was reached when it was last tried. */
  isUp(): boolean;
  close(): Promise<void>;
}

/** Pause after a failure of Redis, ms: a Redis that hangs must not slow every request down. */
const pauseMs = 2000;
/** Longest time of one command, ms. */
const commandTimeoutMs = 300;

/** The address without what is secret in it. */
function shownAddress(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the configured address';
}

/** Milliseconds to wait before the nth attempt to connect again: twice as long each time, up to 5 s. */
export function retryDelayMs(attempt: number): number {
  return Math.min(100 * 2 ** Math.min(attempt, 6), 5000);
}

/** Connects in the background. `log` is called when Redis becomes unreachable and when it is back, once each. */
export function openRedisLink(url: string, log: (line: string) => void): RedisLink {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    commandTimeout: commandTimeoutMs,
    retryStrategy: retryDelayMs,
  });
  let down = false;
  let pausedUntil = 0;
  let closed = false;

  function lost(reason: string): void {
    pausedUntil = performance.now() + pauseMs;
    if (down || closed) return;
    down = true;
    log(`warning: Redis at ${shownAddress(url)} is not reachable (${reason}); this process counts limits on its own`);
  }
  function found(): void {
    if (!down) return;
    down = false;
    log(`Redis at ${shownAddress(url)} is back; limits are shared again`);
  }

  redis.on('error', (error: NodeJS.ErrnoException) => lost(error.code ?? error.name));
  redis.on('close', () => lost('connection closed'));
  redis.on('ready', () => {
    pausedUntil = 0;
    found();
  });
  const ready = new Promise<void>((resolve) => {
    redis.once('ready', resolve);
    redis.once('close', resolve);
  });

  return {
    async attempt(work) {
      // Requests that arrive while the first connection is being made wait for it (2 s at most), later ones never do.
      await ready;
      if (redis.status !== 'ready' || performance.now() < pausedUntil) return null;
      try {
        const result = await work(redis);
        found();
        return result;
      } catch (error) {
        lost(error instanceof Error ? error.message : 'unknown');
        // One that does not answer may have gone without a word: a new connection finds out, the old one would wait for
        // minutes.
        if (redis.status === 'ready') redis.disconnect(true);
        return null;
      }
    },
    isUp: () => redis.status === 'ready' && !down,
    async close() {
      closed = true;
      await ready;
      redis.disconnect();
    },
  };
}

import { Redis } from 'ioredis';

/** Pause after a failure of Redis, ms: a Redis that hangs must not slow every request down. */
const pauseMs = 2000;
/** Longest time of one command, ms. */
const commandTimeoutMs = 300;

/** The address without its secrets. */
function shownAddress(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the configured address';
}

/** Time before the nth attempt to reconnect, ms: doubled each time, up to 5 s. */
export function retryDelayMs(attempt: number): number {
  return Math.min(100 * 2 ** Math.min(attempt, 6), 5000);
}

/**
 * A Redis that may go away: what counts for all processes is asked of it, and callers fall back on their own counts.
 */
export class RedisLink {
  readonly #shown: string;
  readonly #log: (line: string) => void;
  readonly #redis: Redis;
  /** Resolved when the first connection is made, or has failed. */
  readonly #ready: Promise<void>;
  #isDown = false;
  #pausedUntil = 0;
  #isClosed = false;

  /** Connects in the background. `log` is called when Redis becomes unreachable and when it is back, once each. */
  constructor(url: string, log: (line: string) => void) {
    this.#shown = shownAddress(url);
    this.#log = log;
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2000,
      commandTimeout: commandTimeoutMs,
      retryStrategy: retryDelayMs,
    });
    redis.on('error', (error: NodeJS.ErrnoException) => this.#lost(error.code ?? error.name));
    redis.on('close', () => this.#lost('connection closed'));
    redis.on('ready', () => {
      this.#pausedUntil = 0;
      this.#found();
    });
    this.#redis = redis;
    this.#ready = new Promise<void>((resolve) => {
      redis.once('ready', resolve);
      redis.once('close', resolve);
    });
  }

  /**
   * The result of `work`; null when Redis is not reachable, or was not shortly before. Never throws for that, and never
   * waits long.
   */
  async attempt<T extends object>(work: (redis: Redis) => Promise<T>): Promise<T | null> {
    // Requests that arrive while the first connection is being made wait for it (2 s at most), later ones never do.
    await this.#ready;
    if (this.#redis.status !== 'ready' || performance.now() < this.#pausedUntil) return null;
    try {
      const result = await work(this.#redis);
      this.#found();
      return result;
    } catch (error) {
      this.#lost(error instanceof Error ? error.message : 'unknown');
      // One that does not answer may have gone without a word: a new connection finds out, the old one would wait for
      // minutes.
      if (this.#redis.status === 'ready') this.#redis.disconnect(true);
      return null;
    }
  }

  /** True if Redis was reached when it was last tried. */
  get isUp(): boolean {
    return this.#redis.status === 'ready' && !this.#isDown;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ready;
    this.#redis.disconnect();
  }

  #lost(reason: string): void {
    this.#pausedUntil = performance.now() + pauseMs;
    if (this.#isDown || this.#isClosed) return;
    this.#isDown = true;
    this.#log(`warning: Redis at ${this.#shown} is not reachable (${reason}); this process counts limits on its own`);
  }

  #found(): void {
    if (!this.#isDown) return;
    this.#isDown = false;
    this.#log(`Redis at ${this.#shown} is back; limits are shared again`);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { Redis, ReplyError } from 'ioredis';
import type { TapePlaces } from './follower.ts';

// Number of entries per read, and the time that a read waits for the first, ms.
const entriesAtOnce = 1000;
const waitMs = 1000;
/** Time after which a command without an answer is abandoned with its connection, ms. */
const patienceMs = 5000;
const longestPauseMs = 5000;
const pollMs = 50;

export interface StreamLinesOptions {
  url: string;
  stream: string;
  group: string;
  consumer: string;
  stop: AbortSignal;
  /** Called once when Redis becomes unreachable and once when it is back; warnings begin with `warning:`. */
  log: (line: string) => void;
}

/** `fields` is null if the entry was removed from the stream after its delivery. */
type Entries = [id: string, fields: string[] | null][];
type Reply = [stream: string, entries: Entries][] | null;

function linesOf(entries: Entries): Buffer {
  const lines = entries.map(([, fields]) => {
    const at = fields?.findIndex((name, i) => i % 2 === 0 && name === 'line') ?? -1;
    // An entry without the field counts as a blank line, which is skipped.
    const text = at < 0 ? '' : fields![at + 1]!;
    return text.endsWith('\n') ? text : `${text}\n`;
  });
  return Buffer.from(lines.join(''));
}

/** True if the entry `a` is after `b`: ids are two numbers, an instant and a counter. */
function isAfter(a: string, b: string): boolean {
  const [aMs, aCount] = a.split('-').map(BigInt) as [bigint, bigint];
  const [bMs, bCount] = b.split('-').map(BigInt) as [bigint, bigint];
  return aMs > bMs || (aMs === bMs && aCount > bCount);
}

/** The code with which Redis rejected a command: by its protocol the first word of the reply. Null for other errors. */
function replyCodeOf(error: unknown): string | null {
  return error instanceof Error && error instanceof ReplyError ? error.message.split(' ', 1)[0]! : null;
}

const passing = new Set(['LOADING', 'MASTERDOWN', 'READONLY', 'TRYAGAIN', 'CLUSTERDOWN']);

/** True if Redis is temporarily unreachable. Waiting does not help with other errors. */
function isPassing(error: unknown): boolean {
  const code = replyCodeOf(error);
  return code === null || passing.has(code);
}

async function connected(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    // If the client repeated a read, the entries of the lost answer would be skipped.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, longestPauseMs),
  });
  // A failure is handled by its command; the reason is known only here.
  let reason: Error | null = null;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw reason ?? error;
  }
}

/** Joins the stream's group, creating both if necessary. Throws if Redis is not reachable. */
export async function openStreamLines(options: StreamLinesOptions): Promise<StreamLines> {
  const redis = await connected(options.url);
  const lines = new StreamLines(redis, options);
  try {
    await lines.joinGroup();
  } catch (error) {
    lines.close();
    throw error;
  }
  return lines;
}

/** A Redis stream, each entry one or more lines in its field `line`, read as a consumer of a group. */
export class StreamLines implements TapePlaces {
  readonly #redis: Redis;
  readonly #options: StreamLinesOptions;
  /** The ids of delivered, unwritten pieces. */
  readonly #delivered: string[][] = [];
  /** Ids that are written and not acknowledged. */
  #owed: string[] = [];
  #committed = 0;
  #lastGiven = '0-0';
  #lastCommitted = '0-0';
  #resumedAfter = '0-0';
  #isAway = false;

  constructor(redis: Redis, options: StreamLinesOptions) {
    this.#redis = redis;
    this.#options = options;
  }

  /**
   * Pieces of whole lines: first those delivered before and never acknowledged, then new ones. While Redis is not
   * reachable it waits, and then resumes after the last entry: none is omitted or repeated. Ends when stopped.
   */
  async *pieces(): AsyncGenerator<Buffer> {
    // An id: reads entries delivered to this consumer after it and not acknowledged; then `>`: entries not delivered to
    // any.
    let after = this.#lastGiven;
    while (!this.#options.stop.aborted) {
      const isAgain = after !== '>';
      const entries = await this.#next(after);
      after = entries === null ? '>' : entries.length === 0 ? this.#lastGiven : after;
      const fresh = this.#onlyNew(isAgain ? await this.#uncommitted(entries ?? []) : (entries ?? []));
      if (fresh.length === 0) continue;
      this.#lastGiven = fresh.at(-1)![0];
      if (after !== '>') after = this.#lastGiven;
      this.#delivered.push(fresh.map(([id]) => id));
      yield linesOf(fresh);
    }
  }

  resumeAfter(place: string): void {
    this.#resumedAfter = place;
  }

  of(piece: number): string | undefined {
    return this.#delivered[piece - this.#committed - 1]?.at(-1);
  }

  /** Acknowledges the entries of the first `count` delivered pieces; later if Redis is not reachable. */
  async acknowledge(count: number): Promise<void> {
    for (; this.#committed < count; this.#committed++) {
      const ids = this.#delivered.shift()!;
      this.#lastCommitted = ids.at(-1)!;
      this.#owed.push(...ids);
    }
    await this.#settle();
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Creates the stream and the group, unless they exist. */
  async joinGroup(): Promise<void> {
    const { stream, group } = this.#options;
    await this.#redis.xgroup('CREATE', stream, group, this.#lastGiven, 'MKSTREAM').catch((error: Error) => {
      if (replyCodeOf(error) !== 'BUSYGROUP') throw error;
    });
  }

  async #read(after: string): Promise<Entries> {
    const { stream, group, consumer } = this.#options;
    const block = ['BLOCK', waitMs] as const;
    const from = ['STREAMS', stream, after] as const;
    const reply = await this.#redis.xreadgroup('GROUP', group, consumer, 'COUNT', entriesAtOnce, ...block, ...from);
    return (reply as Reply)?.[0]?.[1] ?? [];
  }

  /** Acknowledges written entries. If that fails, the next acknowledgement covers them. */
  async #settle(): Promise<void> {
    const { stream, group } = this.#options;
    const ids = this.#owed;
    if (ids.length === 0 || this.#redis.status !== 'ready') return;
    this.#owed = [];
    await this.#redis.xack(stream, group, ...ids).catch(() => {
      this.#owed = [...ids, ...this.#owed];
    });
  }

  /** Waits until Redis answers again. */
  async #comesBack(error: unknown): Promise<void> {
    const { log, stop } = this.#options;
    if (!this.#isAway)
      log(`warning: Redis is not reachable (${(error as Error).message}); reading continues when it is back`);
    this.#isAway = true;
    // A hanging connection looks like one that is ready.
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
    do await delay(pollMs);
    while (this.#redis.status !== 'ready' && !stop.aborted);
  }

  /**
   * Entries delivered before that are not committed; acknowledges the others, whose follower ended in between. Only of
   * those: in a stream that was created again new entries may have lower ids.
   */
  async #uncommitted(entries: Entries): Promise<Entries> {
    this.#owed.push(...entries.map(([id]) => id).filter((id) => !isAfter(id, this.#resumedAfter)));
    await this.#settle();
    return entries.filter(([id]) => isAfter(id, this.#resumedAfter));
  }

  /** Entries not delivered before. A Redis that was restored to an older state delivers some again. */
  #onlyNew(entries: Entries): Entries {
    const old = entries.filter(([id]) => !isAfter(id, this.#lastGiven)).map(([id]) => id);
    this.#owed.push(...old.filter((id) => !isAfter(id, this.#lastCommitted)));
    return entries.filter(([id]) => isAfter(id, this.#lastGiven));
  }

  /** The next entries; null if there are none. `after` is an id, or `>`. */
  async #next(after: string): Promise<Entries | null> {
    try {
      const entries = await this.#read(after);
      if (this.#isAway) this.#options.log('Redis is back; reading continues');
      this.#isAway = false;
      await this.#settle();
      return entries.length === 0 ? null : entries;
    } catch (error) {
      if (this.#options.stop.aborted) return null;
      if (replyCodeOf(error) === 'NOGROUP') await this.joinGroup().catch((failed) => this.#comesBack(failed));
      else if (isPassing(error)) await this.#comesBack(error);
      else throw error;
      // Entries of a lost answer belong to this consumer, like delivered ones.
      return [];
    }
  }
}

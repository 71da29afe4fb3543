import { setTimeout as delay } from 'node:timers/promises';
import { Redis, ReplyError } from 'ioredis';

// Entries asked for at a time, and how long a read waits for the first, ms.
const entriesAtOnce = 1000;
const waitMs = 1000;
/** A command without an answer for so long is abandoned, and its connection with it, ms. */
const patienceMs = 5000;
const longestPauseMs = 5000;
const pollMs = 50;

/** A Redis stream, each entry one or more lines in its field `line`, read as a consumer of a group. */
export interface StreamLines {
  /**
   * Pieces of whole lines: first what was delivered before and never acknowledged, then what is new. While Redis is
   * away it waits, and then goes on with the entry after the last it gave: none is omitted, none comes twice. Ends when
   * stopped.
   */
  pieces(): AsyncGenerator<Buffer>;
  /** Acknowledges the entries of the first `count` pieces given out; when Redis is away, later. */
  acknowledge(count: number): Promise<void>;
  close(): void;
}

export interface StreamLinesOptions {
  url: string;
  stream: string;
  group: string;
  consumer: string;
  stop: AbortSignal;
  /** Called when Redis becomes unreachable and when it is back, once each; warnings begin with `warning:`. */
  log: (line: string) => void;
}

/** `fields` is null when the entry was removed from the stream after it had been delivered. */
type Entries = [id: string, fields: string[] | null][];
type Reply = [stream: string, entries: Entries][] | null;

function linesOf(entries: Entries): Buffer {
  const lines = entries.map(([, fields]) => {
    const at = fields?.findIndex((name, i) => i % 2 === 0 && name === 'line') ?? -1;
    // An entry without the field is a blank line, which is skipped.
    const text = at < 0 ? '' : fields![at + 1]!;
    return text.endsWith('\n') ? text : `${text}\n`;
  });
  return Buffer.from(lines.join(''));
}

/** True if the entry `a` comes after `b`: ids are two numbers, an instant and a count within it. */
function isAfter(a: string, b: string): boolean {
  const [aMs, aCount] = a.split('-').map(BigInt) as [bigint, bigint];
  const [bMs, bCount] = b.split('-').map(BigInt) as [bigint, bigint];
  return aMs > bMs || (aMs === bMs && aCount > bCount);
}

/** True if Redis rejected a command with an error that begins with these words. */
function isReply(error: unknown, words: string): boolean {
  return error instanceof Error && error instanceof ReplyError && error.message.startsWith(words);
}

const passing = ['LOADING', 'MASTERDOWN', 'READONLY', 'TRYAGAIN', 'CLUSTERDOWN'];

/** True if Redis is not reachable for now. Waiting does not help with other errors. */
function isPassing(error: unknown): boolean {
  return !isReply(error, '') || passing.some((word) => isReply(error, word));
}

async function connected(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    // A read sent again by the client would pass over what the lost answer held.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, longestPauseMs),
  });
  // A failure is met by the command it fails, which only knows that there was one.
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

/** Joins the stream's group, making both when they are not there. Throws when Redis is not reachable. */
export async function openStreamLines(options: StreamLinesOptions): Promise<StreamLines> {
  const { url, stream, group, consumer, stop, log } = options;
  const redis = await connected(url);
  /** The ids of pieces given out and not written yet, and those that are written and not acknowledged. */
  const delivered: string[][] = [];
  let owed: string[] = [];
  let committed = 0;
  let lastGiven = '0-0';
  let lastCommitted = '0-0';
  let away = false;

  async function joinGroup(): Promise<void> {
    await redis.xgroup('CREATE', stream, group, lastGiven, 'MKSTREAM').catch((error: Error) => {
      if (!error.message.startsWith('BUSYGROUP')) throw error;
    });
  }

  async function read(after: string): Promise<Entries> {
    const block = ['BLOCK', waitMs] as const;
    const from = ['STREAMS', stream, after] as const;
    const reply = await redis.xreadgroup('GROUP', group, consumer, 'COUNT', entriesAtOnce, ...block, ...from);
    return (reply as Reply)?.[0]?.[1] ?? [];
  }

  /** If an acknowledgement fails, the next one covers it. */
  async function settle(): Promise<void> {
    const ids = owed;
    if (ids.length === 0 || redis.status !== 'ready') return;
    owed = [];
    await redis.xack(stream, group, ...ids).catch(() => {
      owed = [...ids, ...owed];
    });
  }

  /** Waits until Redis answers again. */
  async function comesBack(error: unknown): Promise<void> {
    if (!away) log(`warning: Redis is not reachable (${(error as Error).message}); reading continues when it is back`);
    away = true;
    // A connection that hangs looks like one that is ready.
    if (redis.status === 'ready') redis.disconnect(true);
    do await delay(pollMs);
    while (redis.status !== 'ready' && !stop.aborted);
  }

  /** Entries never given out before. A Redis that came back with an older state hands some out again. */
  function onlyNew(entries: Entries): Entries {
    const old = entries.filter(([id]) => !isAfter(id, lastGiven)).map(([id]) => id);
    owed.push(...old.filter((id) => !isAfter(id, lastCommitted)));
    return entries.filter(([id]) => isAfter(id, lastGiven));
  }

  /** The next entries; null when there were none. `after` is an id, or `>`. */
  async function next(after: string): Promise<Entries | null> {
    try {
      const entries = await read(after);
      if (away) log('Redis is back; reading continues');
      away = false;
      await settle();
      return entries.length === 0 ? null : entries;
    } catch (error) {
      if (stop.aborted) return null;
      if (isReply(error, 'NOGROUP')) await joinGroup().catch(comesBack);
      else if (isPassing(error)) await comesBack(error);
      else throw error;
      // Entries of an answer that never came are this consumer's, as those it was given before.
      return [];
    }
  }

  try {
    await joinGroup();
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    async *pieces() {
      // From an id: what this consumer was given after it and did not acknowledge; when that is through, from >: what
      // nobody was given.
      let after = lastGiven;
      while (!stop.aborted) {
        const entries = await next(after);
        after = entries === null ? '>' : entries.length === 0 ? lastGiven : after;
        const fresh = onlyNew(entries ?? []);
        if (fresh.length === 0) continue;
        lastGiven = fresh.at(-1)![0];
        if (after !== '>') after = lastGiven;
        delivered.push(fresh.map(([id]) => id));
        yield linesOf(fresh);
      }
    },
    async acknowledge(count) {
      for (; committed < count; committed++) {
        const ids = delivered.shift()!;
        lastCommitted = ids.at(-1)!;
        owed.push(...ids);
      }
      await settle();
    },
    close: () => redis.disconnect(),
  };
}

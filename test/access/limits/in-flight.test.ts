import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openInFlight, type SlotRequest, takeInFlightSlot } from '../../../src/access/limits/in-flight.ts';
import { limitsByMessage, serveLimits } from '../../../src/access/limits/limits-by-message.ts';
import { RedisLink } from '../../../src/access/limits/redis-link.ts';
import { keyCaller, sessionCaller } from '../callers.ts';
import { clean, ownPrefix, redisUrl } from '../redis-for-tests.ts';

describe('requests in flight', () => {
  it('are two with one key; a third waits for one to end', async () => {
    const inFlight = openInFlight(null, '');
    const first = await inFlight.acquire(keyCaller());
    expect(await inFlight.acquire(keyCaller())).not.toBeNull();
    expect(await inFlight.acquire(keyCaller())).toBeNull();
    first!();
    expect(await inFlight.acquire(keyCaller())).not.toBeNull();
    expect(await inFlight.acquire(keyCaller())).toBeNull();
  });

  it('are counted by key, not by account, and not for sessions', async () => {
    const inFlight = openInFlight(null, '');
    for (let i = 0; i < 2; i += 1) await inFlight.acquire(keyCaller({ keyId: 'k1' }));
    expect(await inFlight.acquire(keyCaller({ keyId: 'k2' }))).not.toBeNull();
    for (let i = 0; i < 5; i += 1) expect(await inFlight.acquire(sessionCaller())).not.toBeNull();
  });

  it('give their place back once, however often that is asked', async () => {
    const inFlight = openInFlight(null, '');
    const first = await inFlight.acquire(keyCaller());
    await inFlight.acquire(keyCaller());
    first!();
    first!();
    expect(await inFlight.acquire(keyCaller())).not.toBeNull();
    expect(await inFlight.acquire(keyCaller())).toBeNull();
  });

  it('asked for by a worker that has ended in the meantime hold no place', async () => {
    const rates = { free: 3, basic: 30, pro: 300, anonymous: 2 };
    const server = serveLimits(rates);
    const worker = (asker: number) => {
      const limits = limitsByMessage(rates, (question) => {
        void server.answer(asker, question, (answer) => limits.hear(answer));
      });
      return limits;
    };
    void worker(1).slots('k1');
    server.forget(1);
    const other = worker(2);
    expect(await other.slots('k1')).not.toBeNull();
    expect(await other.slots('k1')).not.toBeNull();
    expect(await other.slots('k1')).toBeNull();
  });

  it('over the limit are 429 rate_limited with Retry-After: 1, until one ends', async () => {
    const inFlight = openInFlight(null, '');
    const ends: (() => void)[] = [];
    const request = (): SlotRequest => ({
      caller: keyCaller(),
      access: { inFlight },
      taken: { once: new Map() },
      onEnd: (undo) => ends.push(undo),
    });
    const first = request();
    await takeInFlightSlot(first);
    await takeInFlightSlot(first);
    await takeInFlightSlot(request());
    await expect(takeInFlightSlot(request())).rejects.toMatchObject({
      status: 429,
      code: 'rate_limited',
      headers: { 'Retry-After': '1' },
    });
    expect(ends).toHaveLength(2);
    ends[0]!();
    await takeInFlightSlot(request());
  });
});

describe.skipIf(redisUrl === null)('requests in flight at several processes', () => {
  const prefix = ownPrefix();
  const links: RedisLink[] = [];
  const open = () => {
    const link = new RedisLink(redisUrl!, () => {});
    links.push(link);
    return openInFlight(link, prefix);
  };
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all(links.splice(0).map((link) => link.close()));
    await clean(prefix);
  });

  it('are two together', async () => {
    const [one, two] = [open(), open()];
    const first = await one.acquire(keyCaller());
    expect(await two.acquire(keyCaller())).not.toBeNull();
    expect(await one.acquire(keyCaller())).toBeNull();
    expect(await two.acquire(keyCaller())).toBeNull();
    first!();
    await expect.poll(() => two.acquire(keyCaller())).not.toBeNull();
    expect(await one.acquire(keyCaller())).toBeNull();
  });

  it('are never more than two, however many come at once', async () => {
    const processes = [open(), open(), open()];
    const leases = await Promise.all(Array.from({ length: 30 }, (_, i) => processes[i % 3]!.acquire(keyCaller())));
    expect(leases.filter((lease) => lease !== null)).toHaveLength(2);
  });

  it('keep their place for as long as they last', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const inFlight = open();
    const release = await inFlight.acquire(keyCaller());
    const redis = new Redis(redisUrl!);
    const key = `${prefix}in-flight:k1`;
    const [id] = (await redis.zrange(key, '0', '-1')) as [string];
    const expiry = await redis.zscore(key, id);
    await redis.zadd(key, String(Number(expiry) - 10_000), id);
    vi.advanceTimersByTime(5000);
    await expect.poll(async () => Number(await redis.zscore(key, id))).toBeGreaterThanOrEqual(Number(expiry));
    release!();
    await expect.poll(() => redis.exists(key)).toBe(0);
    // A place that was given back is not renewed.
    vi.advanceTimersByTime(5000);
    expect(await inFlight.acquire(keyCaller())).not.toBeNull();
    expect(await redis.zcard(key)).toBe(1);
    redis.disconnect();
  });

  it('are renewed no more once their process has closed its count', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const inFlight = open();
    await inFlight.acquire(keyCaller());
    const key = `${prefix}in-flight:k1`;
    const run = (command: string) => links[0]!.attempt(async (redis) => ({ answer: await redis.call(command, key) }));
    await run('PERSIST');
    inFlight.close();
    vi.advanceTimersByTime(5000);
    // Commands of one connection run in order: a renewal would have set the expiry before this is answered.
    expect(await run('PTTL')).toEqual({ answer: -1 });
  });

  it('are freed when the process that held them died', async () => {
    const redis = new Redis(redisUrl!);
    // Leases that a dead process leaves: one just expired, one still valid.
    const [seconds] = (await redis.time()) as [number, number];
    await redis.zadd(
      `${prefix}in-flight:k1`,
      Number(seconds) * 1000 - 1,
      'dead',
      Number(seconds) * 1000 + 10_000,
      'alive',
    );
    redis.disconnect();
    const inFlight = open();
    expect(await inFlight.acquire(keyCaller())).not.toBeNull();
    expect(await inFlight.acquire(keyCaller())).toBeNull();
  });
});

import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { limitsByMessage, serveLimits } from '../../../src/access/limits/limits-by-message.ts';
import { openRate, type Rate } from '../../../src/access/limits/rate.ts';
import { RedisLink, retryDelayMs } from '../../../src/access/limits/redis-link.ts';
import { keyCaller, sessionCaller } from '../callers.ts';
import { flakyProxy } from '../flaky-proxy.ts';
import { clean, ownPrefix, redisUrl } from '../redis-for-tests.ts';

const rates = { free: 3, basic: 30, pro: 300, anonymous: 2 };

/**
 * Counts asked of another process by message, as the workers of one machine do; and what happens when that process
 * ends.
 */
function byMessage() {
  const server = serveLimits(rates);
  const asker = limitsByMessage(rates, (question) => {
    void server.answer(1, question, (answer) => asker.hear(answer));
  });
  return asker;
}

describe('the rate of one process', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('lets a tier’s requests a minute through, and says how it stands', async () => {
    const rate = openRate(rates, null, '');
    const states = [];
    for (let i = 0; i < 4; i += 1) states.push(await rate.consume(keyCaller(), 1));
    expect(states).toEqual([
      { allowed: true, limit: 3, remaining: 2, resetSeconds: 60 },
      { allowed: true, limit: 3, remaining: 1, resetSeconds: 60 },
      { allowed: true, limit: 3, remaining: 0, resetSeconds: 60 },
      { allowed: false, limit: 3, remaining: 0, resetSeconds: 60 },
    ]);
    vi.advanceTimersByTime(30_500);
    expect(await rate.consume(keyCaller(), 1)).toMatchObject({ allowed: false, resetSeconds: 30 });
    vi.advanceTimersByTime(29_500);
    expect(await rate.consume(keyCaller(), 1)).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('counts by key, and by account for sessions', async () => {
    const rate = openRate(rates, null, '');
    const left = async (caller: Parameters<typeof rate.consume>[0]) => (await rate.consume(caller, 1)).remaining;
    expect(await left(keyCaller({ keyId: 'k1' }))).toBe(2);
    expect(await left(keyCaller({ keyId: 'k2' }))).toBe(2);
    expect(await left(sessionCaller({ accountId: 'ana' }))).toBe(2);
    expect(await left(sessionCaller({ accountId: 'ana' }))).toBe(1);
    expect(await left(sessionCaller({ accountId: 'bo' }))).toBe(2);
    expect(await left(keyCaller({ keyId: 'ana' }))).toBe(2);
  });

  it.each([
    ['free', 3],
    ['basic', 30],
    ['pro', 300],
  ] as const)('is that of the tier: %s %i', async (tier, limit) => {
    expect((await openRate(rates, null, '').consume(keyCaller({ tier }), 1)).limit).toBe(limit);
  });

  it('refuses a cost that does not fit without charging it', async () => {
    const rate = openRate(rates, null, '');
    await rate.consume(keyCaller(), 1);
    expect(await rate.consume(keyCaller(), 3)).toEqual({ allowed: false, limit: 3, remaining: 2, resetSeconds: 60 });
    expect(await rate.consume(keyCaller(), 2)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await openRate(rates, null, '').consume(keyCaller(), 4)).toMatchObject({ allowed: false, remaining: 3 });
  });

  it('counts clients without a credential by address', async () => {
    const rate = openRate(rates, null, '');
    const left = async (address: string) => (await rate.consume({ address }, 1)).remaining;
    expect([await left('192.0.2.1'), await left('192.0.2.1'), await left('192.0.2.2')]).toEqual([1, 0, 1]);
    expect(await rate.consume({ address: '192.0.2.1' }, 1)).toMatchObject({ allowed: false, limit: 2 });
    expect(rate.limit({ address: '192.0.2.1' })).toBe(2);
  });

  it('charges a fraction as a whole, and nothing less than one', async () => {
    const rate = openRate(rates, null, '');
    expect((await rate.consume(keyCaller(), 0)).remaining).toBe(2);
    expect((await rate.consume(keyCaller(), 1.2)).remaining).toBe(0);
  });
});

describe('what was charged too much', () => {
  const prefix = ownPrefix();
  const links: RedisLink[] = [];
  afterEach(async () => {
    await Promise.all(links.splice(0).map((opened) => opened.close()));
    if (redisUrl !== null) await clean(prefix);
  });
  const makers: Record<string, () => Rate> = {
    'one process': () => openRate(rates, null, ''),
    'the process that counts for all workers': () => openRate(rates, null, '', byMessage().rate),
    'a worker whose counting process has ended': () => {
      const asker = byMessage();
      asker.lost();
      return openRate(rates, null, '', asker.rate);
    },
    ...(redisUrl !== null && {
      Redis() {
        const link = new RedisLink(redisUrl!, () => {});
        links.push(link);
        return openRate(rates, link, prefix);
      },
    }),
  };
  const caller = keyCaller({ tier: 'basic' });

  describe.each(Object.keys(makers))('%s', (name) => {
    const open = () => makers[name]!();

    it('is given back to the minute', async () => {
      const rate = open();
      await rate.consume(caller, 20);
      expect(await rate.refund(caller, 15)).toMatchObject({ allowed: true, limit: 30, remaining: 25 });
      expect(await rate.consume(caller, 25)).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('is given back once: nobody gets more than a minute holds', async () => {
      const rate = open();
      await rate.consume(caller, 5);
      expect(await rate.refund(caller, 20)).toMatchObject({ remaining: 30 });
      expect(await rate.refund(caller, 20)).toMatchObject({ remaining: 30 });
      expect(await rate.consume(caller, 31)).toMatchObject({ allowed: false, remaining: 30 });
      expect(await rate.consume(caller, 30)).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('is nothing in a minute that has not begun', async () => {
      const rate = open();
      expect(await rate.refund(caller, 20)).toMatchObject({ limit: 30, remaining: 30 });
      expect(await rate.consume(caller, 30)).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('may be less than it really cost, which is taken though it is more than is left', async () => {
      const rate = open();
      await rate.consume(caller, 20);
      expect(await rate.refund(caller, -4)).toMatchObject({ allowed: true, remaining: 6 });
      expect(await rate.refund(caller, -20)).toMatchObject({ allowed: true, remaining: 0 });
      expect(await rate.consume(caller, 1)).toMatchObject({ allowed: false, remaining: 0 });
    });

    it('is given back at the same time by several requests', async () => {
      const rate = open();
      await Promise.all([1, 2, 3].map(() => rate.consume(caller, 10)));
      await Promise.all([1, 2, 3].map(() => rate.refund(caller, 9)));
      expect(await rate.consume(caller, 27)).toMatchObject({ allowed: true, remaining: 0 });
    });
  });
});

describe.skipIf(redisUrl === null)('the rate of several processes', () => {
  const prefix = ownPrefix();
  const links: RedisLink[] = [];
  const lines: string[] = [];
  const link = (url = redisUrl!) => {
    const opened = new RedisLink(url, (line) => lines.push(line));
    links.push(opened);
    return opened;
  };
  afterEach(async () => {
    await Promise.all(links.splice(0).map((opened) => opened.close()));
    await clean(prefix);
    lines.length = 0;
  });

  it('is one count', async () => {
    const [one, two] = [openRate(rates, link(), prefix), openRate(rates, link(), prefix)];
    expect(await one.consume(keyCaller(), 1)).toMatchObject({ allowed: true, remaining: 2 });
    expect(await two.consume(keyCaller(), 1)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await two.consume(keyCaller(), 2)).toMatchObject({ allowed: false, remaining: 1 });
    expect(await one.consume(keyCaller(), 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await two.consume(keyCaller(), 1)).toMatchObject({ allowed: false, limit: 3 });
  });

  it('is never exceeded by requests at the same time', async () => {
    const processes = [openRate(rates, link(), prefix), openRate(rates, link(), prefix)];
    const states = await Promise.all(Array.from({ length: 40 }, (_, i) => processes[i % 2]!.consume(keyCaller(), 1)));
    expect(states.filter((state) => state.allowed)).toHaveLength(3);
  });

  it('becomes each process’s own while Redis is away or hangs, with one warning, and is shared again after', async () => {
    const { hostname, port } = new URL(redisUrl!);
    const proxy = await flakyProxy(hostname, Number(port || 6379));
    const rate = openRate(rates, link(`redis://:secret-word@127.0.0.1:${proxy.port}`), prefix);
    const other = openRate(rates, link(), prefix);
    const consume = async () => (await rate.consume(keyCaller(), 1)).remaining;
    expect(await consume()).toBe(2);

    proxy.hang();
    const start = performance.now();
    expect(await consume()).toBe(2);
    expect(await consume()).toBe(1);
    // A command is waited for 0.3 s at most; without that, forever.
    expect(performance.now() - start).toBeLessThan(5000);

    await proxy.takeAway();
    expect(await consume()).toBe(0);
    expect(lines.filter((line) => line.startsWith('warning: '))).toHaveLength(1);
    expect(lines.join()).not.toContain('secret-word');

    await proxy.bringBack();
    await vi.waitFor(() => expect(lines.at(-1)).toContain('is back'), { timeout: 20_000, interval: 50 });
    expect((await other.consume(keyCaller(), 1)).remaining).toBe(1);
    expect(await consume()).toBe(0);
    await proxy.takeAway();
  });

  it('is each process’s own when Redis was never there', async () => {
    const rate = openRate(rates, link('redis://127.0.0.1:9'), prefix);
    expect(await rate.consume(keyCaller(), 1)).toMatchObject({ allowed: true, remaining: 2 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('warning: Redis at 127.0.0.1:9 is not reachable');
  });
});

test('Redis is tried again soon after it was lost, then less often, and every 5 s in the end', () => {
  expect([1, 2, 3, 4, 5, 6, 1000].map(retryDelayMs)).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
});

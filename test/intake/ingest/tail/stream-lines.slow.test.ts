import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStreamLines } from '../../../../src/intake/ingest/tail/stream-lines.ts';
import { flakyProxy } from '../../../access/flaky-proxy.ts';
import { hasRedisServer, type OwnRedis, ownRedis } from '../../../support/servers/own-redis.ts';

/** A producer that tries each entry until it is in the stream, and says how many are. */
function producer(redis: OwnRedis, count: number) {
  const client = new Redis(redis.url, { maxRetriesPerRequest: 0, retryStrategy: () => 50 });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  let sent = 0;
  const all = (async () => {
    for (let n = 1; n <= count; n++) {
      // By an id of its own, an entry whose answer was lost is not entered twice.
      for (;;) {
        const outcome = await client.xadd('tape', `${n}-0`, 'line', `line ${n}`).catch((error: Error) => error.message);
        if (outcome === `${n}-0` || /equal or smaller/.test(outcome ?? '')) break;
        await delay(20);
      }
      sent = n;
      if (n % 10 === 0) await delay(2);
    }
  })();
  return { client, all, sent: () => sent };
}

/** Reads the tape by `url` until `through` lines came, acknowledging each piece when the next is asked for. */
async function reader(url: string, through: number) {
  const stop = new AbortController();
  const log: string[] = [];
  const options = {
    url,
    stream: 'tape',
    group: 'g',
    consumer: 'c',
    stop: stop.signal,
    log: (text: string) => log.push(text),
  };
  const tape = await openStreamLines(options);
  const lines: string[] = [];
  const done = (async () => {
    let pieces = 0;
    for await (const piece of tape.pieces()) {
      lines.push(...piece.toString().trim().split('\n'));
      await tape.acknowledge(++pieces);
      if (lines.length >= through) break;
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    tape.close();
    await done.catch(() => {});
  });
  return { lines, log, done };
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`);

async function pending(client: Redis): Promise<number> {
  const [count] = (await client.xpending('tape', 'g')) as [number];
  return count;
}

describe.skipIf(!hasRedisServer)('a tape in a Redis that goes away', () => {
  test('goes on when it is back, killed at any moment, with no line lost or doubled, and each way told once', async () => {
    const redis = await ownRedis();
    const { lines, log, done } = await reader(redis.url, 3000);
    const { client, all, sent } = producer(redis, 3000);
    // A reader that has not come back yet would not notice that it is gone again.
    const isReading = () => !log.at(-1)?.includes('not reachable');
    for (const at of [400, 1100, 1900]) {
      while (sent() < at || !isReading()) await delay(1);
      await redis.kill();
      // Lines that it has are read first: only then it asks again, and finds nobody.
      while (isReading()) await delay(1);
      await redis.start();
    }
    await Promise.all([all, done]);
    expect(lines).toEqual(numbered(3000));
    expect(log.map((text) => text.split(' (')[0])).toEqual(
      Array(3).fill(['warning: Redis is not reachable', 'Redis is back; reading continues']).flat(),
    );
    await expect.poll(() => pending(client)).toBe(0);
  });

  test('goes on over a way that is cut, or hangs while answers are under way', async () => {
    const redis = await ownRedis();
    const proxy = await flakyProxy('127.0.0.1', redis.port);
    const { lines, done } = await reader(`redis://127.0.0.1:${proxy.port}`, 2000);
    const { all, sent } = producer(redis, 2000);
    for (const [at, how] of [
      [300, 'takeAway'],
      [700, 'takeAway'],
      [1100, 'hang'],
      [1600, 'takeAway'],
    ] as const) {
      while (sent() < at) await delay(1);
      await proxy[how]();
      await delay(how === 'hang' ? 700 : 100);
      await proxy.bringBack();
    }
    await Promise.all([all, done]);
    expect(lines).toEqual(numbered(2000));
    await proxy.takeAway();
  });

  test('goes on in a Redis that came back with nothing', async () => {
    const redis = await ownRedis();
    const { lines, done } = await reader(redis.url, 600);
    const first = producer(redis, 300);
    await first.all;
    await expect.poll(() => lines.length).toBe(300);
    await redis.kill();
    await redis.start('removed');
    for (let n = 301; n <= 600; n++) await first.client.xadd('tape', `${n}-0`, 'line', `line ${n}`).catch(() => n--);
    await done;
    expect(lines).toEqual(numbered(600));
  });

  test('is not waited for when it was never there, nor when what it holds is no stream', async () => {
    const redis = await ownRedis();
    await expect(reader('redis://127.0.0.1:9', 1)).rejects.toThrow(/ECONNREFUSED/);
    const client = new Redis(redis.url);
    await client.set('tape', 'text');
    client.disconnect();
    await expect(reader(redis.url, 1)).rejects.toThrow('WRONGTYPE');
  });
});

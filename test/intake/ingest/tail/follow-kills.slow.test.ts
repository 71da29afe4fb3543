import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { clean, ownPrefix, redisUrl } from '../../../access/redis-for-tests.ts';
import { start } from '../../../cli/command-line.ts';
import type { Json } from '../../../support/app.ts';
import { lines, marketForThisTest, options, piecesOf, stored, unnumbered } from './followed-tape.ts';

describe('a live tape that is followed', () => {
  test('killed at any moment loses nothing and counts nothing twice', async () => {
    const [whole, store] = [await marketForThisTest(), await marketForThisTest()];
    await follow(whole, Readable.from(piecesOf(lines)), options());
    const position = async () => {
      const { rows } = await store.pool.query(`SELECT value FROM store_facts WHERE key = 'followed stdin'`);
      return rows[0] ? (JSON.parse(rows[0].value).lines as number) : 0;
    };
    const positions: number[] = [];
    for (let kill = 0; kill < 4; kill++) {
      const { child, ended } = start(['follow', '--from-start'], { DATABASE_URL: store.databaseUrl });
      onTestFinished(() => void child.kill('SIGKILL'));
      child.stdin!.on('error', () => {});
      const before = await position();
      const rest = piecesOf(lines.slice(before), 1000);
      child.stdin!.write(lines.slice(0, before).join(''));
      if (kill === 3) for (const piece of rest) child.stdin!.write(piece);
      if (kill === 3) child.stdin!.end();
      else {
        // It is killed while the first third of the rest arrives, at any instant after its first commit.
        child.stdin!.write(rest[0]!);
        while ((await position()) === before) await pause(20);
        void pause(Math.random() * 900).then(() => child.kill('SIGKILL'));
        for (const piece of rest.slice(1, rest.length / 3)) {
          child.stdin!.write(piece);
          await pause(30);
        }
      }
      const { code, stderr } = await ended;
      if (kill === 3)
        expect({ code, stderr: stderr.replace(/.*bad line skipped.*\n/g, '') }).toEqual({ code: 0, stderr: '' });
      positions.push(await position());
    }
    // Every one of them had written something, and had more to write.
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    expect(positions[0]).toBeGreaterThan(0);
    expect(positions[2]).toBeLessThan(lines.length);
    expect(await stored(store)).toEqual(await stored(whole));
  });
});

describe.skipIf(redisUrl === null)('a tape in a Redis stream', () => {
  test('killed at any moment loses nothing and counts nothing twice, and acknowledges what it wrote', async () => {
    const prefix = ownPrefix();
    const redis = new Redis(redisUrl!);
    onTestFinished(async () => {
      redis.disconnect();
      await clean(prefix);
    });
    const stream = `${prefix}tape`;
    const whole = await marketForThisTest();
    const killed = await marketForThisTest();
    const few = lines.slice(0, 900).map((each) => each.trim());
    await follow(whole, Readable.from([Buffer.from(few.join('\n'))]), options());
    const args = ['follow', '--stream', stream];
    const env = { DATABASE_URL: killed.databaseUrl, REDIS_URL: redisUrl! };
    for (let part = 0; part < 3; part++) {
      const { child, ended } = start(args, env);
      onTestFinished(() => void child.kill('SIGKILL'));
      for (const each of few.slice(part * 300, part * 300 + 300)) await redis.xadd(stream, '*', 'line', each);
      const left = async () => {
        const [group] = (await redis.xinfo('GROUPS', stream).catch(() => [])) as Json[];
        return group === undefined ? 1 : group[group.indexOf('pending') + 1] + (group[group.indexOf('lag') + 1] ?? 0);
      };
      if (part < 2) {
        while ((await left()) === 1) await pause(20);
        await pause(Math.random() * 700);
        child.kill('SIGKILL');
      } else {
        for (let tries = 0; tries < 500 && (await left()) > 0; tries++) await pause(20);
        expect(await left()).toBe(0);
        child.kill('SIGTERM');
      }
      await ended;
    }
    // The end of stdin completed its events; a stream never ends.
    await follow(killed, Readable.from([]), options({ source: `stream ${stream}` }));
    expect(unnumbered(await stored(killed))).toEqual(unnumbered(await stored(whole)));
  });
});

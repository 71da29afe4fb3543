import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/store/rows/connection.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { watchChanges } from '../../../src/store/versions/announcements.ts';
import { listen, notify } from '../../../src/store/versions/notifications.ts';
import { flakyProxy } from '../../access/flaky-proxy.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

async function listener(channel: string) {
  const payloads: string[] = [];
  let lost = 0;
  const stop = await listen(
    store,
    channel,
    (payload) => payloads.push(payload),
    () => lost++,
  );
  return { payloads, lost: () => lost, stop };
}

describe('notifications', () => {
  test('reach every listener of their channel and no other, in order', async () => {
    const [a, b, other] = await Promise.all([listener('prices'), listener('prices'), listener('Prices')]);
    await notify(store, 'prices', 'one');
    await notify(store, 'prices', 'zwei, "drei" ü');
    await expect.poll(() => [a.payloads, b.payloads]).toEqual(Array(2).fill(['one', 'zwei, "drei" ü']));
    expect(other.payloads).toEqual([]);
    await Promise.all([a.stop(), b.stop(), other.stop()]);
  });

  test('sent in a transaction arrive when it commits, and never when it rolls back', async () => {
    const { payloads, stop } = await listener('work');
    await inTransaction(store, async (tx) => {
      await notify(tx, 'work', 'rolled back');
      throw new Error('no');
    }).catch(() => {});
    await inTransaction(store, async (tx) => {
      await notify(tx, 'work', 'committed');
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(payloads).toEqual([]);
    });
    await expect.poll(() => payloads).toEqual(['committed']);
    await stop();
  });

  test('are listened for again after the connection broke, and the loss is told twice', async () => {
    const { payloads, lost, stop } = await listener('again');
    await store.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tapegraph listener' and datname = current_database()",
    );
    await expect.poll(lost).toBe(2);
    await notify(store, 'again', 'after');
    await expect.poll(() => payloads).toEqual(['after']);
    await stop();
    expect(lost()).toBe(2);
  });

  test('are not waited for on a connection that hangs: nothing kept is trusted until they are heard again', async () => {
    const url = new URL(store.databaseUrl.replace('@/', '@none/'));
    const proxy = await flakyProxy(
      url.searchParams.get('host') ?? url.hostname,
      Number(url.searchParams.get('port') ?? (url.port || 5432)),
    );
    const databaseUrl = `postgresql://${url.username}@127.0.0.1:${proxy.port}${url.pathname}`;
    const one = await openStore({ databaseUrl, dataDir: '', migrate: false });
    const changes = await watchChanges(one);
    const version = () => one.versions.of('market', 'SPY');
    const before = version()!;
    expect(before).not.toBeNull();
    proxy.hang();
    await notify(store, 'market_data', '');
    await expect.poll(version).toBeNull();
    await proxy.bringBack();
    await expect.poll(version).not.toBeNull();
    const heard = version()!;
    expect(heard).toBeGreaterThan(before);
    await notify(store, 'market_data', '');
    await expect.poll(version).toBe(heard + 1);
    // One that hangs does not keep a listener from ending.
    proxy.hang();
    await changes.stop();
    await proxy.takeAway();
    await one.close();
  }, 20_000);

  test('stop when the listener does, whose connection goes', async () => {
    const { payloads, stop } = await listener('ended');
    await stop();
    await notify(store, 'ended', 'late');
    const { rows } = await store.pool.query(
      "select count(*) as n from pg_stat_activity where application_name = 'tapegraph listener' and datname = current_database()",
    );
    expect(rows[0].n).toBe(0);
    expect(payloads).toEqual([]);
  });

  test('too long for PostgreSQL are refused before they are sent', async () => {
    await expect(notify(store, 'long', 'ü'.repeat(4_000))).rejects.toThrow('over 7999 bytes');
    await notify(store, 'long', 'x'.repeat(7_999));
  });
});

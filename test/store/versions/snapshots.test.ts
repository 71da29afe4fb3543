import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLiveQuotes } from '../../../src/store/market/live-quotes.ts';
import { readFrom, withView } from '../../../src/store/rows/connection.ts';
import { watchChanges } from '../../../src/store/versions/announcements.ts';
import { readsOf } from '../../../src/store/versions/reads.ts';
import { trade } from '../../support/live.ts';
import { statementsOf } from '../../support/statements.ts';
import { type TestStore, testStore } from '../../support/store.ts';

const atMs = Date.parse('2026-11-20T17:00Z');
let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

test('work that meets a commit each time is done at most three times, then on a snapshot', async () => {
  await trade(store, { SPY: 1 }, atMs);
  const { store: own, ofOneCommit } = readsOf(store);
  let times = 0;
  const prices = await ofOneCommit(async () => {
    times += 1;
    const before = (await readLiveQuotes(own, ['SPY'])).get('SPY')!.spot;
    await trade(store, { SPY: 100 + times }, atMs);
    return [before, (await readLiveQuotes(own, ['SPY'])).get('SPY')!.spot];
  }, true);
  expect(times).toBeGreaterThan(1);
  expect(times).toBeLessThanOrEqual(4);
  expect(prices).toEqual([99 + times, 99 + times]);
  // The connection of the snapshot is free again.
  const { pool } = store;
  expect(pool.idleCount).toBe(pool.totalCount);
});

test('work that meets a commit and takes long is done once more, on a snapshot', async () => {
  const { store: own, ofOneCommit } = readsOf(store);
  let times = 0;
  await ofOneCommit(async () => {
    times += 1;
    await readLiveQuotes(own, ['SPY']);
    await trade(store, { SPY: 150 }, atMs);
    await delay(300);
  }, true);
  expect(times).toBe(2);
});

test('work that may not be repeated is done once, on a snapshot', async () => {
  const { store: own, ofOneCommit } = readsOf(store);
  const prices = await ofOneCommit(async () => {
    const before = (await readLiveQuotes(own, ['SPY'])).get('SPY')!.spot;
    await trade(store, { SPY: 200 }, atMs);
    return [before, (await readLiveQuotes(own, ['SPY'])).get('SPY')!.spot];
  }, false);
  expect(prices).toEqual([150, 150]);
});

test('a value that was read of another commit than the request reads is not held by the process', async () => {
  const changes = await watchChanges(store);
  await trade(store, { AAPL: 1 }, atMs);
  const late = withView(store);
  late.view.use('market', 'AAPL');
  await late.view.ready();
  await trade(store, { AAPL: 2 }, atMs);
  expect((await readLiveQuotes(late, ['AAPL'])).get('AAPL')!.spot).toBe(2);
  expect(await late.view.isOfOneCommit()).toBe(false);
  const next = withView(store);
  expect((await readLiveQuotes(next, ['AAPL'])).get('AAPL')!.spot).toBe(2);
  expect(await next.view.isOfOneCommit()).toBe(true);
  await changes.stop();
});

test('a list over all symbols meets a commit of any, and of its subject alone', async () => {
  const list = async (written: () => Promise<void>) => {
    const own = withView(store);
    const read = () => readFrom(own, 'market', null).prisma.liveQuote.count();
    await read();
    await written();
    await read();
    return own.view.isOfOneCommit();
  };
  expect(await list(async () => {})).toBe(true);
  expect(await list(() => trade(store, { MSFT: 7 }, atMs))).toBe(false);
});

test('the digest of a list is read once at the end of a request, until its subject is written', async () => {
  const changes = await watchChanges(store);
  const digests = async () => {
    const sent = await statementsOf(async () => {
      const own = withView(store);
      await readFrom(own, 'market', null).prisma.liveQuote.count();
      expect(await own.view.isOfOneCommit()).toBe(true);
    });
    return sent.filter((text) => text.includes('digest')).length;
  };
  await trade(store, { MSFT: 1 }, atMs);
  expect([await digests(), await digests()]).toEqual([2, 1]);
  await trade(store, { MSFT: 2 }, atMs);
  expect([await digests(), await digests()]).toEqual([2, 1]);
  await changes.stop();
  expect([await digests(), await digests()]).toEqual([2, 2]);
});

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Dependencies } from '../../../src/platform/runtime/dependencies.ts';
import { createAnswerCache } from '../../../src/platform/wire/response-cache.ts';
import { openStore } from '../../../src/store/rows/connection.ts';
import { tableOf } from '../../../src/store/rows/models/model-tables.ts';
import { inTransaction, type Transaction } from '../../../src/store/rows/transaction.ts';
import { announce, watchChanges } from '../../../src/store/versions/announcements.ts';
import { DataVersions } from '../../../src/store/versions/data-versions.ts';
import { notify } from '../../../src/store/versions/notifications.ts';
import { anyChange, type Change, modelSubjects, subjects } from '../../../src/store/versions/subjects.ts';
import { readHeldAsOf } from '../../../src/store/versions/versioned-cache.ts';
import { storeForThisTest, type TestStore, testStore } from '../../support/store.ts';

function heard(): DataVersions {
  const versions = new DataVersions();
  versions.addListening(1);
  return versions;
}

describe('versions', () => {
  test('move for the subject and symbol that changed, and for all of the subject', () => {
    const versions = heard();
    const all = () =>
      (['market', 'gex'] as const).flatMap((subject) =>
        ['SPY', 'AAPL', null].map((symbol) => versions.of(subject, symbol)),
      );
    const before = all();
    versions.move({ market: ['AAPL'] });
    expect(all().map((version, i) => version !== before[i])).toEqual([false, true, true, false, false, false]);
    versions.move({ gex: null });
    expect(all().map((version, i) => version !== before[i])).toEqual([false, true, true, true, true, true]);
  });

  test('are not known before changes are heard of, nor while they may be missed, and are new after that', () => {
    const versions = new DataVersions();
    expect(versions.of('market', 'SPY')).toBeNull();
    versions.addListening(1);
    const first = versions.of('market', 'SPY')!;
    versions.addLost(1);
    expect(versions.of('market', 'SPY')).toBeNull();
    versions.addLost(-1);
    expect(versions.of('market', 'SPY')).toBeGreaterThan(first);
  });

  test('count a change with an id once, and remember a bounded number of symbols', () => {
    const versions = heard();
    versions.move({ market: ['SPY'] }, 'a');
    const once = versions.count;
    versions.move({ market: ['SPY'] }, 'a');
    expect(versions.count).toBe(once);
    const before = versions.of('market', 'QQQ')!;
    for (let i = 0; i < 60_000; i++) versions.move({ market: [`T${i}`] });
    // Those that are not remembered are taken for changed.
    expect(versions.of('market', 'QQQ')).toBeGreaterThan(before);
  });
});

describe('what a transaction changes', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
  });
  afterAll(() => store.close());

  async function told(work: (tx: Transaction) => Promise<unknown>): Promise<Change[]> {
    const other = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', migrate: false });
    onTestFinished(() => other.close());
    const changes: Change[] = [];
    const watching = await watchChanges(other);
    onTestFinished(watching.stop);
    watching.onChange((change) => changes.push(change));
    await inTransaction(store, work).catch(() => {});
    await announce(store, store.primary, { flow: ['END'] });
    await expect.poll(() => changes.at(-1)).toEqual({ flow: ['END'] });
    return changes.slice(0, -1);
  }

  test('is told by models: symbols of a condition, of a list, or any', async () => {
    expect(
      await told(async ({ prisma }) => {
        await prisma.gexCapture.deleteMany({ where: { underlying: 'SPY', capturedAt: 1 } });
        await prisma.gexCapture.deleteMany({ where: { underlying: { in: ['QQQ', 'IWM', 'IWM'] } } });
        await prisma.flowLeg.deleteMany({ where: { sessionDate: '2026-11-20' } });
        await prisma.liveQuote.create({ data: { symbol: 'AAPL', sessionDate: '', spot: 1, eventTsMs: 1, volume: 1 } });
        await prisma.liveQuote.findMany({ where: { symbol: 'MSFT' } });
        await prisma.metadataEntry.create({ data: { key: 'a', value: 'b' } });
      }),
    ).toEqual([{ gex: ['SPY', 'QQQ', 'IWM'], flow: null, market: ['AAPL'] }]);
  });

  test('is told to nobody when it is rolled back, or changed nothing that is held', async () => {
    expect(
      await told(async (tx) => {
        tx.changes.add('market', 'SPY');
        throw new Error('no');
      }),
    ).toEqual([]);
    expect(await told(({ prisma }) => prisma.metadataEntry.create({ data: { key: 'c', value: 'b' } }))).toEqual([]);
  });

  test('of too many symbols for a notification is announced as every symbol of that subject alone', async () => {
    const many = Array.from({ length: 3000 }, (_, i) => `T${i}`);
    expect(
      await told(async (tx) => {
        for (const symbol of many) tx.changes.add('market', symbol);
        tx.changes.add('gex', 'SPY');
      }),
    ).toEqual([{ market: null, gex: ['SPY'] }]);
  });

  test('that is not understood may be anything', async () => {
    for (const payload of ['', '{', '{"stocks":["SPY"]}', '{"id":"a","change":{}}', '{"id":"a","bonds":["SPY"]}'])
      expect(await told((tx) => notify(tx, 'market_data', payload))).toEqual([anyChange]);
  });

  test('is not written outside of one: nobody would be told', async () => {
    const { prisma } = await storeForThisTest();
    expect(() => prisma.liveQuote.deleteMany({ where: { symbol: 'SPY' } })).toThrow('inside of inTransaction');
    expect(await prisma.liveQuote.count()).toBe(0);
  });

  test('has a subject for every model that holds a symbol of one', () => {
    for (const [model, owner] of Object.entries(modelSubjects)) {
      if (owner === null) continue;
      expect(subjects).toContain(owner.subject);
      const fields = tableOf(model as keyof typeof modelSubjects).fields.map(({ field }) => field);
      if (owner.symbol !== null) expect(fields, model).toContain(owner.symbol);
    }
  });
});

test('the last of something is held for the time in which it was the last', async () => {
  const store = await storeForThisTest();
  const { stop } = await watchChanges(store);
  onTestFinished(stop);
  const stored = [10, 20, 30];
  let reads = 0;
  const at = async (...instants: number[]) =>
    (
      await readHeldAsOf<{ at: number }>(
        store,
        { subject: 'gex', name: 'test', bytesOf: () => 8 },
        instants.map((atMs) => ({ symbol: 'SPY', atMs })),
        async (missing) => {
          reads++;
          return missing.map(({ atMs }) => {
            const last = stored.findLast((each) => each <= atMs);
            const next = stored.find((each) => each > atMs);
            return { fromMs: last ?? -Infinity, untilMs: next ?? Infinity, value: last ? { at: last } : null };
          });
        },
      )
    ).map((value) => value?.at ?? null);
  expect(await at(35, 12)).toEqual([30, 10]);
  expect(await at(30, 1e15, 10, 19)).toEqual([30, 30, 10, 10]);
  expect(reads).toBe(1);
  expect(await at(5, 20)).toEqual([null, 20]);
  expect(await at(9, 29)).toEqual([null, 20]);
  expect(reads).toBe(2);
  stored.push(40);
  await inTransaction(store, async (tx) => tx.changes.add('gex', 'SPY'));
  expect(await at(45, 35)).toEqual([40, 30]);
  expect(reads).toBe(3);
});

describe('a cached answer', () => {
  test('is served while nothing changes that it was made from', () => {
    const versions = heard();
    const cache = createAnswerCache<string>(100_000, (answer) => answer.length);
    const ask = (key: string, symbol: string) => {
      const found = cache.find(key);
      if (found !== undefined) return found;
      const store = cache.storing(key);
      const from = new Dependencies();
      from.add(versions, 'market', symbol, versions.of('market', symbol));
      store?.(`${key} made`, from);
      return `${key} anew`;
    };
    for (const said of ['anew', 'anew', 'made'])
      expect([ask('a', 'AAPL'), ask('s', 'SPY')]).toEqual([`a ${said}`, `s ${said}`]);
    versions.move({ market: ['AAPL'] });
    expect([ask('a', 'AAPL'), ask('s', 'SPY')]).toEqual(['a anew', 's made']);
    expect([ask('a', 'AAPL'), ask('s', 'SPY')]).toEqual(['a made', 's made']);
    versions.addLost(1);
    expect([ask('a', 'AAPL'), ask('s', 'SPY')]).toEqual(['a anew', 's anew']);
  });

  test('is not kept when a change overtook it, nor when nobody knows what it was made from', () => {
    const versions = heard();
    const cache = createAnswerCache<string>(100_000, (answer) => answer.length);
    expect(cache.storing('a')).toBeNull();
    const store = cache.storing('a')!;
    store('of nothing', new Dependencies());
    expect(cache.find('a')).toBeUndefined();
    const from = new Dependencies();
    from.add(versions, 'gex', 'SPY', versions.of('gex', 'SPY'));
    versions.move({ gex: ['SPY'] });
    from.add(versions, 'gex', 'SPY', versions.of('gex', 'SPY'));
    store('of before', from);
    expect(cache.find('a')).toBeUndefined();
  });
});

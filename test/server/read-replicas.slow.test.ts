import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, readFrom, readingTogether, type Store, withView } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { noteCommits } from '../../src/store/versions/symbol-commits.ts';
import { flakyProxy } from '../access/flaky-proxy.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type OwnPostgres, ownPostgres } from '../support/servers/own-postgres.ts';

const path = '/v2/stocks/NVDA/bars?from=2026-11-19&to=2026-11-20';

async function writeClose(store: Store, close: number): Promise<void> {
  const at = { tsMs: exchangeInstant('2026-11-19', 600), open: 1, high: 999, low: 1, volume: 1, vwap: null };
  await inTransaction(store, async (tx) => {
    await writeBars(tx, '1m', [{ symbol: 'NVDA', bars: toBarColumns([{ ...at, close, tradeCount: null }]) }]);
  });
}

/**
 * A primary with a standby, an application that reads from `through` (the standby itself), and a store of who writes.
 */
async function replicated(through: (standby: OwnPostgres) => Promise<string[]> = async (standby) => [standby.url()]) {
  const primary = await ownPostgres();
  const standby = await primary.standby();
  const databaseUrl = primary.url();
  const writer = await openStore({ databaseUrl, dataDir: '' });
  onTestFinished(() => writer.close());
  const log: string[] = [];
  const readUrls = await through(standby);
  const options = {
    databaseUrl,
    dataDir: '',
    readUrls,
    statementTimeoutMs: 60_000,
    log: (text: string) => log.push(text),
  };
  const store = await openStore(options);
  const app = await testApp({ store: { ...store, databaseUrl } });
  onTestFinished(() => app.close());
  // A session: it has no limit of requests in flight.
  const credential = await app.session();
  const close = async () => (await app.get(path, { credential })).body.data?.[0]?.close;
  return { primary, standby, writer, store, app, log, credential, close };
}

/** True if the next statements are read from a standby. */
async function fromStandby(store: Store): Promise<boolean> {
  const { rows } = await readFrom(store, 'market', null).query<{ yes: boolean }>('select pg_is_in_recovery() as yes');
  return rows[0]!.yes;
}

const untilFromStandby = (store: Store) => vi.waitUntil(() => fromStandby(store), { timeout: 15_000, interval: 20 });

describe('market data read from a standby', () => {
  test('is never older than what was told, while the standby lags; what an account owns is read from the primary', async () => {
    const { standby, writer, store, app, close, credential } = await replicated();
    await writeClose(writer, 1);
    await vi.waitUntil(async () => (await close()) === 1, { timeout: 10_000, interval: 10 });
    await untilFromStandby(store);
    expect(await close()).toBe(1);
    await standby.query('select pg_wal_replay_pause()');
    for (let value = 2; value < 6; value++) {
      await writeClose(writer, value);
      await vi.waitUntil(async () => (await close()) === value, { timeout: 10_000, interval: 10 });
      // Once seen, nothing older is, kept or read.
      for (let again = 0; again < 5; again++) expect(await close()).toBe(value);
    }
    expect(await fromStandby(store)).toBe(false);
    const body = JSON.stringify({ name: 'mine', symbols: ['SPY'] });
    await app.send('PUT', '/v2/watchlists/mine', { credential, body });
    expect(JSON.stringify((await app.get('/v2/watchlists', { credential })).body)).toContain('mine');
    await standby.query('select pg_wal_replay_resume()');
    await untilFromStandby(store);
    expect(await close()).toBe(5);
  });

  test('is read by Prisma too, and a request stays with its standby until it would be old', async () => {
    const { standby, writer, store } = await replicated();
    await untilFromStandby(store);
    await standby.query('select pg_wal_replay_pause()');
    await writer.prisma.metadataEntry.create({ data: { key: 'late', value: '' } });
    const where = { key: 'late' };
    const request = readingTogether(store);
    expect(await readFrom(request, 'market', null).prisma.metadataEntry.count({ where })).toBe(0);
    expect(await readFrom(store, 'market', null).prisma.metadataEntry.findUnique({ where })).toBeNull();
    expect(await store.prisma.metadataEntry.count({ where })).toBe(1);
    await inTransaction(writer, async (tx) => tx.changes.add('market', 'NVDA'));
    await vi.waitUntil(
      async () => (await readFrom(request, 'market', null).prisma.metadataEntry.count({ where })) === 1,
      20_000,
    );
    await standby.query('select pg_wal_replay_resume()');
    await untilFromStandby(store);
    // Its later readings are the primary's too.
    await standby.query('select pg_wal_replay_pause()');
    await writer.prisma.metadataEntry.delete({ where });
    expect(await readFrom(store, 'market', null).prisma.metadataEntry.count({ where })).toBe(1);
    expect(await readFrom(request, 'market', null).prisma.metadataEntry.count({ where })).toBe(0);
    await standby.query('select pg_wal_replay_resume()');
  });

  test('is not read while it lacks a commit that a request saw on the primary before it was told', async () => {
    const { standby, writer, store } = await replicated();
    await untilFromStandby(store);
    await standby.query('select pg_wal_replay_pause()');
    const late = `select from store_facts where key = 'late'`;
    // Without a notification, as while one is on its way.
    await noteCommits(writer.primary, { market: ['NVDA'] }, 'on.its.way');
    await writer.prisma.metadataEntry.create({ data: { key: 'late', value: '' } });
    const { view: first } = withView(store);
    first.readOnFrom(store.primary);
    first.useFresh('market', 'NVDA');
    await first.ready();
    const second = withView(store);
    const count = () => readFrom(second, 'market', ['NVDA']).prisma.metadataEntry.count({ where: { key: 'late' } });
    const before = await count();
    await standby.query('select pg_wal_replay_resume()');
    await vi.waitUntil(async () => (await standby.query(late)).length === 1, 15_000);
    const after = await count();
    expect(await second.view.isOfOneCommit()).toBe(true);
    expect([before, after]).toEqual([1, 1]);
    await untilFromStandby(store);
    const { view: third } = withView(store);
    third.useFresh('market', 'SPY');
    await third.ready();
    // The standby that showed a commit has it.
    expect(await fromStandby(store)).toBe(true);
  });

  test('never goes back within a request, nor over many changes', async () => {
    const { writer, store, close } = await replicated();
    let last = 0;
    let done = false;
    const reading = (async () => {
      while (!done) {
        const seen = (await close()) ?? 0;
        expect(seen).toBeGreaterThanOrEqual(last);
        last = seen;
      }
    })();
    for (let value = 1; value <= 40; value++) await writeClose(writer, value);
    await vi.waitUntil(() => last === 40, { timeout: 10_000 });
    done = true;
    await reading;
    await untilFromStandby(store);
    // One request stays with the primary from the first time it needed it.
    const together = readingTogether(store);
    expect(await fromStandby(together)).toBe(true);
    store.replicas!.changed();
    expect(await fromStandby(together)).toBe(false);
    await untilFromStandby(store);
    expect(await fromStandby(together)).toBe(false);
  });

  test('goes on when the standby is killed, without a failed request, and uses it again when it is back', async () => {
    const { standby, writer, store, app, log, credential } = await replicated();
    await writeClose(writer, 7);
    await untilFromStandby(store);
    const statuses = new Set<number>();
    const ask = async (app: TestApp) =>
      statuses.add((await app.get(`${path}&limit=${statuses.size + 1}`, { credential })).status);
    const asking = Promise.all(Array.from({ length: 60 }, () => ask(app)));
    await standby.kill();
    await asking;
    for (let more = 0; more < 20; more++) await ask(app);
    expect([...statuses]).toEqual([200]);
    expect(await fromStandby(store)).toBe(false);
    await standby.start();
    await untilFromStandby(store);
    expect(log.map((line) => line.replace(/\S*\/postgres\b.*?:.*/, '').trim())).toEqual([
      'warning: the read replica',
      expect.stringContaining('is used again'),
    ]);
  });

  test('is answered in a bounded time when the way to the standby hangs', async () => {
    let proxy!: Awaited<ReturnType<typeof flakyProxy>>;
    const { store } = await replicated(async (standby) => {
      const socket = new URL(standby.url().replace('@/', '@none/')).searchParams.get('host')!;
      proxy = await flakyProxy(socket, 5432);
      return [`postgresql://postgres@127.0.0.1:${proxy.port}/postgres`];
    });
    await untilFromStandby(store);
    proxy.hang();
    const startMs = performance.now();
    expect(await fromStandby(store)).toBe(false);
    // It is asked where it is, and has two seconds to say: no statement waits for its own limit, a minute.
    expect(performance.now() - startMs).toBeLessThan(30_000);
    await proxy.bringBack();
    await untilFromStandby(store);
    await proxy.takeAway();
  });

  test('is not read from what is no standby of this server', async () => {
    const stranger = await ownPostgres();
    const strange = await stranger.standby();
    const { store, log, primary } = await replicated(async () => [stranger.url(), strange.url()]);
    await vi.waitUntil(() => log.length === 2, { timeout: 15_000 });
    expect(log.join('\n')).toMatch(/it is not a standby/);
    expect(log.join('\n')).toMatch(/it is a standby of another server/);
    expect(await fromStandby(store)).toBe(false);
    expect(await primary.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

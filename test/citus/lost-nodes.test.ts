import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Timeframe, toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { readBars, writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { inSettledTransaction, inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import {
  buildDistributed,
  type CitusCluster,
  citusCluster,
  controlServer,
  createDistributed,
  killServer,
  nodeUrl,
} from '../support/servers/citus-cluster.ts';
import { type CommitProxy, commitProxy } from '../support/servers/commit-proxy.ts';

const nowMs = exchangeInstant('2026-11-20', 600);
const symbols = Array.from({ length: 16 }, (_, i) => `LW${String.fromCharCode(65 + i)}`);

const registry = symbols.map((symbol) => ({ ...testSymbols[1]!, symbol, name: symbol }));

let cluster: CitusCluster & { stop(): void };
let app: TestApp;

beforeAll(async () => {
  cluster = await citusCluster();
  await createDistributed(cluster, 'lost_worker');
  const databaseUrl = nodeUrl(cluster, 0, 'lost_worker');
  const store = await openStore({ databaseUrl, dataDir: '', migrate: false });
  const bar = { open: 1, high: 1, low: 1, close: 1, volume: 1, vwap: null, tradeCount: null };
  const bars = toBarColumns([{ ...bar, tsMs: exchangeInstant('2026-11-19', 600) }]);
  for (const timeframe of ['1m', '5m'] as const)
    await inTransaction(store, (tx) =>
      writeBars(
        tx,
        timeframe,
        symbols.map((symbol) => ({ symbol, bars })),
      ),
    );
  app = await testApp({ nowMs, store: { ...store, databaseUrl }, symbols: registry });
});
afterAll(async () => {
  await app?.close();
  cluster?.stop();
});

const control = (node: number, action: 'start' | 'stop') => controlServer(join(cluster.folder, `n${node}`), action);

/** The symbols whose rows a node has. */
async function symbolsOf(node: number): Promise<string[]> {
  const { rows } = await app.store.pool.query(
    `SELECT symbol FROM unnest($1::text[]) AS symbol
     JOIN pg_dist_shard_placement ON shardid = get_shard_id_for_distribution_column('bar_blocks', symbol)
     WHERE nodeport = $2`,
    [symbols, cluster.ports[node]],
  );
  return rows.map(({ symbol }) => symbol);
}

/** Status of each symbol's bars. A process caches what it has read, so each timeframe is requested once. */
async function statuses(of: readonly string[], timeframe: Timeframe): Promise<number[]> {
  // A key has two pages of bars in flight at most, a session any number.
  const credential = await app.session();
  const answers = of.map((symbol) =>
    app.get(`/v2/stocks/${symbol}/bars?from=2026-11-19&to=2026-11-20&tf=${timeframe}`, { credential }),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

const every = (status: number, of: readonly string[]) => of.map(() => status);

test('when a worker is lost, only its symbols are 502, and they are served again when it is back', async () => {
  const lost = await symbolsOf(1);
  const others = await symbolsOf(2);
  expect(Math.min(lost.length, others.length)).toBeGreaterThan(2);
  expect(await statuses(symbols, '1m')).toEqual(every(200, symbols));
  control(1, 'stop');
  try {
    expect(await statuses(lost, '5m')).toEqual(every(502, lost));
    expect(await statuses(others, '5m')).toEqual(every(200, others));
    // Bars that were read before are cached.
    expect(await statuses(lost, '1m')).toEqual(every(200, lost));
  } finally {
    control(1, 'start');
  }
  await expect.poll(() => statuses(symbols, '5m'), { timeout: 20_000, interval: 500 }).toEqual(every(200, symbols));
});

describe('the coordinator is killed', () => {
  let proxy: CommitProxy;
  let store: Store;
  /** A symbol on the worker behind the proxy. */
  let far: string;
  const database = 'killed_coordinator';

  beforeAll(async () => {
    proxy = await commitProxy(cluster.ports[1]!);
    await buildDistributed(cluster, database, [proxy.port, cluster.ports[2]!]);
    store = await openStore({ databaseUrl: nodeUrl(cluster, 0, database), dataDir: '', migrate: false });
    const { rows } = await store.pool.query(
      `SELECT symbol FROM unnest($1::text[]) AS symbol
       JOIN pg_dist_shard_placement ON shardid = get_shard_id_for_distribution_column('bar_blocks', symbol)
       WHERE nodeport = $2`,
      [symbols, proxy.port],
    );
    far = rows[0].symbol;
  });
  afterAll(async () => {
    proxy?.letGo();
    await store?.close();
    proxy?.close();
  });

  const bar = { open: 1, high: 1, low: 1, close: 1, volume: 1, vwap: null, tradeCount: null };
  const day = exchangeInstant('2026-11-19', 600);
  const barsAt = (minute: number) => toBarColumns([{ ...bar, tsMs: day + 60_000 * minute }]);
  const coordinator = () => join(cluster.folder, 'n0');

  /** Writes on one worker, and on the coordinator a table that Citus does not know of. */
  const write = (minute: number) =>
    inSettledTransaction(store, async (tx) => {
      await tx.query('INSERT INTO stream_tickets (hash, credential, expires_at) VALUES ($1, $2, $3)', [
        `${minute}`,
        Buffer.alloc(1),
        minute,
      ]);
      await writeBars(tx, '1m', [{ symbol: far, bars: barsAt(minute) }]);
    });

  /** Which minutes' bars there are, and which tickets. */
  async function written(): Promise<{ bars: number[]; tickets: number[] }> {
    const range = { fromMs: day, toMs: day + 3_600_000, limit: 100 };
    const found = (await readBars(store, [far], '1m', range)).get(far)!;
    const { rows } = await store.pool.query('SELECT expires_at AS minute FROM stream_tickets ORDER BY 1');
    const bars = Array.from(found.bars.tsMs, (tsMs) => (tsMs - day) / 60_000);
    return { bars, tickets: rows.map(({ minute }) => minute) };
  }

  /** Deletes them, which Citus commits in one phase on the worker unless it is made to use two. */
  const remove = () =>
    inSettledTransaction(store, async (tx) => {
      await tx.query('DELETE FROM stream_tickets');
      await tx.query('DELETE FROM bar_blocks WHERE symbol = $1', [far]);
    });

  async function killedAt(moment: 'finished' | 'decided', work: () => Promise<void>): Promise<void> {
    const killed = Promise.withResolvers<void>();
    proxy.at(moment, () => killed.resolve(killServer(coordinator())));
    await expect(work()).rejects.toThrow();
    await killed.promise;
    proxy.letGo();
    controlServer(coordinator(), 'start');
  }

  test('before it has committed: nothing of the transaction is there, on any node', async () => {
    await write(0);
    await killedAt('finished', remove);
    await store.cluster.untilSettled();
    expect(await written()).toEqual({ bars: [0], tickets: [0] });
  });

  test('once it has committed: all is there, and what is written next does not overwrite it', async () => {
    await killedAt('decided', () => write(2));
    await write(3);
    expect(await written()).toEqual({ bars: [0, 2, 3], tickets: [0, 2, 3] });
  });
});

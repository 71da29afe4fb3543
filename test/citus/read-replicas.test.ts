import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, readFrom, type Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type CoordinatorStandby, coordinatorStandby } from '../support/servers/citus-cluster.ts';
import { databaseUrl, onServer } from '../support/servers/template-database.ts';
import { type TestStore, testStore } from '../support/store.ts';

const path = '/v2/stocks/NVDA/bars?from=2026-11-19&to=2026-11-20';

/** A gateway that reads from the standby. */
interface Gateway {
  store: Store;
  app: TestApp;
  credential: string;
  log: string[];
}

let store: TestStore;
let standby: CoordinatorStandby;
let gateways: [Gateway, Gateway];

async function gateway(readUrls: string[]): Promise<Gateway> {
  const log: string[] = [];
  const opened = await openStore({
    databaseUrl: store.databaseUrl,
    dataDir: '',
    readUrls,
    statementTimeoutMs: 60_000,
    log: (line) => log.push(line),
  });
  const app = await testApp({ store: { ...opened, databaseUrl: store.databaseUrl } });
  return { store: opened, app, credential: await app.session(), log };
}

beforeAll(async () => {
  store = await testStore();
  standby = await coordinatorStandby(inject('cluster')!);
  const url = databaseUrl(standby.url, new URL(store.databaseUrl).pathname.slice(1));
  gateways = [await gateway([url]), await gateway([url])];
});
afterAll(async () => {
  await Promise.all((gateways ?? []).map(({ app }) => app.close()));
  standby?.stop();
  await store?.close();
});

/** Writes through a gateway's own store: bars of symbols that are on both workers. */
async function writeClose(through: Gateway, close: number): Promise<void> {
  const at = { tsMs: exchangeInstant('2026-11-19', 600), open: 1, high: 999, low: 1, volume: 1, vwap: null };
  const bars = toBarColumns([{ ...at, close, tradeCount: null }]);
  await inTransaction(through.store, (tx) =>
    writeBars(
      tx,
      '1m',
      ['NVDA', 'SPY', 'AAPL', 'MSFT', 'XOM'].map((symbol) => ({ symbol, bars })),
    ),
  );
}

async function shown({ app, credential }: Gateway): Promise<number | undefined> {
  const { status, body } = await app.get(path, { credential });
  expect(status).toBe(200);
  return body.data[0]?.close;
}

async function fromStandby({ store: of }: Gateway): Promise<boolean> {
  const { rows } = await readFrom(of, 'market', null).query<{ yes: boolean }>('SELECT pg_is_in_recovery() AS yes');
  return rows[0]!.yes;
}
const untilFromStandby = (of: Gateway) => vi.waitUntil(() => fromStandby(of), { timeout: 30_000, interval: 50 });

describe('two gateways that read a standby of the coordinator', () => {
  test('show what the other has written, and nothing older from then on, while the standby lags', async () => {
    await Promise.all(gateways.map(untilFromStandby));
    await onServer(standby.url, 'SELECT pg_wal_replay_pause()');
    for (let value = 1; value <= 6; value++) {
      const [writer, reader] = value % 2 ? gateways : gateways.toReversed();
      await writeClose(writer!, value);
      expect(await shown(writer!)).toBe(value);
      await vi.waitUntil(async () => (await shown(reader!)) === value, { timeout: 20_000, interval: 20 });
      for (let again = 0; again < 5; again++) expect(await shown(reader!)).toBe(value);
      if (value === 3) await onServer(standby.url, 'SELECT pg_wal_replay_resume()');
    }
    await Promise.all(gateways.map(untilFromStandby));
    for (const each of gateways) expect(await shown(each)).toBe(6);
  });

  test('answer without a failure when it is killed, and use it again when it is back', async () => {
    standby.stop();
    for (let value = 7; value <= 9; value++) {
      const [writer, reader] = value % 2 ? gateways : gateways.toReversed();
      await writeClose(writer!, value);
      await vi.waitUntil(async () => (await shown(reader!)) === value, { timeout: 20_000, interval: 20 });
    }
    standby.start();
    await Promise.all(gateways.map(untilFromStandby));
    for (const each of gateways) expect(await shown(each)).toBe(9);
    expect(gateways[0].log.at(-1)).toMatch(/is used again$/);
  });

  test('do not read one that reads standbys of the workers, and say why', async () => {
    const url = new URL(databaseUrl(standby.url, new URL(store.databaseUrl).pathname.slice(1)));
    url.searchParams.set('options', '-c citus.use_secondary_nodes=always');
    const third = await gateway([url.href]);
    try {
      await vi.waitUntil(() => third.log.length > 0, { timeout: 20_000 });
      expect(third.log[0]).toContain('it reads standbys of the workers: set citus.use_secondary_nodes to never');
      expect(await fromStandby(third)).toBe(false);
      expect(await shown(third)).toBe(9);
    } finally {
      await third.app.close();
    }
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isHalfDay, regularSession } from '../../../src/core/domain/calendar.ts';
import { standardRoots } from '../../../src/core/domain/chain/option-root.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ensureSampleMarket } from '../../../src/intake/ingest/sample/sample-market.ts';
import { sampleMetadata } from '../../../src/intake/ingest/sample-metadata.ts';
import { samplePrices } from '../../../src/intake/sample/market/prices.ts';
import { tapeEndMs } from '../../../src/intake/sample/market/tape-shape.ts';
import { chainCapturesAt } from '../../../src/store/chain/chain-captures.ts';
import { gexCapturesOf } from '../../../src/store/gex/captures.ts';
import { readBars } from '../../../src/store/market/bar-blocks.ts';
import { symbolRegistry } from '../../../src/store/market/symbols.ts';
import { storeForThisTest, type TestStore, testStore } from '../../support/store.ts';
import { sampleTapes } from '../../support/tapes/sample-tapes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// The market of `npm start` is made of the same parts, ten times over.
const tape = { optionPrints: 2000, plants: 56, stockPrints: 0, symbols: ['SPX', 'SPY', 'NVDA', 'TSLA'] };
const shape = { barSessions: 2, chainSessions: 2, historySessions: 3, captureEveryMinutes: 180, tapeSessions: 2, tape };
const folder = temporaryFolder();
const at = (date: string, minute: number) => exchangeInstant(date, minute);
const all = { fromMs: 0, toMs: 4e12, limit: Infinity };

describe('the sample market', () => {
  let store: TestStore;
  let nowMs = at('2026-11-19', 11 * 60 + 2);
  const now = () => nowMs;
  const bring = () => ensureSampleMarket(store, { dataDir: folder(), now, shape });
  const count = async (table: string) =>
    Number((await store.pool.query(`SELECT count(*) AS n FROM ${table}`)).rows[0].n);
  const minutes = async (symbol: string, timeframe: '1m' | '1d' = '1m') =>
    (await readBars(store, [symbol], timeframe, all)).get(symbol)!.bars;

  beforeAll(async () => {
    store = await testStore();
    await ensureStarterRegistry(store, now);
    expect(await bring()).toBe('created');
  });
  afterAll(() => store.close());

  test('knows some forty symbols, of which every one is registered', async () => {
    const registry = await symbolRegistry(store);
    const { rows } = await store.pool.query<{ symbol: string }>(
      `SELECT DISTINCT symbol FROM bar_blocks WHERE timeframe = '1m'`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(rows.filter(({ symbol }) => !registry.get(symbol)?.registered)).toEqual([]);
    const sectors = new Set(rows.map(({ symbol }) => registry.get(symbol)!.sector).filter((sector) => sector !== null));
    expect(sectors.size).toBe(5);
    expect(rows.filter(({ symbol }) => registry.get(symbol)!.class === 'index')).toHaveLength(2);
  });

  test('ends at the last complete minute of the session under way', async () => {
    const bars = await minutes('SPY');
    expect(bars.tsMs.at(-1)).toBe(at('2026-11-19', 11 * 60 + 1));
    const days = await minutes('SPY', '1d');
    expect(days.tsMs.at(-1)).toBe(at('2026-11-19', 0));
    expect(days.close.at(-1)).toBe(bars.close.at(-1));
    const captures = await gexCapturesOf(store, ['SPX'], '2026-11-19', { ...all, byExpiry: false });
    expect(captures.get('SPX')!.map((capture) => capture.capturedAt)).toEqual([at('2026-11-19', 570)]);
  });

  test('has chains whose quotes are of the time of their page', async () => {
    for (const table of ['chain_captures', 'gex_captures']) {
      const { rows } = await store.pool.query(`SELECT DISTINCT delay_ms FROM ${table}`);
      expect(rows).toEqual([{ delay_ms: 0 }]);
    }
  });

  test('holds a half day, with volume that is high at the open and the close', async () => {
    const bars = await minutes('AAPL');
    const { openMs, closeMs } = regularSession('2025-12-24')!;
    expect(isHalfDay('2025-12-24')).toBe(true);
    const session = Array.from(bars.volume).filter((_, i) => bars.tsMs[i]! >= openMs && bars.tsMs[i]! < closeMs);
    expect(session).toHaveLength(210);
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(session.slice(0, 15))).toBeGreaterThan(1.5 * mean(session.slice(95, 115)));
    expect(mean(session.slice(-15))).toBeGreaterThan(1.5 * mean(session.slice(95, 115)));
  });

  test('has bars that enclose their prices, and a vwap within them', async () => {
    for (const symbol of ['AAPL', 'SPY', 'BRK.B']) {
      const bars = await minutes(symbol);
      for (let i = 0; i < bars.tsMs.length; i++) {
        expect(bars.low[i]).toBeLessThanOrEqual(Math.min(bars.open[i]!, bars.close[i]!, bars.vwap[i]!));
        expect(bars.high[i]).toBeGreaterThanOrEqual(Math.max(bars.open[i]!, bars.close[i]!, bars.vwap[i]!));
      }
    }
  });

  test('lists weekly and adjusted roots; solves some captures and takes the others as the vendor gives them', async () => {
    const atMs = at('2026-11-19', 700);
    const chains = await chainCapturesAt(
      store,
      ['SPX', 'NDX', 'TSLA', 'BRK.B'].map((underlying) => ({ underlying, atMs })),
    );
    const roots = chains.map((chain) => [...new Set(chain!.rows.map((row) => row.root))].sort());
    expect(roots).toEqual([['SPX', 'SPXW'], ['NDX', 'NDXP'], ['TSLA', 'TSLA1'], ['BRKB']]);
    expect(standardRoots.of('TSLA1').underlying).toBe('TSLA');
    expect(chains.every((chain) => !chain!.partial && chain!.spot! > 0 && chain!.priorCloseSpot! > 0)).toBe(true);
    const gammas = chains[0]!.rows.map((row) => row.gamma!).filter((gamma) => gamma > 0);
    expect(gammas.every((gamma) => Math.abs(gamma * 1e4 - Math.round(gamma * 1e4)) < 1e-9)).toBe(true);
    const gex = await gexCapturesOf(store, ['SPX', 'MSFT'], '2026-11-18', { ...all, byExpiry: true });
    expect(gex.get('SPX')!.map((capture) => capture.gammaSource)).toEqual(['vendor', 'vendor', 'vendor']);
    expect(gex.get('MSFT')!.map((capture) => capture.gammaSource)).toEqual(['solve']);
    for (const capture of [...gex.get('SPX')!, ...gex.get('MSFT')!]) expect(capture.oiCoverage).toBeGreaterThan(0.9);
  });

  test('is left as it is when started again at the same time', async () => {
    expect(await bring()).toBe('unchanged');
  });

  test('is extended when started later, and what was there stays as it was', async () => {
    const before = await minutes('NVDA');
    const files = await count('ingested_files');
    nowMs = at('2026-11-20', 9 * 60);
    expect(await bring()).toBe('extended');
    expect(await count('ingested_files')).toBeGreaterThan(files);
    const after = await minutes('NVDA');
    expect(after.tsMs.at(-1)).toBe(at('2026-11-19', 959));
    expect(Array.from(after.close.slice(0, before.close.length))).toEqual(Array.from(before.close));
    const days = await minutes('NVDA', '1d');
    expect(days.close.at(-1)).toBe(after.close.at(-1));
    nowMs = at('2026-11-22', 12 * 60);
    expect(await bring()).toBe('extended');
    expect((await minutes('NVDA')).tsMs.at(-1)).toBe(at('2026-11-20', 959));
    expect(await bring()).toBe('unchanged');
    expect(await sampleMetadata(store)).toMatchObject({ throughMs: nowMs });
  });

  test('is the same whenever it is made', async () => {
    const other = await storeForThisTest();
    // Bars are compared, of the last session: there is less of all else.
    const less = { ...shape, chainSessions: 1, historySessions: 1, tapeSessions: 1, captureEveryMinutes: 390 };
    await ensureSampleMarket(other, { dataDir: folder(), now, shape: less });
    const session = { fromMs: at('2026-11-20', 0), toMs: at('2026-11-21', 0), limit: Infinity };
    for (const symbol of ['NVDA', 'QQQ']) {
      const read = await Promise.all([store, other].map((one) => readBars(one, [symbol], '1m', session)));
      expect(read[0]!.get(symbol)).toEqual(read[1]!.get(symbol));
    }
  });

  test('stores exactly the large trades and off-exchange totals that were planted', async () => {
    for (const session of ['2026-11-19', '2026-11-20']) {
      const { rows: stored } = await store.pool.query(
        `SELECT event_id AS "eventId", side, premium_usd AS "premiumUsd", total_size::int AS "totalSize"
         FROM flow_events WHERE session_date = $1 ORDER BY event_id`,
        [session],
      );
      const { ledger } = sampleTapes(samplePrices(), session, tapeEndMs(session), tape);
      const planted = ledger.options.events.map(({ eventId, side, premiumUsd, totalSize }) => {
        return { eventId, side, premiumUsd, totalSize };
      });
      expect(planted.length).toBeGreaterThan(20);
      expect(stored).toEqual(planted.sort((a, b) => (a.eventId < b.eventId ? -1 : 1)));
      const { rows: volumes } = await store.pool.query(
        `SELECT symbol, off_exch_volume, consolidated_volume FROM off_exchange_sessions WHERE session_date = $1`,
        [session],
      );
      expect(
        Object.fromEntries(volumes.map((row) => [row.symbol, [row.off_exch_volume, row.consolidated_volume]])),
      ).toEqual(
        Object.fromEntries(
          Object.entries(ledger.stocks.symbols).map(([symbol, { offExchange, consolidated }]) => [
            symbol,
            [offExchange.volume, consolidated.volume],
          ]),
        ),
      );
    }
    const { rows } = await store.pool.query('SELECT DISTINCT session_date, status, complete FROM flow_coverage');
    expect(rows).toContainEqual({ session_date: '2026-11-20', status: 'eod_reconciled', complete: true });
  });

  test('stays away from a store with other data', async () => {
    const other = await storeForThisTest();
    await other.pool.query(`INSERT INTO open_interest_blocks VALUES ('AAPL', '2024-03-08', 0, '', '')`);
    expect(await ensureSampleMarket(other, { dataDir: folder(), now, shape })).toBe('absent');
    expect(await sampleMetadata(other)).toBeNull();
  });
});

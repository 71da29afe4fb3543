import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type MinuteMarket, minuteSolve } from '../../../../src/core/analytics/minute/solve.ts';
import { yearsToExpiry } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { type OptionContract, readOptionContract } from '../../../../src/core/domain/chain/option-contract.ts';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { toBarColumns } from '../../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../../src/intake/ingest/chains/chain.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../../src/intake/ingest/options/reconcile.ts';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';
import { saveOptionBars } from '../../../../src/store/chain/option-bars.ts';
import { saveRates } from '../../../../src/store/market/rates.ts';
import type { Store } from '../../../../src/store/rows/connection.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../../support/app.ts';
import { flatBar } from '../../../support/market.ts';
import { chainCapture, chainRow } from '../../../support/option-market.ts';
import { randomOf } from '../../../support/random.ts';
import {
  crossed,
  liveLineOf,
  type QuotedRecord,
  quotedClose,
  quotedContracts,
  quotedOpen,
  quotedSession,
  quotedTape,
  unquoted,
  vendorLinesOf,
  worth,
} from '../../../support/tapes/quoted-tape.ts';
import { vendorFile } from '../../../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const tape = quotedTape();
const inFolder = temporaryFolder();
const nowMs = quotedClose + 30 * minuteMs;
const settings = { gammaSource: 'solve', rate: 0.045 } as const;

/**
 * Stores the data known before the session: the chains of the afternoon before, and the last price of a contract
 * without quotes.
 */
async function before(store: Store): Promise<void> {
  const capturedAt = exchangeInstant('2026-11-13', 15 * 60);
  const rows = ['O:SPY261218C00600000', 'O:SPY261218P00600000'].map((id) => {
    const contract = readOptionContract(id)!;
    const fair = worth(contract, 600, capturedAt);
    return chainRow({ ...contract, bid: fair - 0.01, ask: fair + 0.01 });
  });
  await inTransaction(store, async (tx) => {
    // The rate that the tape's quotes are made with.
    await saveRates(tx, [{ date: '2026-11-13', days: 30, rate: settings.rate }]);
    await storeChain(tx, chainCapture('SPY', capturedAt, rows, { spot: 600, priorCloseSpot: 600 }), settings);
    // An index has no prints of its own: its chains tell what it costs.
    for (const minute of [570, 950])
      await storeChain(
        tx,
        chainCapture('SPX', exchangeInstant(quotedSession, minute), [], { spot: 6000, priorCloseSpot: 5990 }),
        settings,
      );
    const bars = toBarColumns([flatBar(exchangeInstant('2026-11-13', 900), 3.33)]);
    await saveOptionBars(tx, 'eod_reconciled', [
      { underlying: 'SPY', sessionDate: '2026-11-13', contract: unquoted, bars },
    ]);
  });
}

async function market(): Promise<TestApp> {
  const app = await testApp({ nowMs });
  await before(app.store);
  return app;
}

const piecesOf = (records: readonly QuotedRecord[], size = 40): Buffer[] => {
  const lines = records.map(liveLineOf);
  return Array.from({ length: Math.ceil(lines.length / size) }, (_, i) =>
    Buffer.from(lines.slice(i * size, (i + 1) * size).join('')),
  );
};

const following = (change: Partial<Parameters<typeof follow>[2]> = {}) => ({
  source: 'stdin',
  fromStart: true,
  everyMs: 1,
  now: () => nowMs,
  stop: new AbortController().signal,
  ...settings,
  onBadLine: () => {},
  ...change,
});

/** All solves that are stored, by contract. */
async function storedSolves(app: TestApp): Promise<Json> {
  const series: Json = {};
  for (const contract of [...quotedContracts, unquoted, crossed]) {
    const { status, body } = await app.get(`/v2/options/${contract}/greeks?session=${quotedSession}`);
    expect(status).toBe(200);
    series[contract] = body.data;
  }
  return series;
}

let app: TestApp;
let live: Json;
beforeAll(async () => {
  app = await market();
  await follow(app.store, Readable.from(piecesOf(tape)), following());
  live = await storedSolves(app);
}, 60_000);
afterAll(() => app.close());

/** The last record of a contract before a boundary that `wanted` names. */
const lastBefore = (tsMs: number, wanted: (record: QuotedRecord) => boolean) =>
  tape.filter((record) => record.ms < tsMs && wanted(record)).at(-1) ?? null;

/** A market in which one contract's root and expiry are priced at a spot. */
function marketAt(contract: OptionContract, tsMs: number, spot: number, dividendYield = 0): MinuteMarket {
  const root = standardRoots.of(contract.root);
  const years = yearsToExpiry(contract.expiry, root, tsMs);
  const group = { root, years, spot, rate: 0.045, dividendYield, dividends: [] };
  return { tsMs, groups: new Map([[`${contract.root} ${contract.expiry}`, group]]) };
}

describe('the minute solves of a live tape', () => {
  test.each(quotedContracts)('%s: each sample is the solve of what was quoted and traded by its minute', (ticker) => {
    const contract = readOptionContract(ticker)!;
    const series: Json[] = live[ticker].series;
    expect(series.length).toBeGreaterThan(15);
    const sources = new Set<string>();
    for (const { ts_ms: tsMs, mark, iv, delta, gamma } of series) {
      const quote = lastBefore(tsMs, (one) => one.kind === 'quote' && one.ticker === ticker);
      const trade = lastBefore(tsMs, (one) => one.kind === 'option' && one.ticker === ticker);
      const spot = ticker.includes('SPX') ? 6000 : lastBefore(tsMs, (one) => one.kind === 'stock')!.prices[0]!;
      const inputs = {
        contract,
        quote: quote && { bid: quote.prices[0]!, ask: quote.prices[1]!, tsMs: quote.ms },
        trade: trade && { price: trade.prices[0]!, tsMs: trade.ms, eligible: true },
        previousClose: null,
      };
      const expected = minuteSolve(inputs, marketAt(contract, tsMs, spot))!;
      expect([tsMs, mark]).toEqual([tsMs, expected.mark]);
      sources.add(expected.markSource);
      if (expected.markSource !== 'mid' || ticker.includes('1116') || iv === null) continue;
      // Quoted around what it is worth at 20 %, a cent aside from the rounding, at a spot some seconds older.
      if (!ticker.includes('SPX')) {
        expect(iv).toBeGreaterThan(0.19);
        expect(iv).toBeLessThan(0.21);
        expect(Math.abs(delta)).toBeGreaterThan(0.1);
      }
      expect(gamma).toBeGreaterThan(0);
    }
    expect(sources).toEqual(new Set(['mid', 'last']));
  });

  test('American ones take the yield of the last full hour’s chain', async () => {
    // The chain of the afternoon before says 1.3 %.
    const ticker = 'O:SPY261218C00600000';
    const contract = readOptionContract(ticker)!;
    const exact = live[ticker].series.flatMap(({ ts_ms: tsMs, iv, delta }: Json) => {
      const quote = lastBefore(tsMs, (one) => one.kind === 'quote' && one.ticker === ticker)!;
      if (tsMs - quote.ms > 90_000 || tsMs > quotedOpen + 30 * minuteMs) return [];
      const spot = lastBefore(tsMs, (one) => one.kind === 'stock')!.prices[0]!;
      const [bid, ask] = quote.prices as [number, number];
      const inputs = { contract, quote: { bid, ask, tsMs: quote.ms }, trade: null, previousClose: null };
      const solve = minuteSolve(inputs, marketAt(contract, tsMs, spot, 0.013))!;
      return [[solve.iv! - iv, solve.delta! - delta]];
    });
    expect(exact.length).toBeGreaterThan(8);
    for (const [iv, delta] of exact) {
      expect(iv).toBeCloseTo(0, 4);
      expect(delta).toBeCloseTo(0, 4);
    }
  });

  test('European ones take the forward of the quotes: although nobody tells what the index costs between two chains, the volatility is right', () => {
    const near: number[] = live['O:SPXW261218C06000000'].series
      .filter(({ ts_ms: tsMs }: Json) => {
        const pair = ['C', 'P'].map((right) =>
          lastBefore(tsMs, (one) => one.kind === 'quote' && one.ticker === `O:SPXW261218${right}06000000`),
        );
        // Both sides quoted within some seconds of each other: one forward.
        return pair.every((one) => one && tsMs - one.ms < 90_000) && Math.abs(pair[0]!.ms - pair[1]!.ms) < 4000;
      })
      .map(({ iv }: Json) => iv);
    expect(near.length).toBeGreaterThan(1);
    for (const iv of near) expect(iv).toBeCloseTo(0.2, 1);
  });

  test('a contract that nobody quotes is marked by its trades, then by the close before; a crossed quote is none', () => {
    const { series, latest } = live[unquoted];
    const at = (minute: number) => series.find((one: Json) => one.ts_ms === quotedOpen + minute * minuteMs);
    expect(at(1)).toMatchObject({ mark: 4 });
    expect(at(1).iv).toBeGreaterThan(0.05);
    // Taken back in its minute it was never there; taken back later it was what was known until then.
    expect(at(3).mark).toBe(4);
    expect(at(6).mark).toBe(9.99);
    expect(at(7).mark).toBe(4);
    // Fifteen minutes after the last trade, the session before's close, which solves nothing.
    expect(series.filter((one: Json) => one.mark === 3.33)).not.toEqual([]);
    for (const one of series) if (one.mark === 3.33) expect(one).toMatchObject({ iv: null, delta: null, gamma: null });
    expect(latest).toMatchObject({ ts_ms: quotedClose, bid: null, ask: null, spread: null });
    // Its one trade may not set a last price, and its quotes are crossed.
    expect(live[crossed]).toMatchObject({ latest: null, series: [] });
  });

  test('on the day of expiry there are samples up to the close, where no time is left and nothing is solved', () => {
    for (const ticker of ['O:SPY261116C00600000', 'O:SPXW261116P06000000']) {
      const { latest, series } = live[ticker];
      expect(latest).toMatchObject({ ts_ms: quotedClose, iv: null, delta: null, gamma: null });
      expect(series.at(-2).ts_ms).toBe(quotedClose - minuteMs);
    }
    const solved = live['O:SPY261116C00600000'].series.filter((one: Json) => one.iv !== null);
    expect(solved.length).toBeGreaterThan(5);
  });

  test('a contract is followed from its first trade on, one outside the registry or its window never', () => {
    for (const ticker of quotedContracts) {
      const first = tape.find((one) => one.kind === 'option' && one.ticker === ticker)!.ms;
      expect(live[ticker].series[0].ts_ms).toBe(first - (first % minuteMs) + minuteMs);
    }
  });
});

describe('one engine for live and end of day', () => {
  async function reconciled(records: readonly QuotedRecord[], on: TestApp): Promise<void> {
    const { trades, quotes } = vendorLinesOf(records);
    const folder = inFolder();
    const report = await reconcile(
      on.store,
      {
        trades: [vendorFile(folder, `${quotedSession}.csv.gz`, trades)],
        quotes: [vendorFile(folder, 'quotes.csv.gz', quotes)],
        dayAggregates: [],
      },
      { session: quotedSession, maxErrors: 0, now: () => nowMs },
    );
    expect(report).toMatchObject({ status: 'reconciled' });
  }

  async function marketForThisTest(): Promise<TestApp> {
    const fresh = await market();
    onTestFinished(() => fresh.close());
    return fresh;
  }

  test('a session reconciled from its files has the series that the corrected tape has live, and a minute counts once', async () => {
    const fresh = await marketForThisTest();
    await follow(fresh.store, Readable.from(piecesOf(tape, 300)), following());
    expect(await storedSolves(fresh)).toEqual(live);
    const corrected = await marketForThisTest();
    const standing = tape.filter(({ prices }) => prices[0] !== 9.99);
    await follow(corrected.store, Readable.from(piecesOf(standing, 300)), following());
    const expected = await storedSolves(corrected);
    // Live, a minute was solved at the price of a trade that was cancelled in the next one.
    expect(live[unquoted].series.map(({ mark }: Json) => mark)).toContain(9.99);
    expect({ ...expected, [unquoted]: null }).toEqual({ ...live, [unquoted]: null });
    await reconciled(tape, fresh);
    expect(await storedSolves(fresh)).toEqual(expected);
    // A tape that is followed afterwards does not replace it.
    await follow(fresh.store, Readable.from(piecesOf(tape.slice(0, 500))), following({ source: 'another' }));
    expect(await storedSolves(fresh)).toEqual(expected);
  }, 60_000);

  test('a tape of options before that of their stock is solved when the price comes, as in the other order', async () => {
    const stocks = [
      'ticker,conditions,correction,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
      ...tape
        .filter(({ kind }) => kind === 'stock')
        .map(({ ms, prices, sequence }) => `SPY,,0,11,${sequence},${prices[0]},${sequence},${ms}000000,100,2,`),
    ];
    const ingestStocks = async (on: TestApp) => {
      const path = vendorFile(inFolder(), 'stocks.csv', stocks);
      return (await ingestFiles(on.store, 'stock-trades', [path], { now: () => nowMs })).files[0]!;
    };
    const [before, after] = [await marketForThisTest(), await marketForThisTest()];
    await ingestStocks(after);
    await reconciled(tape, after);
    await reconciled(tape, before);
    const call = 'O:SPY261218C00600000';
    const unsolved = (await storedSolves(before))[call].series;
    expect(unsolved.length).toBeGreaterThan(15);
    expect(unsolved.every(({ iv, mark }: Json) => iv === null && mark > 0)).toBe(true);
    const { status, reason, notes } = await ingestStocks(before);
    expect([status, reason]).toEqual(['stored', null]);
    expect(notes).toContain(`the minute greeks of SPY of ${quotedSession} have this price now`);
    expect(await storedSolves(before)).toEqual(await storedSolves(after));
  }, 60_000);

  test('records that come up to five seconds late change nothing', async () => {
    const fresh = await marketForThisTest();
    const random = randomOf(9);
    const late = tape
      .map((record) => ({ record, at: record.ms + random.below(5000) }))
      .sort((a, b) => a.at - b.at)
      .map(({ record }) => record);
    expect(late).not.toEqual(tape);
    await follow(fresh.store, Readable.from(piecesOf(late)), following());
    expect(await storedSolves(fresh)).toEqual(live);
  }, 60_000);

  test('stopped anywhere and gone on with, it ends with the same', async () => {
    const fresh = await marketForThisTest();
    const pieces = piecesOf(tape, 60);
    const random = randomOf(3);
    let stops = 0;
    for (let ended = false; !ended; ) {
      const stop = new AbortController();
      const last = random.below(pieces.length) + 8;
      async function* some() {
        for (const [i, piece] of pieces.entries()) {
          if (i >= last) {
            stop.abort();
            await new Promise(() => {});
          }
          yield piece;
          if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        }
        ended = true;
      }
      await follow(fresh.store, some(), following({ stop: stop.signal }));
      stops++;
    }
    expect(stops).toBeGreaterThan(1);
    expect(await storedSolves(fresh)).toEqual(live);
  }, 60_000);

  test('a minute is there with the commit after it, before the next one has come', async () => {
    const fresh = await marketForThisTest();
    const minute = quotedOpen + 20 * minuteMs;
    const part = tape.filter(({ ms }) => ms < minute + 5000);
    const boundaries = async () => {
      const { data } = (await fresh.get(`/v2/options/${unquoted}/greeks`)).body;
      return [data.latest?.ts_ms, data.series.at(-1)?.ts_ms];
    };
    /** The boundaries once the latest is `tsMs`, or after 10 s. */
    const settled = async (tsMs: number) => {
      for (let i = 0; i < 100 && (await boundaries())[0] !== tsMs; i++)
        await new Promise((resolve) => setTimeout(resolve, 100));
      return boundaries();
    };
    const seen: unknown[] = [];
    async function* lines() {
      yield* piecesOf(part);
      seen.push(await settled(minute - minuteMs));
      // Event time has come so far that nothing of the minute can still come.
      yield Buffer.from(`{"type":"time","sip_timestamp":"${minute + 5000}000000"}\n`);
      seen.push(await settled(minute));
    }
    await follow(fresh.store, lines(), following());
    expect(seen).toEqual([
      [minute - minuteMs, minute - minuteMs],
      [minute, minute],
    ]);
  }, 60_000);
});

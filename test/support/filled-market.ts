import { closeMinute, isHalfDay } from '../../src/core/domain/calendar.ts';
import type { ChainRow } from '../../src/core/domain/chain/chain.ts';
import type { GreeksSolve } from '../../src/core/domain/chain/greeks.ts';
import { parseOptionContract } from '../../src/core/domain/chain/option-contract.ts';
import type { Coverage } from '../../src/core/domain/flow/flow.ts';
import { type Bar, timeframeMs, timeframes, toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { saveOptionBars } from '../../src/store/chain/option-bars.ts';
import { saveContractMinutes } from '../../src/store/flow/contract-minutes.ts';
import { saveCrossSections } from '../../src/store/flow/cross-sections.ts';
import { saveCoverages } from '../../src/store/flow/sessions.ts';
import { concatBars, writeBars } from '../../src/store/market/bar-blocks.ts';
import { saveSymbols } from '../../src/store/market/symbols.ts';
import { saveOffExchange } from '../../src/store/offexchange/writing.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction, type Transaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from './app.ts';
import { coverage, largeTrade, leg, measures, rankedList, storeLargeTrades, storeRankedLists } from './flow.ts';
import { saveSolves } from './greeks.ts';
import { chainCapture, chainRow, gexCapture, newYork, saveCaptures } from './option-market.ts';
import { filledStores } from './store.ts';

/** Tuesday 2026-12-01, 12:00 in New York: the clock the filled market is meant to be read at. */
export const filledNowMs = newYork('2026-12-01', '12:00');

/** Its sessions, ascending: one the day before a holiday, a half day, a whole one, and the one in progress. */
export const filledSessions = ['2026-11-25', '2026-11-27', '2026-11-30', '2026-12-01'] as const;
const [, halfDay, lastWhole, today] = filledSessions;

/** Symbols with bars, the one outside the registry too. */
export const filledSymbols = ['AAPL', 'BRK.B', 'MSFT', 'NVDA', 'SPX', 'SPY', 'XSP', 'ZZZ'] as const;
/** Underlyings with chains, captures, flow and greeks. */
export const filledUnderlyings = ['MSFT', 'NVDA', 'SPX', 'SPY', 'XSP'] as const;

/** The root whose contracts an underlying is traded in here. */
const rootOf = (underlying: string) => (underlying === 'SPX' ? 'SPXW' : underlying);

/** A contract of `underlying` that has greeks, bars and flow. */
export const filledContract = (underlying: string, right = 'C') => `O:${rootOf(underlying)}261218${right}00600000`;

/** A made-up bar: every measure differs from bar to bar, some are unknown, one volume is beyond 32 bits. */
function bar(tsMs: number, index: number, base: number): Bar {
  const open = base + (index % 17) / 4;
  return {
    tsMs,
    open,
    high: open + 1.5,
    low: open - 0.75,
    close: open + 0.1234,
    volume: index === 3 ? 5_000_000_000 : 1000 + index,
    vwap: index % 5 === 0 ? null : open + 0.05,
    tradeCount: index % 7 === 0 ? null : 10 + index,
  };
}

const series = (startMs: number, stepMs: number, count: number, base: number) =>
  toBarColumns(Array.from({ length: count }, (_, i) => bar(startMs + i * stepMs, i, base)));

async function fillBars(tx: Transaction): Promise<void> {
  for (const timeframe of timeframes) {
    const runs = filledSymbols.map((symbol, index) => {
      // One price does not fit the usual scale of the protobuf message.
      const base = symbol === 'BRK.B' ? 700_000 : 100 + 50 * index;
      const parts = filledSessions.map((session) => {
        if (timeframe === '1d') return series(exchangeInstant(session), 1, 1, base + session.charCodeAt(9));
        // Up to the close, in the running session too: what is later than the clock is in the store and not to be
        // served.
        const minutes = timeframe === '1s' ? 1 : symbol === 'SPY' ? closeMinute(session) - 570 : 40;
        const step = timeframeMs[timeframe];
        return series(exchangeInstant(session, 570), step, Math.ceil((minutes * 60_000) / step), base);
      });
      return { symbol, bars: concatBars(parts) };
    });
    await writeBars(tx, timeframe, runs);
  }
}

const strikes = Array.from({ length: 40 }, (_, i) => 580_000 + 1000 * i);
const expiries = ['2026-12-01', '2026-12-18', '2027-01-15'];

function chainRows(underlying: string, step: number): ChainRow[] {
  return expiries.flatMap((expiry) =>
    strikes.flatMap((strike, i) =>
      (['call', 'put'] as const).map((right) =>
        chainRow({
          root: rootOf(underlying),
          expiry,
          right,
          strike,
          ...(i % 4 === 0
            ? {}
            : {
                openInterest: 10 + i,
                volume: step,
                bid: 1 + i / 8,
                ask: 1.25 + i / 8,
                last: i % 3 === 0 ? null : 1.125,
                iv: 0.15 + i / 1000,
                delta: right === 'call' ? 0.5 : -0.5,
                gamma: 0.01,
                theta: -3.5,
                vega: 0.8,
              }),
        }),
      ),
    ),
  );
}

async function fillCaptures(store: Store): Promise<void> {
  const moments = filledSessions
    .slice(1)
    .flatMap((session) =>
      ['09:25', '09:35', '09:40', isHalfDay(session) ? '12:55' : '15:55'].map((clock) => newYork(session, clock)),
    );
  for (const underlying of filledUnderlyings) {
    const rows = (step: number) =>
      strikes.flatMap((strike, i) =>
        expiries.map((expiry) => ({
          strike,
          expiry,
          gex: (i - 15) * (step + 1) * 1000.25,
          callOi: i % 6 === 0 ? null : i,
          deltaAdj: i % 9 === 0 ? null : i * 12.5,
        })),
      );
    await saveCaptures(store, {
      gex: moments.map((atMs, step) =>
        gexCapture(underlying, atMs, rows(step), step % 4 === 0 ? { spot: null, priorCloseSpot: null } : {}),
      ),
      chains: moments.map((atMs, step) =>
        chainCapture(underlying, atMs, chainRows(underlying, step), { partial: step % 3 === 1 }),
      ),
    });
  }
}

/** A call and a put that trade every other minute of the covered hours. */
function minutesOf(underlying: string, { observedFromMs, observedThroughMs }: Coverage) {
  const rows = Math.floor((observedThroughMs - observedFromMs) / 120_000);
  const column = (value: (row: number) => number) => Float64Array.from({ length: 2 * rows }, (_, i) => value(i % rows));
  return {
    part: 0,
    minutes: {
      contracts: (['C', 'P'] as const).map((right) => parseOptionContract(filledContract(underlying, right))),
      lengths: Float64Array.of(rows, rows),
      tsMs: column((row) => observedFromMs + 120_000 * row),
      volume: column((row) => 10 + row),
      premium: column((row) => 1_000_000 * (10 + row)),
      count: column(() => 2),
      bought: column((row) => 1 + row),
      sold: column(() => 4),
      unsided: column(() => 5),
    },
  };
}

async function fillFlow(store: Store): Promise<void> {
  for (const underlying of filledUnderlyings) {
    const call = filledContract(underlying);
    const put = filledContract(underlying, 'P');
    const live = coverage(today, 715);
    const sealed = coverage(lastWhole, 960, { status: 'eod_reconciled', complete: true });
    const trades = Array.from({ length: 130 }, (_, i) => {
      const atMs = exchangeInstant(i < 30 ? lastWhole : today, 600) + i * 1000;
      const first = leg(i % 2 ? call : put, atMs, {
        price: 1 + i / 10,
        sequence: i,
        conditions: i % 3 ? [209, 232] : [],
      });
      return i % 10 === 0
        ? largeTrade([first, leg(call, atMs + 5, { sequence: 1000 + i })], i, i < 30 ? sealed : live, {
            eventKind: i % 20 ? 'sweep' : 'multi_leg',
            side: 'unknown',
          })
        : largeTrade([first], i, i < 30 ? sealed : live);
    });
    await storeLargeTrades(store, trades);
    await inTransaction(store, async (tx) => {
      for (const [seq, covered] of [live, sealed].entries()) {
        await saveCoverages(tx, new Map([[underlying, covered]]));
        await saveCrossSections(tx, [
          {
            symbol: underlying,
            seq: 100 + seq,
            coverage: covered,
            byStrike: strikes.map((strikeThousandths, i) => ({ strikeThousandths, measures: measures(10 * i + seq) })),
            byExpiration: expiries.map((expiry, i) => ({ expiry, measures: measures(100 * i + seq) })),
          },
        ]);
        await saveContractMinutes(tx, [
          { underlying, sessionDate: covered.sessionDate, isWhole: true, parts: [minutesOf(underlying, covered)] },
        ]);
      }
    });
    const ranked = Array.from({ length: 100 }, (_, i) =>
      leg(i % 3 ? call : put, exchangeInstant(lastWhole, 600 + i), { price: 20 - i / 10, sequence: i }),
    );
    await storeRankedLists(store, [
      rankedList(underlying, 'free', lastWhole, ranked),
      rankedList(underlying, 'pro', lastWhole, ranked),
      rankedList(underlying, 'pro', halfDay, ranked.slice(0, 2), { coverageStatus: 'observed_live' }),
    ]);
    if (underlying === 'SPY') {
      await storeRankedLists(store, [
        rankedList('*', 'free', lastWhole, ranked),
        rankedList('*', 'pro', lastWhole, ranked),
      ]);
    }
  }
}

async function fillContracts(tx: Transaction): Promise<void> {
  for (const underlying of filledUnderlyings) {
    const solves: Record<string, GreeksSolve[]> = {};
    for (const contract of [filledContract(underlying), filledContract(underlying, 'P')]) {
      const solved: GreeksSolve[] = [];
      solves[contract] = solved;
      for (const session of filledSessions.slice(2)) {
        for (let i = 0; i < 200; i++) {
          const solvable = i % 11 !== 0;
          solved.push({
            markSource: 'mid',
            bid: null,
            ask: null,
            tsMs: exchangeInstant(session, 571 + i),
            iv: solvable ? 0.2 + i / 10_000 : null,
            delta: solvable ? 0.5 : null,
            gamma: solvable ? 0.004 : null,
            mark: 3 + i / 100,
          });
        }
        await saveOptionBars(tx, session === today ? 'observed_live' : 'eod_reconciled', [
          { underlying, sessionDate: session, contract, bars: series(exchangeInstant(session, 570), 60_000, 300, 3) },
        ]);
      }
      solved.push({
        tsMs: filledNowMs - 60_000,
        iv: 0.2,
        delta: 0.5,
        gamma: 0.004,
        mark: 5,
        markSource: 'mid',
        bid: contract.includes('P0') ? null : 4.9,
        ask: 5.1,
      });
    }
    await saveSolves(tx, underlying, solves);
  }
}

async function fillOffExchange(tx: Transaction): Promise<void> {
  for (const symbol of filledSymbols) {
    for (const [day, sessionDate] of filledSessions.slice(0, 3).entries()) {
      const totals = (i: number) => ({ volume: 1000.5 + i, notional: 5e7 + i / 4, tradeCount: 3 + i });
      const known = day !== 0;
      await saveOffExchange(
        tx,
        {
          symbol,
          sessionDate,
          asOfMs: exchangeInstant(sessionDate, 1200),
          suppressedCategories: day,
          suppressedBuckets: 2,
          suppressedLevels: 3,
          activity: {
            offExchVolume: 9000.25,
            notional: 5e8,
            tradeCount: 120,
            avgSize: 75.5,
            vwap: 600.125,
            offExchPct: known ? 0.4375 : null,
            consolidatedVolume: known ? 20_000 : null,
            consolidatedNotional: known ? 1.2e9 : null,
          },
        },
        {
          composition: ['average_price', 'derivatively_priced', 'other', 'regular_way'].map((category, i) => ({
            category,
            ...totals(i),
            shareOfOffExchNotional: 0.25,
          })),
          concentration: Array.from({ length: 12 }, (_, i) => ({
            bucketMidpoint: 600 + i,
            bucketWidth: 0.5,
            ...totals(i),
            distinctSessions: 2 + (i % 3),
            rankScore: 30 - i,
            rank: i + 1,
            bucketCount: 12,
            distanceBps: known ? i * 1.5 - 5 : null,
            lookbackSessions: 3,
          })),
          profile: Array.from({ length: 25 }, (_, i) => ({ priceThousandths: 600_000 + 10 * i, ...totals(i) })),
        },
      );
    }
  }
}

/**
 * Fills a store, in which `testSymbols` are registered, with data for every route; see the constants above for what
 * there is.
 */
export async function fillMarket(store: Store): Promise<void> {
  await inTransaction(store, async (tx) => {
    await fillBars(tx);
    await fillContracts(tx);
    await fillOffExchange(tx);
    await tx.query(
      `INSERT INTO live_quotes (symbol, session_date, spot, event_ts_ms, volume, official_close)
       VALUES ('SPY', $1, 352.5, $2, 123456, 350), ('NVDA', $1, 252.5, $2, 99, NULL)`,
      [today, filledNowMs - 5000],
    );
    tx.changes.add('market', null);
  });
  await fillCaptures(store);
  await fillFlow(store);
}

const filledStore = filledStores(async (store) => {
  await inTransaction(store, (tx) => saveSymbols(tx, testSymbols));
  await fillMarket(store);
});

/** The application over a filled market of its own, at its time. */
export async function filledApp(options: Omit<Parameters<typeof testApp>[0], 'store'> = {}): Promise<TestApp> {
  return testApp({ nowMs: filledNowMs, ...options, store: await filledStore() });
}

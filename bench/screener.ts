import { previousTradingDay } from '../src/core/domain/calendar.ts';
import { type GexRow, noContracts } from '../src/core/domain/gex/gex.ts';
import { toBarColumns } from '../src/core/domain/market/bar.ts';
import type { SymbolEntry } from '../src/core/domain/market/symbol.ts';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { saveGexCapture } from '../src/store/gex/captures.ts';
import { writeBars } from '../src/store/market/bar-blocks.ts';
import { saveLiveQuotes } from '../src/store/market/live-quotes.ts';
import { saveSymbols } from '../src/store/market/symbols.ts';
import type { Store } from '../src/store/rows/connection.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { days, prepareBars } from './bars-page.ts';
import { openGround } from './ground.ts';
import { cpuMs, median } from './statistics.ts';

// A screen of 10,000 symbols beside a page of 1,000 bars: CPU of the process, client included, per answer.

const symbolCount = 10_000;
const answers = 40;
const rounds = 9;
/** Quotes of a commit. */
const quotesACommit = 100;
const today = '2026-11-20';
const nowMs = exchangeInstant(today, 12 * 60);
const symbols = Array.from({ length: symbolCount }, (_, i) =>
  [i / 17_576, i / 676, i / 26, i].map((part) => String.fromCharCode(65 + (Math.floor(part) % 26))).join(''),
);

const row = (strike: number, gex: number): GexRow => ({
  ...noContracts,
  strike,
  expiry: null,
  gex,
  callOi: 100,
  putOi: 50,
});

async function saveQuotes(store: Store, named: readonly string[], move: number): Promise<void> {
  const quotes = named.map((symbol, i) => ({
    symbol,
    sessionDate: today,
    spot: 100 + ((i * 7 + move) % 13),
    eventTsMs: nowMs - 1000,
    volume: 1000 + i,
    officialClose: 100 + (i % 5),
  }));
  await inTransaction(store, (tx) => saveLiveQuotes(tx, quotes));
}

async function fill(store: Store): Promise<void> {
  const entry: Omit<SymbolEntry, 'symbol' | 'name' | 'sector'> = {
    class: 'equity',
    registered: true,
    windowDays: 60,
    tenorFrame: 'weekly',
    minTier: 'free',
    requiresAttestation: false,
    instrumentType: 'common_equity',
  };
  const yesterday = previousTradingDay(today);
  const flat = { open: 100, high: 101, low: 99, close: 100, volume: 1000, vwap: null, tradeCount: null };
  for (let from = 0; from < symbolCount; from += 1000) {
    const named = symbols.slice(from, from + 1000);
    await inTransaction(store, async (tx) => {
      await saveSymbols(
        tx,
        named.map((symbol, i) => ({ ...entry, symbol, name: symbol, sector: `Sector ${i % 11}` })),
      );
      const bars = toBarColumns([{ tsMs: exchangeInstant(yesterday), ...flat }]);
      await writeBars(
        tx,
        '1d',
        named.map((symbol) => ({ symbol, bars })),
      );
      for (const [i, underlying] of named.entries()) {
        const strikes = [row(90_000, -100 - (i % 7)), row(100_000, 50), row(110_000, 200 + (i % 11))];
        await saveGexCapture(tx, {
          underlying,
          capturedAt: nowMs - 60_000,
          delayMs: null,
          sessionDate: today,
          spot: 100,
          priorCloseSpot: 100,
          impliedSpot: 100,
          spotStale: false,
          inconsistentExpiries: 0,
          netGex: strikes.reduce((sum, { gex }) => sum + gex, 0),
          flipPoint: 97 + (i % 5),
          flipStatus: 'crosses',
          zeroGamma: 98,
          callWall: 110_000,
          putWall: 90_000,
          callGexPeak: 110_000,
          putGexPeak: 90_000,
          netVanna: null,
          netCharm: null,
          gammaDecimals: null,
          oiCoverage: 1,
          contractCount: 6,
          gammaAbsent: 0,
          gammaSource: 'solve',
          methodologyVersion: '3',
          inputs: null,
          strikes,
          byExpiry: strikes.map((net) => ({ ...net, expiry: today })),
          expiries: [],
          profile: null,
        });
      }
    });
    await saveQuotes(store, named, 0);
  }
}

/** Measures a screen of 10,000 symbols: its first, warm, and each after a commit; beside the page of bars. */
export async function screener(): Promise<void> {
  const { store, session, gateway, close } = await openGround(nowMs);
  try {
    await prepareBars(store);
    await fill(store);
    let asked = 0;
    const next = () => ++asked;
    const ask = async (query: string) => {
      const headers = { authorization: `Bearer ${session}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query });
      const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body });
      const { errors } = (await response.json()) as { errors?: unknown };
      if (errors) throw new Error(JSON.stringify(errors));
    };
    const screen = () =>
      ask(`{ screener(where: { changePct: { gt: ${next() / 1e6} } or: [{ netGex: { gte: 155 } }
        { flipDistancePct: { lt: -2 } }] not: { sector: { eq: "Sector 3" } } }
        orderBy: { figure: flipDistancePct }) { rows { symbol changePct netGex flipDistancePct } meta { totalCount } } }`);
    const page = () =>
      ask(`{ symbol(symbol: "SA") { bars(from: "${exchangeInstant(days[0]!) - next()}", to: "2026-11-20", limit: 1000) {
        rows { tsMs open high low close volume vwap tradeCount } } } }`);
    const cpuOf = async (work: () => Promise<void>, before = async () => {}) => {
      let took = 0;
      for (let i = 0; i < answers; i++) {
        await before();
        const start = cpuMs();
        await work();
        took += cpuMs() - start;
      }
      return took / answers;
    };
    const start = cpuMs();
    // An answer may take ten seconds; what it read until then is in the table.
    while (
      !(await screen().then(
        () => true,
        () => false,
      ))
    );
    console.log(`first screen of ${symbolCount} symbols    ${(cpuMs() - start).toFixed(0)} ms of CPU`);
    const warm: number[] = [];
    const pages: number[] = [];
    const written: number[] = [];
    const commit = () => saveQuotes(store, symbols.slice(0, quotesACommit), asked);
    for (let round = 0; round < rounds; round++) {
      warm.push(await cpuOf(screen));
      pages.push(await cpuOf(page));
      written.push(await cpuOf(screen, commit));
    }
    for (const [what, values] of Object.entries({ warm, [`after a commit of ${quotesACommit} quotes`]: written }))
      console.log(
        `screen, ${what.padEnd(34)} ${median(values).toFixed(1)} ms of CPU, ${(median(values) / median(pages)).toFixed(2)} of a page of 1,000 bars`,
      );
  } finally {
    await close();
  }
}

import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { saveChainCapture } from '../../src/store/chain/chain-captures.ts';
import { saveOptionBars } from '../../src/store/chain/option-bars.ts';
import { saveCrossSections } from '../../src/store/flow/cross-sections.ts';
import { saveLargeTrades } from '../../src/store/flow/events.ts';
import { removeLargeTrades } from '../../src/store/flow/live.ts';
import { saveCoverages } from '../../src/store/flow/sessions.ts';
import { saveGexCapture } from '../../src/store/gex/captures.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { saveLiveQuotes } from '../../src/store/market/live-quotes.ts';
import { saveOffExchange } from '../../src/store/offexchange/writing.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction, type Transaction } from '../../src/store/rows/transaction.ts';
import type { Json } from './app.ts';
import { coverage, largeTrade, leg, measures } from './flow.ts';
import { saveSolves } from './greeks.ts';
import { flatBar } from './market.ts';
import { chainCapture, chainRow, gexCapture, newYork } from './option-market.ts';

/** Friday, 12:00 in New York: the clock that the market of one counter is meant to be read at. */
export const counterNowMs = newYork('2026-11-20', '12:00');
const [yesterday, today] = ['2026-11-19', '2026-11-20'];
const expiry = '2026-12-18';
const strikes = Array.from({ length: 50 }, (_, i) => 500_000 + 1000 * i);
const contractOf = (symbol: string) => `O:${symbol}261218C00500000`;

async function writeSymbol(tx: Transaction, symbol: string, n: number): Promise<void> {
  const minutes = [flatBar(exchangeInstant(today, 700), n, n), flatBar(exchangeInstant(today, 710), n, n)];
  await writeBars(tx, '1m', [{ symbol, bars: toBarColumns(minutes) }]);
  const at = newYork(today, '11:55');
  const rows = strikes.map((strike) =>
    chainRow({ root: symbol, expiry, right: 'call', strike, volume: n, openInterest: n, bid: n, ask: n }),
  );
  await saveChainCapture(tx, chainCapture(symbol, at, rows, { spot: n }));
  await saveGexCapture(tx, gexCapture(symbol, at, [{ strike: 500_000, expiry, gex: n }], { spot: n }));
  const solve = { tsMs: newYork(today, '11:50'), iv: 0.2, delta: 0.5, gamma: 0.01, mark: n, bid: n, ask: n };
  await saveSolves(tx, symbol, { [contractOf(symbol)]: [{ ...solve, markSource: 'mid' }] });
  const bars = toBarColumns([flatBar(exchangeInstant(today, 600), n, n)]);
  await saveOptionBars(tx, 'observed_live', [
    { underlying: symbol, sessionDate: today, contract: contractOf(symbol), bars },
  ]);
  const covered = coverage(today, 715);
  await saveCoverages(tx, new Map([[symbol, covered]]));
  const [byStrike, byExpiration] = [[{ strikeThousandths: 500_000, measures: measures(n) }], []];
  await saveCrossSections(tx, [{ symbol, seq: n, coverage: covered, byStrike, byExpiration }]);
  const print = leg(contractOf(symbol), exchangeInstant(today, 650), { size: n });
  const trade = largeTrade([print], 1, covered);
  await removeLargeTrades(tx, today, [{ underlying: symbol, eventId: trade.event.eventId }]);
  await saveLargeTrades(tx, [trade]);
  await writeOffExchange(tx, symbol, n);
}

async function writeOffExchange(tx: Transaction, symbol: string, n: number): Promise<void> {
  const activity = {
    offExchVolume: n,
    notional: n,
    tradeCount: n,
    avgSize: n,
    vwap: n,
    offExchPct: null,
    consolidatedVolume: null,
    consolidatedNotional: null,
  };
  const suppressed = { suppressedCategories: 0, suppressedBuckets: 0, suppressedLevels: 0 };
  const totals = { volume: n, notional: n, tradeCount: n };
  await saveOffExchange(
    tx,
    { symbol, sessionDate: yesterday, asOfMs: exchangeInstant(yesterday, 1200), ...suppressed, activity },
    {
      composition: [{ category: 'other', ...totals, shareOfOffExchNotional: 1 }],
      concentration: [],
      profile: [{ priceThousandths: 500_000, ...totals }],
    },
  );
}

/** The symbols of a counting market: of some everything is written, of the others prices alone. */
export interface Counted {
  whole: readonly string[];
  priced: readonly string[];
}

/** Writes one number into everything that is stored of symbols, in one transaction. */
export async function writeCounter(store: Store, { whole, priced }: Counted, n: number): Promise<void> {
  const symbols = [...whole, ...priced];
  await inTransaction(store, async (tx) => {
    const quote = { sessionDate: today, eventTsMs: counterNowMs - 60_000, spot: n, volume: n, officialClose: n };
    await saveLiveQuotes(
      tx,
      symbols.map((symbol) => ({ symbol, ...quote })),
    );
    const days = toBarColumns([flatBar(exchangeInstant(yesterday), n), flatBar(exchangeInstant(today), n)]);
    await writeBars(
      tx,
      '1d',
      symbols.map((symbol) => ({ symbol, bars: days })),
    );
    for (const symbol of whole) await writeSymbol(tx, symbol, n);
  });
}

/** Counts up until it is stopped, as fast as transactions end. */
export function keepCounting(store: Store, counted: Counted): { stop(): Promise<number> } {
  let stopped = false;
  let n = 1;
  const counting = (async () => {
    while (!stopped) await writeCounter(store, counted, ++n);
  })();
  return {
    async stop() {
      stopped = true;
      await counting;
      return n;
    },
  };
}

const fieldsOf = (symbol: string): string[] => [
  `symbol(symbol: "${symbol}") { quote { n: spot m: volume } }`,
  `symbol(symbol: "${symbol}") { chain { n: spot rows { n: openInterest m: volume } } }`,
  `symbol(symbol: "${symbol}") { gex { latest { n: spot m: netGex strikes { n: gex } } } }`,
  `symbol(symbol: "${symbol}") { gex { grid { n: spot strikes { n: gex } } } }`,
  `symbol(symbol: "${symbol}") { bars(from: "${today}", to: "2026-11-21", timeframe: "1m") { rows { n: close m: volume } } }`,
  `symbol(symbol: "${symbol}") { spot { n: price } quote { n: officialClose } }`,
  `symbol(symbol: "${symbol}") { flow { crossSection(session: "${today}") { snapshot { n: seq } } } }`,
  `symbol(symbol: "${symbol}") { flow { largeTrades(session: "${today}") { events { update { event { n: totalSize } } } } } }`,
  `symbol(symbol: "${symbol}") { offExchange { activity(from: "${yesterday}", to: "${today}") { rows { n: offExchVolume m: tradeCount } } } }`,
  `contract(id: "${contractOf(symbol)}") { greeks { latest { n: mark m: bid } } }`,
  `contract(id: "${contractOf(symbol)}") { bars(session: "${today}") { rows { n: close m: volume } } }`,
  `contract(id: "${contractOf(symbol)}") { chainRow { n: volume m: openInterest } }`,
  `symbol(symbol: "${symbol}") { gex { history(date: "${today}") { captures { n: spot } } } }`,
  `quotes(symbols: ["${symbol}"]) { rows { n: spot } }`,
];

let documents = 0;

/** A document of this many fields over symbols by turns; no two are alike. Aliases begin with the symbol. */
export function counterDocument(symbols: readonly string[], fields: number): string {
  documents += 1;
  const all = symbols.flatMap((symbol) => fieldsOf(symbol).map((field) => ({ symbol, field })));
  const chosen = Array.from({ length: fields }, (_, i) => all[(i * 5 + documents) % all.length]!);
  return `{ ${chosen.map(({ symbol, field }, i) => `${symbol}_${i}: ${field}`).join('\n')} }`;
}

function collect(value: Json, into: Set<number>): void {
  if (Array.isArray(value)) for (const each of value) collect(each, into);
  else if (value !== null && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) {
      if ((key === 'n' || key === 'm') && typeof inner === 'number') into.add(inner);
      else collect(inner, into);
    }
  }
}

/** The counters that an answer to a document shows, by symbol. */
export function countersOf(data: Record<string, Json>): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  for (const [alias, value] of Object.entries(data)) {
    const symbol = alias.split('_')[0]!;
    const counters = found.get(symbol) ?? new Set();
    collect(value, counters);
    found.set(symbol, counters);
  }
  return found;
}

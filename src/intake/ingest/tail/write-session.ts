import { volumeBesideBars } from '../../../core/analytics/bars/option-bars-from-prints.ts';
import type { PriceTape } from '../../../core/analytics/session/index-tape.ts';
import { optionsOverAtMs, tradeSpan } from '../../../core/domain/calendar.ts';
import type { TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { Coverage } from '../../../core/domain/flow/flow.ts';
import { tapeTimeframes, timeframeMs } from '../../../core/domain/market/bar.ts';
import type { SymbolClass } from '../../../core/domain/market/symbol.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { saveGreeksMinutes } from '../../../store/chain/greeks.ts';
import { lockOptionBars, partStart, saveLiveOptionBars } from '../../../store/chain/option-bars.ts';
import { saveContractMinutes } from '../../../store/flow/contract-minutes.ts';
import { saveCrossSections } from '../../../store/flow/cross-sections.ts';
import { saveLargeTrades } from '../../../store/flow/events.ts';
import { reconciledUnderlyings, removeLargeTrades, symbolsWithTape } from '../../../store/flow/live.ts';
import { lockFlow, saveCoverages } from '../../../store/flow/sessions.ts';
import { type BarRun, holdBarBlocks, writeBars } from '../../../store/market/bar-blocks.ts';
import { forgetFiles } from '../../../store/market/ingested-files.ts';
import { type LiveQuote, saveLiveQuotes } from '../../../store/market/live-quotes.ts';
import { registryVersion } from '../../../store/market/registry-version.ts';
import { sealedSymbols } from '../../../store/market/session-seals.ts';
import { saveUnknownTickers } from '../../../store/market/symbols.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { solveWithWrittenMinutes } from '../chains/write-chain.ts';
import { slices } from '../files/bar-batch.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import type { LiveSession } from './live-session.ts';

/** Number of rows per write. */
const atOnce = 512;
/** Datasets whose files a live tape replaces. */
const overwritten = ['stock-minute-bars', 'stock-day-bars', 'stock-trades', 'option-minute-bars', 'option-trades'];

/** Writes the changed bars and prices of a tape of symbols of a class. */
async function writePrices(tx: Transaction, date: SessionDate, tape: PriceTape, symbolClass: SymbolClass) {
  const taken = tape.takeChanged();
  if (taken.length === 0) return;
  const symbols = taken.map(({ symbol }) => symbol);
  await holdBarBlocks(tx);
  const [sealed, whole] = [
    await sealedSymbols(tx, date, symbols),
    await symbolsWithTape(tx, date, symbols, optionsOverAtMs(date)),
  ];
  const changed = taken.filter(({ symbol }) => !sealed.has(symbol) && !whole.has(symbol));
  if (changed.length === 0) return;
  await saveUnknownTickers(
    tx,
    changed.map(({ symbol }) => symbol),
    () => symbolClass,
  );
  const { fromMs: startMs, toMs } = tradeSpan(date);
  for (const timeframe of tapeTimeframes) {
    const lengthMs = timeframeMs[timeframe === 'unpriced' ? '1s' : timeframe];
    const runs = changed.map(({ symbol, fromMs: first }): BarRun => {
      const fromMs = timeframe === '1d' ? startMs : first - (first % lengthMs);
      return { symbol, bars: tape.bars(symbol, timeframe, fromMs), whole: { fromMs, toMs } };
    });
    for (const slice of slices(runs, atOnce)) await writeBars(tx, timeframe, slice);
  }
  const quotes = changed.flatMap(({ symbol }): LiveQuote[] => {
    const latest = tape.latest(symbol);
    if (!latest) return [];
    const { price: spot, tsMs: eventTsMs, volume } = latest;
    return [{ symbol, sessionDate: date, spot, eventTsMs, volume, officialClose: null }];
  });
  await saveLiveQuotes(tx, quotes);
}

async function writeEvents(tx: Transaction, { date, events }: LiveSession, coverages: ReadonlyMap<string, Coverage>) {
  const changes = [...events].filter(([, { underlying }]) => coverages.has(underlying));
  await removeLargeTrades(
    tx,
    date,
    changes.map(([eventId, { underlying }]) => ({ eventId, underlying })),
  );
  const trades = changes.flatMap(([, { seq, underlying, event }]) =>
    event ? [{ symbol: underlying, seq, coverage: coverages.get(underlying)!, event }] : [],
  );
  if (trades.length > 0) await saveLargeTrades(tx, trades);
}

async function writeOptionBars(
  tx: Transaction,
  { date, options }: LiveSession,
  changed: readonly { contract: TradedContract; fromMs: number }[],
): Promise<void> {
  for (const slice of slices(changed, atOnce)) {
    const runs = slice.map(({ contract, fromMs }) => {
      const bars = options.bars.minutes(contract, partStart(fromMs));
      const rest = volumeBesideBars(options.minutes.volumes(contract, partStart(fromMs)), bars);
      return { underlying: contract.underlying.symbol, sessionDate: date, contract: contract.id, fromMs, bars, rest };
    });
    await saveLiveOptionBars(tx, runs);
  }
}

async function writeOptions(
  tx: Transaction,
  session: LiveSession,
  { mostBars, roots }: Pick<LiveWriting, 'mostBars' | 'roots'>,
): Promise<void> {
  const { date, options, events } = session;
  const underlyings = options.crossSections.changed();
  const changed = options.bars.takeChanged(mostBars);
  if (underlyings.length + events.size + changed.length === 0) return;
  await lockFlow(tx);
  await lockOptionBars(tx);
  await saveUnderlyings(tx, new Set(changed.map(({ contract }) => contract.contract.root)), roots);
  const met = options.observed.underlyings();
  const symbols = met.map(({ symbol }) => symbol);
  // Reconciled and sealed sessions are final.
  const reconciled = await reconciledUnderlyings(tx, date, symbols);
  const sealed = await sealedSymbols(tx, date, symbols);
  const version = await registryVersion(tx);
  const coverages = new Map<string, Coverage>();
  for (const underlying of met) {
    if (reconciled.has(underlying.symbol) || sealed.has(underlying.symbol)) continue;
    const { fromMs, throughMs } = options.observed.of(underlying)!;
    coverages.set(underlying.symbol, {
      status: 'observed_live',
      complete: false,
      sessionDate: date,
      observedFromMs: fromMs,
      observedThroughMs: throughMs,
      registryVersion: version,
      standardMultiplierAssumed: true,
    });
  }
  const observed = underlyings.filter(({ symbol }) => coverages.has(symbol));
  await saveCoverages(tx, new Map(observed.map(({ symbol }) => [symbol, coverages.get(symbol)!])));
  const sections = observed.map((underlying) =>
    options.crossSections.snapshot(underlying, coverages.get(underlying.symbol)!),
  );
  await saveCrossSections(
    tx,
    sections.filter((section) => section !== null),
  );
  // A late quote changes sides of an underlying without prints since.
  const changedMinutes = options.minutes.changed().filter(({ symbol }) => coverages.has(symbol));
  await saveContractMinutes(
    tx,
    changedMinutes.map((each) => ({ underlying: each.symbol, sessionDate: date, ...options.minutes.take(each) })),
  );
  await writeEvents(tx, session, coverages);
  await writeOptionBars(
    tx,
    session,
    changed.filter(({ contract }) => coverages.has(contract.underlying.symbol)),
  );
}

/** Writes finished minute solves, and solves dependent chains again that were stored before them. */
async function writeGreeks(tx: Transaction, { date, greeks, slots }: LiveSession, rate: number): Promise<void> {
  const solved = greeks.takeSolved();
  if (solved.length === 0) return;
  await lockFlow(tx);
  const underlyings = [...new Set(solved.map(({ underlying }) => underlying))];
  const reconciled = await reconciledUnderlyings(tx, date, underlyings);
  const sealed = await sealedSymbols(tx, date, underlyings);
  const minutes = solved.filter(({ underlying }) => !reconciled.has(underlying) && !sealed.has(underlying));
  await saveGreeksMinutes(tx, date, minutes, slots);
  await solveWithWrittenMinutes(tx, date, minutes, rate);
}

/** Settings of writing a session. */
interface LiveWriting {
  /** Rate of chains stored without one. */
  rate: number;
  /** Maximum number of option contracts whose bars are written. */
  mostBars: number;
  roots: OptionRoots;
}

/**
 * Writes the changes since the last write, in the caller's transaction. After a failure the session must not be used.
 */
export async function writeLiveSession(tx: Transaction, session: LiveSession, writing: LiveWriting): Promise<void> {
  if (!session.isBegun) await forgetFiles(tx, overwritten, [session.date]);
  session.isBegun = true;
  await writePrices(tx, session.date, session.stocks, 'equity');
  await writePrices(tx, session.date, session.indices, 'index');
  await writeOptions(tx, session, writing);
  await writeGreeks(tx, session, writing.rate);
  session.events.clear();
}

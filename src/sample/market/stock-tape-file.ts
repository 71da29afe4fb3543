import type { SessionDate } from '../../domain/market-time.ts';
import { priceUnits } from '../../domain/print.ts';
import { type CompositionCategory, compositionCategories } from '../../domain/stock-trade-conditions.ts';
import { minuteMs } from '../../domain/units.ts';
import { nanosText } from './option-tape-file.ts';
import type { SamplePrices } from './prices.ts';
import { listingOf } from './stock-conditions.ts';
import type { StockRecord } from './stock-corrections.ts';
import { stockSession } from './stock-tape.ts';
import type { StockTapeLedger, StockTapeTotals, StockTotal, TapeShape } from './tape-ledger.ts';
import { type SampleSymbol, sampleSymbols } from './universe.ts';

const header =
  'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp\n';
// Minutes of a full session.
const fullSession = 390;

function lines(symbol: string, tape: number, records: readonly StockRecord[]): string {
  let text = '';
  for (const { print } of records) {
    const { conditions, correction, exchange, id, price, sequence, tsMs, tsNanos, size, trf } = print;
    const list = conditions.length > 1 ? `"${conditions.join(',')}"` : (conditions[0] ?? '');
    // A facility receives a trade some time later, and reports it to the tape immediately.
    const executed = nanosText(tsMs - (trf === 0 ? 1 : 5 + (id % 900)), tsNanos);
    const facility = trf === 0 ? ',' : `${trf},${nanosText(tsMs - 1, tsNanos)}`;
    const printed = nanosText(tsMs, tsNanos);
    text += `${symbol},${list},${correction},${exchange},${id},${executed},`;
    text += `${price / priceUnits},${sequence},${printed},${size},${tape},${facility}\n`;
  }
  return text;
}

const nothing = (): StockTotal => ({ prints: 0, volume: 0, notionalUnits: 0 });

function totalsOf(records: readonly StockRecord[]): StockTapeTotals {
  const composition = Object.fromEntries(compositionCategories.map((category) => [category, nothing()]));
  const totals: StockTapeTotals = {
    consolidated: nothing(),
    offExchange: nothing(),
    composition: composition as Record<CompositionCategory, StockTotal>,
    extendedVolume: 0,
    officialClose: null,
  };
  const count = (total: StockTotal, { price, size }: StockRecord['print']) => {
    total.prints++;
    total.volume += size;
    total.notionalUnits += price * size;
  };
  for (const { print, execution, counts, extended } of records) {
    if (execution.conditions.includes(15)) totals.officialClose = print.price / priceUnits;
    if (!counts) continue;
    count(totals.consolidated, print);
    if (extended) totals.extendedVolume += print.size;
    if (execution.trf === 0) continue;
    count(totals.offExchange, print);
    count(totals.composition[execution.category], print);
  }
  return totals;
}

/** Tickers with a stock tape, and about how many prints a minute each has. */
export function tickersOfTape({ stockPrints, symbols, busiest }: TapeShape): { entry: SampleSymbol; prints: number }[] {
  const traded = sampleSymbols.filter(({ kind }) => kind !== 'index');
  const weightOf = ({ dailyVolume, price }: SampleSymbol) => (dailyVolume * price) ** 0.2;
  const wanted = traded.filter(({ symbol }) => symbols?.includes(symbol) ?? true);
  const total = wanted.reduce((sum, entry) => sum + weightOf(entry), 0);
  const extra = (symbol: string) => (symbol === busiest?.symbol ? busiest.prints : 0);
  return wanted.map((entry) => ({
    entry,
    prints: ((stockPrints * weightOf(entry)) / total + extra(entry.symbol)) / fullSession,
  }));
}

/** A session's stock tape as a vendor file, and what was put on it. */
export interface StockTapeFile {
  trades: string;
  ledger: StockTapeLedger;
}

/**
 * The stock trades of a session up to the last complete minute, by ticker, then time. All follows from the session's
 * date and the shape: an earlier instant gives a beginning of the same tape.
 */
export function stockTapeFile(
  prices: SamplePrices,
  session: SessionDate,
  nowMs: number,
  shape: TapeShape,
): StockTapeFile {
  const untilMs = Math.floor(nowMs / minuteMs) * minuteMs;
  const ledger: StockTapeLedger = { prints: 0, corrected: 0, withdrawn: 0, duplicates: 0, symbols: {} };
  let trades = header;
  for (const { entry, prints } of tickersOfTape(shape)) {
    const records = stockSession(prices, entry, session, prints).filter(({ print }) => print.tsMs < untilMs);
    trades += lines(entry.symbol, listingOf(entry).tape, records);
    const count = (is: (record: StockRecord) => boolean) => records.filter(is).length;
    ledger.prints += records.length;
    ledger.corrected += count(({ print }) => print.correction === 1);
    ledger.withdrawn += count(({ print }) => print.correction === 7 || print.correction === 8);
    ledger.duplicates += count(({ repeats }) => repeats);
    ledger.symbols[entry.symbol] = totalsOf(records);
  }
  return { trades, ledger };
}

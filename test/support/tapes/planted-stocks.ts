import { priceUnits } from '../../../src/core/domain/market/print.ts';
import {
  type CompositionCategory,
  compositionCategories,
} from '../../../src/core/domain/market/stock-trade-conditions.ts';
import type { StockRecord } from '../../../src/intake/sample/market/stock-corrections.ts';
import type { TickerRecords } from '../../../src/intake/sample/market/stock-tape-file.ts';

/** Executions of one kind. */
export interface StockTotal {
  prints: number;
  /** Shares. */
  volume: number;
  /** 1e-4 dollars × shares, exact. */
  notionalUnits: number;
}

/** Contents of a session's tape of a stock. */
export interface StockTapeTotals {
  /** All valid prints that count in volume, in and out of regular hours. */
  consolidated: StockTotal;
  offExchange: StockTotal;
  composition: Record<CompositionCategory, StockTotal>;
  /** Shares traded outside regular hours, of `consolidated`. */
  extendedVolume: number;
  /** Dollars; null while the session is in progress. */
  officialClose: number | null;
}

/** Contents of a session's stock tape. */
export interface StockTapeLedger {
  /** Lines of the file. */
  prints: number;
  /** Trades later corrected, trades withdrawn, lines that repeat another. */
  corrected: number;
  withdrawn: number;
  duplicates: number;
  symbols: Record<string, StockTapeTotals>;
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

/** The contents of the tapes of tickers. */
export function stockLedger(tapes: Iterable<TickerRecords>): StockTapeLedger {
  const ledger: StockTapeLedger = { prints: 0, corrected: 0, withdrawn: 0, duplicates: 0, symbols: {} };
  for (const { entry, records } of tapes) {
    const count = (is: (record: StockRecord) => boolean) => records.filter(is).length;
    ledger.prints += records.length;
    ledger.corrected += count(({ print }) => print.correction === 1);
    ledger.withdrawn += count(({ print }) => print.correction === 7 || print.correction === 8);
    ledger.duplicates += count(({ repeats }) => repeats);
    ledger.symbols[entry.symbol] = totalsOf(records);
  }
  return ledger;
}

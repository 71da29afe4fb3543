import { isTradingDay } from '../../domain/calendar.ts';
import type { InstantBounds } from '../../domain/instant-gate.ts';
import type { GivenBar } from '../../domain/market/bar.ts';
import { exchangeInstant } from '../../domain/market-time.ts';
import { minuteMs } from '../../domain/units.ts';
import { stockAggregates } from '../formats/aggregates.ts';
import { spellings } from '../formats/format.ts';
import { type BarColumnName, barReader, dayBarDate } from './bar-lines.ts';
import type { ColumnIndex, CsvFormat } from './csv.ts';
import type { UnservedTickers } from './unserved-tickers.ts';
import { shown } from './values.ts';
import { readVendorTicker } from './vendor-ticker.ts';

/** A bar of a stock in the vendor's aggregate flat files. */
export interface StockBar {
  symbol: string;
  bar: GivenBar;
}

const expected = spellings[stockAggregates.symbols.spelling];

/** Settings of reading stock bars. */
export interface StockBarOptions {
  bounds: InstantBounds;
  /** Counts the lines of unserved tickers. */
  unserved: UnservedTickers;
}

type StockBarFormat = CsvFormat<StockBar, BarColumnName>;

function stockBarFormat(
  { bounds, unserved }: StockBarOptions,
  problemOf: (bar: GivenBar) => string | null,
): StockBarFormat {
  const reader = (at: ColumnIndex<BarColumnName>) => {
    const read = barReader(stockAggregates, at, bounds);
    // Lines of one ticker are consecutive: its form is checked once per run.
    let text = '';
    let symbol: string | null = null;
    return (fields: readonly string[]) => {
      const ticker = fields[at.ticker]!;
      if (ticker !== text) [text, symbol] = [ticker, readVendorTicker(ticker)];
      if (symbol === null && unserved.counts(ticker)) return null;
      if (symbol === null) return `ticker: expected ${expected}, got ${shown(ticker)}`;
      const bar = read(fields);
      if (typeof bar === 'string') return bar;
      return problemOf(bar) ?? { symbol, bar };
    };
  };
  return { ...stockAggregates, reader };
}

/** Minute aggregates: `window_start` is the start of a minute. */
export const stockMinuteBars = (options: StockBarOptions): StockBarFormat =>
  stockBarFormat(options, (bar) =>
    bar.tsMs % minuteMs === 0
      ? null
      : `window_start: expected the start of a minute, got ${new Date(bar.tsMs).toISOString()}`,
  );

/** Day aggregates: the bar starts at 00:00 New York of `dayBarDate`. A date without trading has no bar. */
export const stockDayBars = (options: StockBarOptions): StockBarFormat =>
  stockBarFormat(options, (bar) => {
    const date = dayBarDate(bar.tsMs);
    bar.tsMs = exchangeInstant(date);
    return isTradingDay(date) ? null : `window_start: expected a day with trading, got ${date}`;
  });

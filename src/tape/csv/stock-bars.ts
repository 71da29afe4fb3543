import type { Bar } from '../../domain/bar.ts';
import { exchangeDate, exchangeInstant } from '../../domain/market-time.ts';

import { minuteMs } from '../../domain/units.ts';
import { type BarColumnName, barColumns, barReader, optionalBarColumns } from './bar-lines.ts';
import type { ColumnIndex, CsvFormat } from './csv.ts';
import { shown } from './values.ts';
import { readVendorTicker } from './vendor-ticker.ts';

/** A bar of a stock in the vendor's aggregate flat files. */
export interface StockBar {
  symbol: string;
  bar: Bar;
}

type StockBarFormat = CsvFormat<StockBar, (typeof barColumns)[number], (typeof optionalBarColumns)[number]>;

function stockBarFormat(problemOf: (bar: Bar) => string | null): StockBarFormat {
  const reader = (at: ColumnIndex<BarColumnName>) => {
    const read = barReader(at);
    // Lines of one ticker follow one another: its form is checked once a run.
    let text = '';
    let symbol: string | null = null;
    return (fields: readonly string[]) => {
      const ticker = fields[at.ticker]!;
      if (ticker !== text) [text, symbol] = [ticker, readVendorTicker(ticker)];
      if (symbol === null) return `ticker: expected a ticker such as SPY or BRK.B, got ${shown(ticker)}`;
      const bar = read(fields);
      if (typeof bar === 'string') return bar;
      return problemOf(bar) ?? { symbol, bar };
    };
  };
  return { required: barColumns, optional: optionalBarColumns, reader };
}

/** Minute aggregates: `window_start` is the start of a minute. */
export const stockMinuteBars = stockBarFormat((bar) =>
  bar.tsMs % minuteMs === 0
    ? null
    : `window_start: expected the start of a minute, got ${new Date(bar.tsMs).toISOString()}`,
);

/**
 * Day aggregates: the New York date of `window_start` is the session, and 00:00 there is the bar's start, regardless of
 * the time in the file.
 */
export const stockDayBars = stockBarFormat((bar) => {
  bar.tsMs = exchangeInstant(exchangeDate(bar.tsMs));
  return null;
});

import { isTradingDay } from '../../../core/domain/calendar.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { GivenBar } from '../../../core/domain/market/bar.ts';
import { exchangeInstant } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { spellings } from '../formats/format.ts';
import { indexAggregates, stockAggregates } from '../formats/own-formats.ts';
import { readIndexTicker, readVendorTicker } from '../text/vendor-ticker.ts';
import { type BarColumnName, barReader, dayBarDate } from './bar-lines.ts';
import type { ColumnIndex, CsvFormat } from './csv.ts';
import type { UnservedTickers } from './unserved-tickers.ts';
import { shown } from './values.ts';

/** A bar of a stock in the vendor's aggregate flat files. */
export interface StockBar {
  symbol: string;
  bar: GivenBar;
}

/** Settings of reading stock bars. */
export interface StockBarOptions {
  bounds: InstantBounds;
  /** Counts the lines of unserved tickers. */
  unserved: UnservedTickers;
  /** True if a ticker without the prefix of indexes is of one. */
  isIndex?(symbol: string): boolean;
  /** Called for a ticker of an index. */
  onIndex?(symbol: string): void;
  /** Called for a bar whose vendor divides prices before a split by it. */
  onDivided?(symbol: string, tsMs: number): void;
}

type StockBarFormat = CsvFormat<StockBar, BarColumnName>;

const formats = [stockAggregates, indexAggregates] as const;

function stockBarFormats(
  { bounds, unserved, isIndex: isKnownIndex = () => false, onIndex, onDivided }: StockBarOptions,
  problemOf: (bar: GivenBar) => string | null,
): StockBarFormat[] {
  const reader = (format: (typeof formats)[number]) => (at: ColumnIndex<BarColumnName>) => {
    const read = barReader(format, at, bounds);
    const expected = spellings[format.symbols.spelling];
    // Lines of one ticker are consecutive: its form is checked once per run.
    let text = '';
    let symbol: string | null = null;
    let isIndex = false;
    return (fields: readonly string[]) => {
      const ticker = fields[at.ticker]!;
      if (ticker !== text) {
        const index = readIndexTicker(ticker);
        [text, symbol] = [ticker, index ?? readVendorTicker(ticker)];
        isIndex = index !== null || (symbol !== null && isKnownIndex(symbol));
        if (isIndex) onIndex?.(symbol!);
      }
      if (symbol === null && unserved.counts(ticker)) return null;
      if (symbol === null) return `ticker: expected ${expected}, got ${shown(ticker)}`;
      const bar = read(fields, isIndex);
      if (typeof bar === 'string') return bar;
      const problem = problemOf(bar);
      if (problem !== null) return problem;
      if (at.divided >= 0 && fields[at.divided] === 'true') onDivided?.(symbol, bar.tsMs);
      return { symbol, bar };
    };
  };
  return formats.map((format) => ({ ...format, reader: reader(format) }));
}

/** Minute aggregates: `window_start` is the start of a minute. */
export const stockMinuteBars = (options: StockBarOptions): StockBarFormat[] =>
  stockBarFormats(options, (bar) =>
    bar.tsMs % minuteMs === 0
      ? null
      : `window_start: expected the start of a minute, got ${new Date(bar.tsMs).toISOString()}`,
  );

/** Day aggregates: the bar starts at 00:00 New York of `dayBarDate`. A date without trading has no bar. */
export const stockDayBars = (options: StockBarOptions): StockBarFormat[] =>
  stockBarFormats(options, (bar) => {
    const date = dayBarDate(bar.tsMs);
    bar.tsMs = exchangeInstant(date);
    return isTradingDay(date) ? null : `window_start: expected a day with trading, got ${date}`;
  });

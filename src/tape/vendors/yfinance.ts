import { exchangeInstant, isDate } from '../../domain/market-time.ts';
import type { Format } from '../formats/format.ts';
import { yfinanceDownload, yfinanceHistory } from '../formats/yfinance.ts';
import { nanosText } from '../text/written-times.ts';
import { type LineReader, type RowFormat, VendorError } from './row-format.ts';
import { statedTicker } from './stated-ticker.ts';

/** Prices are 32-bit floats written as 64-bit ones: 301.1, not 301.1000061035156. Another number is unchanged. */
function priceText(text: string): string {
  const value = Number(text);
  if (text === '' || Math.fround(value) !== value) return text;
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return text;
}

/** Midnight in New York of a row's date, which is a date or that midnight; the text for another one. */
function startText(text: string): string {
  const [, date = ''] = /^(\d{4}-\d{2}-\d{2})(?: 00:00:00-0[45]:00)?$/.exec(text) ?? [];
  return nanosText(isDate(date) ? exchangeInstant(date) : Number.NaN, text);
}

const prices = ['Open', 'Close', 'High', 'Low'];

/** Reads the lines of days. The dates ascend; a split after the first row would have divided the prices before it. */
function daysOf(ticker: () => string, at: (column: string) => number, dates: string): LineReader['row'] {
  const [date, volume, split, ...places] = [dates, 'Volume', 'Stock Splits', ...prices].map(at);
  let first = true;
  return (cells) => {
    const ratio = Number(cells[split!]);
    if (!first && ratio !== 0 && !Number.isNaN(ratio))
      throw new VendorError(
        `Stock Splits: expected 0 below the first row, because the prices above ${cells[date!]} are divided by its ` +
          `split and prices are stored as printed; begin the file with that day`,
      );
    first = false;
    const written = places.map((place) => priceText(cells[place]!));
    return [ticker(), cells[volume!], ...written, startText(cells[date!]!), true];
  };
}

// The file does not have splits after its last row.
const columns = ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start', 'divided'];
const dayRows = (format: Format, lines: NonNullable<RowFormat['lines']>): RowFormat => {
  return { format, as: ['stock-aggregates'], columns, lines };
};

/** Days of a stock. */
export const yfinanceRows: readonly RowFormat[] = [
  dayRows(yfinanceHistory, (name, at) => {
    const ticker = statedTicker(name);
    return { row: daysOf(() => ticker, at, 'Date') };
  }),
  dayRows(yfinanceDownload, (_, at) => {
    let ticker: string | null = null;
    const row = daysOf(() => ticker!, at, 'Price');
    return {
      row(cells) {
        const key = cells[at('Price')];
        if (key === 'Ticker') ticker = cells[at('Close')]!;
        if (key === 'Ticker' || key === 'Date') return null;
        if (ticker === null) throw new VendorError('Ticker: expected a second line with it');
        return row(cells);
      },
    };
  }),
];
